"""A cited paper that the work stands on, with the code that shows how it is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a cited paper's repository."""

    path: str
    text: str
    why: str
    """What it shows."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A lineage element: a summary, and code where there is some."""

    key: str
    """Key of the reference in the paper."""
    title: str
    why: str
    """Why this one: baseline of the main experiment, the method it extends, ..."""
    cited_in: tuple[str, ...]
    """Ids of the sentences that say so."""
    summary: str
    """What of it matters here; empty when its text could not be had."""
    repository: str
    """Where its code came from; empty when none was found."""
    licence: str
    """As its repository says; empty when it does not."""
    files: tuple[SourceFile, ...]
    notes: tuple[str, ...] = ()
    """What could not be had, and why, in words."""

    def text(self) -> str:
        """The exemplar as a model sees it."""
        parts = [f"## {self.title} [{self.key}]\nWhy: {self.why}", self.summary]
        parts += [f"### {file.path} ({file.why})\n{file.text}" for file in self.files]
        if not self.summary and not self.files:
            parts.append("Neither its text nor its code could be had: nothing more is known of it here.")
        return "\n\n".join(part for part in parts if part)
