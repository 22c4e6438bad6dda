"""What the person who started the server allows. Reading is always allowed, nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError

from reenact.errors import InputError, ReenactError


@dataclass(frozen=True, slots=True)
class Permits:
    """Flags given at the start of the server; no tool can change them."""

    run: bool = False
    """Start trainings, scripts and whole stories: the user's programs run as the user."""
    apply: bool = False
    """Write a verified change into the user's files."""

    def for_running(self, what: str) -> None:
        """Raise InputError when nothing may be run."""
        if not self.run:
            raise InputError(
                f"{what} runs code, and this server was started to read only.",
                next_step="Ask the user to start it with: reenact mcp --allow-run",
            )

    def for_applying(self) -> None:
        """Raise InputError when the user's files may not be changed."""
        if not self.apply:
            raise InputError(
                "Applying a change writes to the user's files, and this server was not started for that.",
                next_step="Show the user the diff of the result, or ask for --allow-run --allow-apply.",
            )


@contextmanager
def in_sentences() -> Iterator[None]:
    """What goes wrong in a tool reaches the agent as the sentence that a person would read."""
    try:
        yield
    except ReenactError as error:
        raise ToolError(f"{error.sentence} {error.next_step}".strip()) from error
