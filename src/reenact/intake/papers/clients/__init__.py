"""Servers that know papers, asked politely: arXiv for the paper itself, Semantic Scholar for what it cites.

polite       one question at a time, repeated when a server is busy, answers kept in a folder
arxiv        metadata, LaTeX source, HTML, PDF
scholar      ids and references of a paper
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from reenact.intake.papers.clients.arxiv import Arxiv
from reenact.intake.papers.clients.polite import Polite
from reenact.intake.papers.clients.scholar import Scholar


@dataclass(frozen=True)
class Clients:
    """Both servers, with one folder for their answers."""

    arxiv: Arxiv = field(default_factory=Arxiv)
    scholar: Scholar = field(default_factory=Scholar)

    @classmethod
    def cached(cls, folder: Path, *, offline: bool = False) -> Clients:
        """The public servers; what they said once is not asked again. Offline, only that is known."""
        arxiv, scholar = (Polite(folder / name, offline=offline) for name in ("arxiv", "scholar"))
        return cls(Arxiv(polite=arxiv), Scholar(polite=scholar))
