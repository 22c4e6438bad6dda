"""What the verbs about papers share: opening one, and the goal that the user names."""

from __future__ import annotations

from pathlib import Path

from reenact.cli.boxes import chosen_sandbox
from reenact.errors import InputError
from reenact.files import read_text
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox
from reenact.settings import Settings, cache_folder
from reenact.types import Stop

MOST_ADDENDUM = 4 << 20
"""Bytes: a book of notes."""


def paper_clients(settings: Settings, *, offline: bool = False) -> Clients:
    """The servers of papers, with the answers that were fetched before."""
    return Clients.cached(cache_folder(settings) / "papers", offline=offline)


def opened_paper(
    source: str,
    settings: Settings,
    *,
    box: Sandbox | None = None,
    offline: bool = False,
    stop: Stop | None = None,
) -> Paper:
    """The paper that the user names, parsed in the sandbox."""
    box = box or chosen_sandbox(settings, stop)
    clients = paper_clients(settings, offline=offline)
    return read_paper(source, box=box, clients=clients, pdf_reader=settings.pdf_reader)


def addendum_text(file: Path | None) -> str:
    """What adds to the paper; a file that is no text is refused in a sentence."""
    try:
        return read_text(file, MOST_ADDENDUM) if file is not None else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The addendum cannot be read as text: {error}. Received: {file}") from error
