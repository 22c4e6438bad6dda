"""Recorder writes every answer to a file as it comes; Replay (`replay:FILE`) answers from such a
file.

JSON lines, each one write and one fsync, so that a killed run leaves every answer it was given. A
line torn by a kill is cut away when the file is opened again. Answers that ended in a final error
are kept too: a replay must fail where the run failed. Nothing secret is written: every line passes
through redact.py.

A replay matches answers by step and sample. Where the text of a prompt has changed since, the
answer says `wording="earlier"` and progress reports it. A step that was never recorded is a
ReplayMiss. When a step was recorded several times (a killed run asks again), the last answer to the
same text counts.
"""

import contextlib
import difflib
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reenact import errors
from reenact.files import open_regular, read_bytes
from reenact.llm.answers import json_in
from reenact.llm.ask import (
    Answer,
    Model,
    Part,
    Request,
    T,
    Text,
    Usage,
    answer_from_json,
    answer_to_json,
)
from reenact.llm.budget import Limited, Priced, Spent
from reenact.redact import redact_json
from reenact.types import Progress, Tell, tell_nobody

HEAD = b'{"format": "reenact-recording/1"}\n'
"""The first line of every recording."""
LONGEST_RECORDING = 512 * 1024 * 1024
"""Bytes of the longest recording that is read or added to."""
FINAL: dict[str, type[errors.ModelError]] = {
    kind.__name__: kind
    for kind in (errors.AnswerUnusable, errors.ModelRefused, errors.PromptTooLong)
}
"""Errors that belong to the conversation itself, by the name they have in a recording."""


class Recorder:
    """A model that keeps what another one answers."""

    def __init__(
        self,
        model: Model,
        file: Path,
        *,
        prompts: bool = True,
    ) -> None:
        """`prompts`: keep the words of the questions too, not their hash alone."""
        self._model = model
        self._recording = RecordingFile(file)
        self._prompts = prompts
        self._kept = {_same(one) for one in read_recording(file)} if file.stat().st_size else set()

    @property
    def name(self) -> str:
        return self._model.name

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""
        if isinstance(self._model, Limited):
            self._model.carry(earlier)

    def price(self, usage: Usage) -> Decimal | None:
        """See `Priced`."""
        if isinstance(self._model, Priced):
            return self._model.price(usage)
        return None

    def ask(self, request: Request[T]) -> Answer[T]:
        try:
            answer = self._model.ask(request)
        except tuple(FINAL.values()) as error:
            kind = next(name for name, kind in FINAL.items() if isinstance(error, kind))
            kept = {
                "kind": kind,
                "sentence": error.sentence,
                "next_step": error.next_step,
            }
            self._keep(
                request,
                error={
                    **kept,
                    "for_model": getattr(error, "for_model", ""),
                },
            )
            raise
        self._keep(request, answer=answer_to_json(answer))
        return answer

    def _keep(self, request: Request[T], **outcome: object) -> None:
        """Once: who asks the same again and gets the same answer adds nothing."""
        prompt = request.prompt
        record = {
            "step": request.step,
            "sample": request.sample,
            "hash": request.hash,
            "prompt": f"{prompt.name} v{prompt.version}",
            "day": date.today().isoformat(),
        }
        if self._prompts:
            record |= {
                "system": prompt.system,
                "parts": [_kept(part) for part in prompt.parts],
            }
        record |= outcome
        if (mark := _same(record)) not in self._kept:
            self._kept.add(mark)
            self._recording.append(record)


