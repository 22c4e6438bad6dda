"""What a program prints and differentiates, to the bit."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.blind.cases import Case
from benchmarks.blind.rewrites.text import Project
from benchmarks.blind.warm.interpreter import STEADY, warm
from benchmarks.blind.warm.steady import OUTPUT, VARIABLE
from benchmarks.children import environment

LONGEST_S = 240.0
MOST_OUTPUT = 300
"""Characters of what went wrong that are kept."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One run of a program."""

    output: str
    losses: tuple[str, ...] = ()
    """Bits of each loss that was differentiated."""
    end: str = ""
    """How it ended: an exit code, or the kind of its exception."""
    error: str = ""
    """The end of what it reported on stderr; no part of what is compared."""

    def differs(self, other: Transcript) -> str:
        """In what another run is not the same; empty where it is the same in all."""
        if other.end != self.end:
            # The lines before name folders of a machine.
            last = other.error.rstrip().rpartition("\n")[2]
            return f"ends with {other.end}, not {self.end}: {last[-MOST_OUTPUT:]}"
        if other.losses != self.losses:
            return f"other losses ({len(other.losses)} of {len(self.losses)})"
        if other.output != self.output:
            return _first_difference(self.output, other.output)
        return ""


def _first_difference(old: str, new: str) -> str:
    for before, after in zip(old.splitlines(), new.splitlines(), strict=False):
        if before != after:
            return f"prints {after[:80]!r}, not {before[:80]!r}"
    return "prints more or fewer lines"


def run(case: Case, project: Project | None = None) -> Transcript:
    """Run it in a copy of its folder, as its user would but with one thread and fixed seeds."""
    with tempfile.TemporaryDirectory(prefix="reenact-blind-") as scratch:
        # A program may print where it is.
        folder = case.copy(Path(scratch), project)
        noted = Path(scratch) / "transcript.json"
        interpreter = warm(case.modules)
        try:
            ended = subprocess.run(  # noqa: S603 - our own file
                [str(interpreter.python), *case.words],
                cwd=folder,
                env=environment(**STEADY, **{VARIABLE: str(noted)}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Transcript("", end="no end within its time")
        interpreter.check()
        found = read_transcript(noted, scratch)
    if found is None:
        return Transcript("", end=f"exit code {ended.returncode}", error=ended.stderr)
    return replace(found, error=ended.stderr[-MOST_OUTPUT:])


def read_transcript(noted: Path, scratch: str) -> Transcript | None:
    """What a process left there; none where it did not come to its end."""
    if not noted.is_file():
        return None
    facts = json.loads(noted.read_text(encoding="utf-8"))
    printed = noted.with_name(noted.name + OUTPUT).read_text(encoding="utf-8", errors="replace")
    return Transcript(printed.replace(scratch, "SCRATCH"), tuple(facts["losses"]), facts["end"])
