"""What stands above a story's own sections, on the page and in the report."""

from __future__ import annotations

import shlex
from typing import Any

from reenact.journal import Run, Shelf
from reenact.report.run_words import cost_of, counted, reused_in, time_of
from reenact.report.sheet import Facts
from reenact.web.verdicts import headline, tone


def about(run: Run, shelf: Shelf) -> dict[str, Any]:
    """What stands above the story's own sections, on the page and in the report."""
    return {
        "run": run,
        "title": f"{run.story} {run.what}".strip(),
        "standing": shelf.standing(run),
        "verdict": headline(run) or _without_verdict(run, shelf),
        "tone": tone(run),
        "facts": facts(run, reused_in(run, shelf)),
        "command": shlex.join(["reenact", *run.command()]) if run.command() else "started from Python",
    }


def _without_verdict(run: Run, shelf: Shelf) -> str:
    if shelf.is_live(run):
        return f"At work: {counted(run.done + run.reused, 'step')} done."
    return "No verdict: it was interrupted. Resume continues where it stopped."


def facts(run: Run, reused: str = "") -> Facts:
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
