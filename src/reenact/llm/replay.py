"""`replay:FILE`: the answers of a recorded run, matched by step and sample.

Where the words of a prompt have changed since, the answer says `wording="earlier"` and the listener is told;
in strict mode that is refused. A step that was never recorded is a ReplayMiss. When a step was recorded
several times (a run that was killed asks again), the last answer to the same words counts.
"""

from __future__ import annotations

import difflib
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reenact.errors import AnswerUnusable, InputError, ReplayMiss
from reenact.files import read_bytes
from reenact.llm.ask import Answer, Request, T, answer_from_json
from reenact.llm.record import FINAL, HEAD, LONGEST_RECORDING, error_from_json
from reenact.types import Progress, Tell, tell_nobody


class Replay:
    """Answers from a recording. Costs nothing; usage and cost are those of the recorded run."""

    def __init__(self, file: Path, *, strict: bool = False, tell: Tell = tell_nobody) -> None:
        self._file = file
        self._strict = strict
        self._tell = tell
        self._lock = threading.Lock()
        self._asked: set[tuple[str, int]] = set()
        self._records: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for record in read_recording(file):
            self._records.setdefault((record["step"], record["sample"]), []).append(record)

    @property
    def name(self) -> str:
        return "replay"

    @property
    def unused(self) -> list[str]:
        """Recorded steps that nobody has asked for."""
        with self._lock:
            return sorted(f"{step} (sample {sample})" for step, sample in self._records.keys() - self._asked)

    @property
    def differing(self) -> list[str]:
        """Steps that were recorded more than once for the same words, with different answers."""
        return sorted(step for (step, _), records in self._records.items() if _differ(records))

    def ask(self, request: Request[T]) -> Answer[T]:
        record = self._found(request)
        if "error" in record:
            raise error_from_json(record["error"])
        try:
            answer = answer_from_json(request.answer, record["answer"])
            if request.check is not None:
                request.check(answer.value)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            raise self._unfit(request.step, error) from None
        same = _answers_same_words(record, request)
        return replace(answer, source="recording", wording="same" if same else "earlier")

    def _found(self, request: Request[T]) -> Mapping[str, Any]:
        key = (request.step, request.sample)
        with self._lock:
            self._asked.add(key)
        records = self._records.get(key)
        if not records:
            raise self._miss(request.step, request.sample)
        same_words = [record for record in records if _answers_same_words(record, request)]
        if same_words:
            return same_words[-1]
        now = f"{request.prompt.name} v{request.prompt.version}"
        note = f"step {request.step} was recorded for an earlier wording of {now}"
        if self._strict:
            raise ReplayMiss(
                f"In {self._file.name}, {note}, and strict mode refuses that.",
                next_step="Record the run again.",
            )
        self._tell(Progress("replay", note=note))
        return records[-1]

    def _miss(self, step: str, sample: int) -> ReplayMiss:
        close = difflib.get_close_matches(step, [known for known, _ in self._records], n=1)
        hint = f" The nearest recorded step is {close[0]}." if close else ""
        return ReplayMiss(
            f"The recording {self._file.name} has no answer for step {step} (sample {sample}).{hint}",
            next_step="Record the run again, or ask a living model.",
        )

    def _unfit(self, step: str, error: Exception) -> AnswerUnusable:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        return AnswerUnusable(
            f"The recorded answer of step {step} no longer fits the asked-for type: {why}.",
            next_step="Record the run again.",
            for_model=why,
        )


def read_recording(file: Path) -> list[dict[str, Any]]:
    """All whole records. A last line torn by a kill is left out; damage anywhere else is an InputError."""
    try:
        data = read_bytes(file, LONGEST_RECORDING)
    except OSError as error:
        raise InputError(f"The recording {file} cannot be read: {error.strerror}.") from None
    if not data.startswith(HEAD) and not HEAD.startswith(data):
        raise InputError(
            f"The file {file} is not a recording: it does not start with {HEAD.decode().strip()}."
        )
    records = []
    for nth, line in enumerate(data.split(b"\n")[1:-1], 2):
        record = _parsed(line)
        if not _is_whole(record):
            raise InputError(
                f"Line {nth} of the recording {file} is damaged.", next_step="Record the run again."
            )
        records.append(record)
    return records


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_whole(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("sample"), int):
        return False
    error = record.get("error")
    ended = isinstance(record.get("answer"), dict) or (isinstance(error, dict) and error.get("kind") in FINAL)
    return ended and isinstance(record.get("step"), str) and isinstance(record.get("hash"), str)


def _answers_same_words(record: Mapping[str, Any], request: Request[Any]) -> bool:
    """False too when a replay of an earlier wording was itself recorded: that does not make it newer."""
    earlier = record.get("answer", {}).get("wording") == "earlier"
    return bool(record["hash"] == request.hash and not earlier)


def _differ(records: list[Mapping[str, Any]]) -> bool:
    answers: dict[str, set[str]] = {}
    for record in records:
        value = record.get("answer", record.get("error", {}))
        answers.setdefault(record["hash"], set()).add(json.dumps(value.get("value", value), sort_keys=True))
    return any(len(given) > 1 for given in answers.values())
