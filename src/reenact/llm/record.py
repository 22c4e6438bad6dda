"""Writes every answer down as it comes; the file is a `replay:` model.

JSON lines, each one write and one fsync, so that a killed run leaves every answer it was given. A line torn
by a kill is cut away when the file is opened again. Answers that ended in a final error are kept too: a
replay must fail where the run failed. Nothing secret is written: every line passes through redact.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reenact.errors import AnswerUnusable, InputError, ModelError, ModelRefused, PromptTooLong, StorageError
from reenact.files import open_regular, read_bytes
from reenact.llm.ask import Answer, Model, Request, T, Text, answer_to_json
from reenact.llm.budget import Limited, Spent
from reenact.redact import redact_json

HEAD = b'{"format": "reenact-recording/1"}\n'
"""The first line of every recording."""
LONGEST_RECORDING = 512 * 1024 * 1024
"""Bytes of the longest recording that is read or added to."""
FINAL: dict[str, type[ModelError]] = {
    kind.__name__: kind for kind in (AnswerUnusable, ModelRefused, PromptTooLong)
}
"""Errors that belong to the conversation itself, by the name they have in a recording."""


class Recorder:
    """A model that keeps what another one answers."""

    def __init__(self, model: Model, file: Path, *, with_prompts: bool = True) -> None:
        self._model = model
        self._with_prompts = with_prompts
        self._recording = RecordingFile(file)

    @property
    def name(self) -> str:
        return self._model.name

    def carry(self, earlier: Spent) -> None:
        """See `Budget.carry`."""
        if isinstance(self._model, Limited):
            self._model.carry(earlier)

    def ask(self, request: Request[T]) -> Answer[T]:
        try:
            answer = self._model.ask(request)
        except tuple(FINAL.values()) as error:
            self._recording.append({**self._asked(request), "error": error_to_json(error)})
            raise
        self._recording.append({**self._asked(request), "answer": answer_to_json(answer)})
        return answer

    def _asked(self, request: Request[T]) -> dict[str, Any]:
        prompt = request.prompt
        asked: dict[str, Any] = {
            "step": request.step,
            "sample": request.sample,
            "hash": request.hash,
            "prompt": f"{prompt.name} v{prompt.version}",
        }
        if self._with_prompts:
            parts = [
                part.text if isinstance(part, Text) else _picture(part.label, part.data)
                for part in prompt.parts
            ]
            asked |= {"system": prompt.system, "parts": parts}
        return asked


def error_to_json(error: ModelError) -> dict[str, str]:
    """A final error as a recording keeps it."""
    return {
        "kind": next(name for name, kind in FINAL.items() if isinstance(error, kind)),
        "sentence": error.sentence,
        "next_step": error.next_step,
        "for_model": error.for_model if isinstance(error, AnswerUnusable) else "",
    }


def error_from_json(data: Mapping[str, Any]) -> ModelError:
    """The error that `error_to_json` wrote."""
    sentence, next_step = str(data.get("sentence", "")), str(data.get("next_step", ""))
    if data["kind"] == AnswerUnusable.__name__:
        return AnswerUnusable(sentence, next_step=next_step, for_model=str(data.get("for_model", "")))
    return FINAL[data["kind"]](sentence, next_step=next_step)


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
                _cut_torn_line(file.fileno(), path)
        except OSError as error:
            raise self._unwritable(error) from None

    def append(self, record: dict[str, Any]) -> None:
        """One more line, on disk when this returns."""
        line = json.dumps(redact_json(record)) + "\n"
        try:
            with self._lock, self._path.open("ab", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = os.fstat(file.fileno()).st_size
                _write_all(file.fileno(), (b"" if before else HEAD) + line.encode(), before)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> StorageError:
        return StorageError(
            f"The recording cannot be written: {error.strerror}. Received: {self._path}.",
            next_step="Free space or record to another file.",
        )


def _write_all(handle: int, data: bytes, before: int) -> None:
    try:
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
    except OSError:
        # Half a line must not stay: the next one would be glued to it.
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
        raise


def _cut_torn_line(handle: int, path: Path) -> None:
    data = read_bytes(path, LONGEST_RECORDING)
    if not data.startswith(HEAD) and not HEAD.startswith(data):
        raise InputError(
            f"The file {path} is not a recording, so nothing is added to it.",
            next_step="Record to another file.",
        )
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.ftruncate(handle, whole)
        os.fsync(handle)


def _picture(label: str, data: bytes) -> str:
    return f"[figure {label} sha256 {hashlib.sha256(data).hexdigest()[:16]}]"
