"""A run as a row of a list: of the page, and of `reenact runs list`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from reenact.journal import Run, Status
from reenact.report.line_plot import sparkline
from reenact.report.run_words import cost_of, headline
from reenact.types import JsonValue

SPARKS = 14
"""Characters of a curve in a row."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list."""

    run: Run
    status: str
    folder: str = ""
    """Where it ran, where that is not the folder of the page."""

    @property
    def program(self) -> str:
        """With its arguments, as it was typed; empty where its name says as much."""
        words = program_of(self.run)
        return shlex.join(words) if words and shlex.join(words) != self.run.what else ""

    @property
    def metric(self) -> str:
        """What the training came to, or the change made of it; empty where the verdict says as much."""
        metric = str(self._short.get("metric") or "")
        return metric if metric not in headline(self.run) else ""

    @property
    def curve(self) -> str:
        """The loss as a line of bars."""
        values = self._short.get("curve")
        known = [one for one in values if isinstance(one, float | int)] if isinstance(values, list) else []
        return sparkline(known, SPARKS) if known else ""

    @property
    def cost(self) -> str:
        """Of the models that were asked; empty where none was."""
        return cost_of(self.run).removeprefix("-")

    @property
    def seconds(self) -> float:
        """Worked so far; of one at work since it was started."""
        if self.status != Status.RUNNING:
            return self.run.worked_s
        return max(self.run.worked_s, time.time() - datetime.fromisoformat(self.run.started_at).timestamp())

    @property
    def _short(self) -> Mapping[str, JsonValue]:
        verdict = self.run.verdict_data() if self.run.verdict is not None else None
        return verdict if isinstance(verdict, dict) else {}


def program_of(run: Run) -> list[str]:
    """The program and its arguments; empty for runs without one."""
    request = run.request_data()
    words = request.get("words") if isinstance(request, dict) else None
    return [str(word) for word in words] if isinstance(words, list) else []