def _kept(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return f"[figure {part.label} sha256 {hashlib.sha256(part.data).hexdigest()[:16]}]"


def _same(record: Mapping[str, Any]) -> str:
    """Question and answer, without who gave it and when."""
    given = record.get("answer", {}).get(
        "value",
        record.get("error"),
    )
    return json.dumps(
        [record["step"], record["sample"], record["hash"], given],
        sort_keys=True,
        default=str,
    )


class RecordingFile:
    """The file of a recording, open for appending. Safe for several threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                open_regular(path, LONGEST_RECORDING).close()
            with path.open("ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                data = read_bytes(path, LONGEST_RECORDING)
                if not data.startswith(HEAD) and not HEAD.startswith(data):
                    says = f"The file {path} is not a recording, so nothing is added to it."
                    raise errors.InputError(says, next_step="Record to another file.")
                if (whole := data.rfind(b"\n") + 1) < len(data):
                    file.truncate(whole)
                    os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from None

    def append(self, record: dict[str, Any]) -> None:
        """One more line, on disk when this returns."""
        line = json.dumps(redact_json(record)) + "\n"
        try:
            with self._lock, self._path.open("ab", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = os.fstat(file.fileno()).st_size
                data = (b"" if before else HEAD) + line.encode()
                try:
                    while data:
                        data = data[file.write(data) :]
                    os.fsync(file.fileno())
                except OSError:
                    # Half a line must not stay: the next one would be glued to it.
                    with contextlib.suppress(OSError):
                        file.truncate(before)
                    raise
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> errors.StorageError:
        says = f"The recording cannot be written: {error.strerror}. Received: {self._path}."
        return errors.StorageError(says, next_step="Free space or record to another file.")


class Replay:
    """Answers from a recording. Costs nothing; usage and cost are those of the recorded run."""

    def __init__(self, file: Path, *, tell: Tell = tell_nobody) -> None:
        self._file = file
        self._tell = tell
        self.earlier = 0
        """Answers that were given to an earlier wording of what was asked."""
        self._records: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for record in read_recording(file):
            self._records.setdefault((record["step"], record["sample"]), []).append(record)

    @property
    def name(self) -> str:
        return "replay"

    def ask(self, request: Request[T]) -> Answer[T]:
        record = self._found(request)
        if "error" in record:
            kept = record["error"]
            kind = FINAL[kept["kind"]]
            more = {"next_step": str(kept.get("next_step", ""))}
            if kind is errors.AnswerUnusable:
                more["for_model"] = str(kept.get("for_model", ""))
            raise kind(
                str(kept.get("sentence", "")),
                **more,
            )
        try:
            answer = answer_from_json(request.answer, record["answer"])
            if request.check is not None:
                request.check(answer.value)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise errors.AnswerUnusable(
                (
                    f"The recorded answer of step {request.step} no longer fits the asked-for "
                    f"type: {why}."
                ),
                next_step="Record the run again.",
                for_model=why,
            ) from None
        same = _answers_same_words(record, request)
        return replace(answer, source="recording", wording="same" if same else "earlier")

    def _found(self, request: Request[T]) -> Mapping[str, Any]:
        step = request.step
        sample = request.sample
        records = self._records.get((step, sample))
        if not records:
            close = difflib.get_close_matches(
                step,
                [known for known, _ in self._records],
                n=1,
            )
            hint = f" The nearest recorded step is {close[0]}." if close else ""
            says = (
                f"The recording {self._file.name} has no answer for step {step} (sample "
                f"{sample}).{hint}"
            )
            raise errors.ReplayMiss(says, next_step="Record the run again, or ask a model.")
        same_words = [record for record in records if _answers_same_words(record, request)]
        if same_words:
            return same_words[-1]
        self.earlier += 1
        now = f"{request.prompt.name} v{request.prompt.version}"
        self._tell(
            Progress(
                "replay",
                note=f"step {step} was recorded for an earlier wording of {now}",
            )
        )
        return records[-1]


def read_recording(file: Path) -> list[dict[str, Any]]:
    """All whole records. A last line torn by a kill is left out; damage anywhere else is an
    InputError.
    """
    try:
        data = read_bytes(file, LONGEST_RECORDING)
    except OSError as error:
        raise errors.InputError(f"The recording {file} cannot be read: {error.strerror}.") from None
    if not data.startswith(HEAD) and not HEAD.startswith(data):
        raise errors.InputError(
            f"The file {file} is not a recording: it does not start with {HEAD.decode().strip()}."
        )
    records = []
    for nth, line in enumerate(
        data.split(b"\n")[1:-1],
        2,
    ):
        record = json_in(line)
        if not _is_whole(record):
            fix = "Record the run again."
            raise errors.InputError(
                f"Line {nth} of the recording {file} is damaged.", next_step=fix
            )
        records.append(record)
    return records


def _is_whole(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("sample"), int):
        return False
    error = record.get("error")
    ended = isinstance(record.get("answer"), dict) or (
        isinstance(error, dict) and error.get("kind") in FINAL
    )
    return ended and isinstance(record.get("step"), str) and isinstance(record.get("hash"), str)


def _answers_same_words(
    record: Mapping[str, Any],
    request: Request[Any],
) -> bool:
    """False too when a replay of an earlier wording was itself recorded: that does not make it
    newer.
    """
    earlier = record.get("answer", {}).get("wording") == "earlier"
    return bool(record["hash"] == request.hash and not earlier)
