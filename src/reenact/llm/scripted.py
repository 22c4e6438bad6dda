"""A model whose answers are written in code: the deterministic twin for tests and demonstrations.

    Scripted([Plan(...), "not JSON at all", {"steps": []}])          in this order
    Scripted({"bug/plan": Plan(...), "bug/script": ["bad", {...}]})  by step
    Scripted(lambda call: {...})                                     computed

An answer is a pydantic object, a dict, raw text (as bad as you like), a Reply, or an exception to raise.
They take the same road as those of a real model: budget, patience, parsing, repair.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel

from reenact.errors import ReplayMiss
from reenact.llm.ask import Call, Reply
from reenact.llm.budget import Budget
from reenact.llm.live import LiveModel
from reenact.llm.patience import Clock, ManualClock, Patience
from reenact.types import Tell, tell_nobody

Line: TypeAlias = BaseModel | Mapping[str, Any] | str | Reply | Exception
Script: TypeAlias = Sequence[Line] | Mapping[str, Line | Sequence[Line]] | Callable[[Call], Line]


class Scripted(LiveModel):
    """Answers from a script. Its clock is manual unless one is given: waits take no time."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        budget: Budget | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        tell: Tell = tell_nobody,
    ) -> None:
        wire, clock = ScriptWire(script, name), clock or ManualClock()
        self.calls = wire.calls
        """Every call that was sent, in order."""
        super().__init__(wire, budget=budget, patience=patience, clock=clock, tell=tell)


class ScriptWire:
    """The wire behind `Scripted`."""

    billed = False

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._compute = script if callable(script) else None
        by_step = script if isinstance(script, Mapping) else {"": script}
        self._lines = {} if callable(script) else {step: _as_list(lines) for step, lines in by_step.items()}

    def send(self, call: Call, within_s: float) -> Reply:  # noqa: ARG002  a script never waits
        with self._lock:
            self.calls.append(call)
            line = self._compute(call) if self._compute else self._next(call)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        if isinstance(line, BaseModel):
            return Reply(line.model_dump_json(), self.name)
        return Reply(line if isinstance(line, str) else json.dumps(line), self.name)

    def _next(self, call: Call) -> Line:
        lines = self._lines.get("" if "" in self._lines else call.step)
        if not lines:
            raise ReplayMiss(
                f"The script has no answer left for step {call.step} ({call.prompt}).",
                next_step="Add the answer to the script that the test gives.",
            )
        return lines.pop(0)


def _as_list(lines: Any) -> list[Line]:
    one = isinstance(lines, BaseModel | Mapping | str | Reply | Exception)
    return [lines] if one else list(lines)
