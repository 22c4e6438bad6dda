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
from reenact.llm.live import LiveModel
from reenact.llm.patience import ManualClock

Line: TypeAlias = BaseModel | Mapping[str, Any] | str | Reply | Exception
Script: TypeAlias = Sequence[Line] | Mapping[str, Line | Sequence[Line]] | Callable[[Call], Line]


class Scripted(LiveModel):
    """Answers from a script. Its clock is manual unless one is given: waits take no time."""

    def __init__(self, script: Script, **options: Any) -> None:
        """`options` are those of a LiveModel."""
        wire = ScriptWire(script)
        self.calls = wire.calls
        """Every call that was sent, in order."""
        super().__init__(
            wire,
            **{
                "clock": ManualClock(),
                **options,
            },
        )


class ScriptWire:
    """The wire behind `Scripted`."""

    name, billed = "scripted", False

    def __init__(self, script: Script) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._compute = script if callable(script) else None
        by_step: Any = script if isinstance(script, Mapping) else {"": script}
        self._lines: dict[str, list[Line]] = {}
        for step, lines in () if callable(script) else by_step.items():
            single = isinstance(lines, BaseModel | Mapping | str | Reply | Exception)
            self._lines[step] = [lines] if single else list(lines)

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
        return Reply(
            line if isinstance(line, str) else json.dumps(line),
            self.name,
        )

    def _next(self, call: Call) -> Line:
        lines = self._lines.get("" if "" in self._lines else call.step)
        if not lines:
            why = f"The script has no answer left for step {call.step} ({call.prompt})."
            raise ReplayMiss(why, next_step="Add the answer to the script that the test gives.")
        return lines.pop(0)
