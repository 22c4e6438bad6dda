"""The one line to read of a run, and its tone."""

from __future__ import annotations

from reenact.journal import Run, Status
from reenact.report.run_words import verdict_of
from reenact.types import ExitCode

SAID = ("sentence", "verdict", "reason")
TONES = {
    ExitCode.OK: "good",
    ExitCode.FOUND: "warning",
    ExitCode.INCONCLUSIVE: "note",
    ExitCode.ERROR: "error",
    ExitCode.STOPPED: "warning",
}


def headline(run: Run) -> str:
    """The verdict as the story worded it, or the error; empty while there is none."""
    verdict = run.verdict_data() if run.verdict is not None else None
    if run.error_type or not isinstance(verdict, dict):
        return verdict_of(run)
    said = [str(verdict[name]) for name in SAID if isinstance(verdict.get(name), str)]
    if "sentence" in verdict:
        return said[0]
    return ": ".join(said) or ", ".join(f"{name} {value}" for name, value in verdict.items())


def tone(run: Run) -> str:
    """How it ended, as a colour knows it."""
    if run.status is Status.FAILED:
        return "error"
    if run.status is not Status.FINISHED or run.exit_code is None:
        return "note"
    return {int(code): word for code, word in TONES.items()}.get(run.exit_code, "note")
