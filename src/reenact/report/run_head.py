"""What stands above the result of a run: the one line to read, how it stands, what it took."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from reenact.journal import JournalReader, Run, Status
from reenact.report.as_html import TONES
from reenact.report.document import Facts
from reenact.report.run_words import cost_of, counted, reused_in, time_of, verdict_of

SAID = ("sentence", "verdict", "reason")


@dataclass(frozen=True, slots=True)
class Head:
    """What is said of any run."""

    run: Run
    title: str
    standing: str
    verdict: str
    tone: str
    facts: Facts
    command: str


def head_of(run: Run, shelf: JournalReader) -> Head:
    """The same on the live page and in the report."""
    return Head(
        run=run,
        title=f"{run.pipeline} {run.what}".strip(),
        standing=shelf.status_of(run),
        verdict=headline(run) or _without_verdict(run, shelf),
        tone=_tone(run),
        facts=_facts(run, reused_in(run, shelf)),
        command=shlex.join(["reenact", *run.command()]) if run.command() else "started from Python",
    )


def headline(run: Run) -> str:
    """The verdict as the pipeline worded it, or the error; empty while there is none."""
    verdict = run.verdict_data() if run.verdict is not None else None
    if run.error_type or not isinstance(verdict, dict):
        return verdict_of(run)
    said = [str(verdict[name]) for name in SAID if isinstance(verdict.get(name), str)]
    if "sentence" in verdict:
        return said[0]
    return ": ".join(said) or ", ".join(f"{name} {value}" for name, value in verdict.items())


def _without_verdict(run: Run, shelf: JournalReader) -> str:
    if shelf.is_live(run):
        return f"At work: {counted(run.done + run.reused, 'step')} done."
    return "No verdict: it was interrupted. Resume continues where it stopped."


def _tone(run: Run) -> str:
    """How it ended, as a colour knows it."""
    if run.status is Status.FAILED:
        return "error"
    if run.status is not Status.FINISHED or run.exit_code is None:
        return "note"
    return {int(code): word for code, word in TONES.items()}.get(run.exit_code, "note")


def _facts(run: Run, reused: str) -> Facts:
    """The run in a few lines; first of all what was not made by it."""
    told = {"reused": reused} if reused else {}
    told |= {
        "run": f"{run.id}{' (imported)' if run.imported else ''}",
        "folder": run.folder or "-",
        "started": f"{run.started_at[:19].replace('T', ' ')}, {counted(run.executions, 'execution')}",
        "time": time_of(run.worked_s),
        "cost": cost_of(run.money, run.tokens_in + run.tokens_out, run.unpriced),
        "tokens": f"{run.tokens_in:,} in, {run.tokens_out:,} out",
        "version": f"reenact {run.version}, Python {run.python}",
    }
    return Facts("", tuple(told.items()))
