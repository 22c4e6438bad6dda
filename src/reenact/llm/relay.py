"""`relay:FOLDER`: a person or another program answers, through files in a folder (format: docs/relay.md).

    ID.request.json    what is asked
    ID.N.png           its figures
    ID.answer.json     the answer, or
    ID.answer.txt      the answer as plain text

A file appears whole or not at all: it is written under a hidden name and renamed. What others put there is
read without following links and up to a size.
"""

import contextlib
import hashlib
import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from reenact.errors import InputError, ModelUnreachable, StorageError
from reenact.files import read_bytes
from reenact.llm.answers import (
    LONGEST_ANSWER,
    NO_OBJECT,
    BadAnswer,
    json_in,
    misfits,
    values,
)
from reenact.llm.ask import Call, Part, Reply, Text, Turn, Usage
from reenact.llm.patience import Clock, Patience
from reenact.redact import redact_json
from reenact.types import Progress, Tell, tell_nobody

RELAY = "relay"
REQUEST_FORMAT = "reenact-relay-request/1"
ANSWER_FORMAT = "reenact-relay-answer/1"
FIELDS = {
    "turns": list,
    "schema": dict,
} | dict.fromkeys(("step", "prompt", "system", "schema_name"), str)
"""What a request must have, by kind."""
COUNTS = ("input_tokens", "output_tokens")
LONGEST_FILE = 4 * LONGEST_ANSWER
SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that no one has answered yet."""

    id: str
    request: Mapping[str, Any]

    @property
    def step(self) -> str:
        return str(self.request.get("step", ""))


def request_id(call: Call) -> str:
    """The same call always has the same id, so that a run which starts again finds its answers."""
    step = re.sub(r"[^A-Za-z0-9]+", "-", call.step).strip("-")[-48:]
    text = json.dumps(
        [
            call.step,
            call.sample,
            call.system,
            _turns(call.turns, ""),
            dict(call.schema),
        ],
        sort_keys=True,
    )
    pictures = b"".join(
        part.data for turn in call.turns for part in turn.parts if not isinstance(part, Text)
    )
    return (
        f"{step or 'ask'}-{call.sample}-{hashlib.sha256(text.encode() + pictures).hexdigest()[:12]}"
    )


def put_request(folder: Path, call: Call) -> str:
    """Write a request and its figures; what is already there stays. Returns the id."""
    name = request_id(call)
    if (folder / f"{name}.request.json").exists():
        return name
    images = [part for turn in call.turns for part in turn.parts if not isinstance(part, Text)]
    for nth, image in enumerate(images, 1):
        _write_whole(
            folder / f"{name}.{nth}{SUFFIXES.get(image.media_type, '.image')}",
            image.data,
        )
    request = {
        "format": REQUEST_FORMAT,
        "id": name,
        "step": call.step,
        "sample": call.sample,
        "prompt": call.prompt,
        "system": call.system,
        "turns": _turns(call.turns, name),
        "schema_name": call.schema_name,
        "schema": dict(call.schema),
        "temperature": call.temperature,
        "max_tokens": call.max_tokens,
    }
    _write_whole(
        folder / f"{name}.request.json",
        (json.dumps(request, indent=1) + "\n").encode(),
    )
    return name


def take_answer(folder: Path, name: str) -> Reply | None:
    """The answer to a request, if it is there; `relay:NAME` gave it where they stated who they
    are.
    """
    if (data := _read_plain(folder / f"{name}.answer.txt")) is not None:
        return Reply(data.decode("utf-8", "replace"), RELAY)
    data = _read_plain(folder / f"{name}.answer.json")
    if data is None:
        return None
    filed = json_in(data)
    if not isinstance(filed, dict) or filed.get("format") != ANSWER_FORMAT:
        # A bare JSON answer is as good as a wrapped one.
        return Reply(data.decode("utf-8", "replace"), RELAY)
    text = filed["text"] if isinstance(filed.get("text"), str) else json.dumps(filed.get("answer"))
    by = str(filed.get("by") or "")[:100]
    counted = filed.get("usage")
    tokens = [counted.get(name) for name in COUNTS] if isinstance(counted, dict) else [None]
    known = all(isinstance(one, int) and one >= 0 for one in tokens)
    return Reply(
        text,
        f"{RELAY}:{by}" if by else RELAY,
        usage=Usage(*tokens) if known else None,
    )


def waiting(folder: Path) -> list[Waiting]:
    """Requests without an answer, oldest first."""
    return [
        show_request(folder, name) for name in _listed(folder) if take_answer(folder, name) is None
    ]


def show_request(folder: Path, name: str) -> Waiting:
    """One request, by its id or the beginning of it. InputError when there is no such one."""
    ids = _listed(folder)
    matches = [name] if name in ids else [known for known in ids if known.startswith(name)]
    if len(matches) != 1:
        problem = "Several requests begin" if matches else "No request begins"
        fix = f"`reenact relay {folder}` lists what waits."
        raise InputError(
            f"{problem} with {name!r} in {folder}.",
            next_step=fix,
        )
    request = json_in(_read_plain(folder / f"{matches[0]}.request.json") or b"")
    formed = isinstance(request, dict) and request.get("format") == REQUEST_FORMAT
    if not formed or not all(isinstance(request.get(name), kind) for name, kind in FIELDS.items()):
        raise InputError(
            f"The file {matches[0]}.request.json in {folder} is not a request of a relay."
        )
    return Waiting(matches[0], request)


def file_answer(
    folder: Path,
    name: str,
    answer: Any,
    *,
    by: str = "",
    replace: bool = False,
) -> Path:
    """Put an answer next to its request. InputError when it does not fit the asked schema."""
    asked = show_request(folder, name)
    if take_answer(folder, asked.id) is not None and not replace:
        fix = "Say --replace to change it."
        raise InputError(f"The request {asked.id} has an answer already.", next_step=fix)
    if wrong := misfits(
        answer,
        asked.request.get("schema", {}),
    ):
        raise InputError("The answer does not fit the asked schema:\n  " + "\n  ".join(wrong[:12]))
    target = folder / f"{asked.id}.answer.json"
    signed = {"by": by} if by else {}
    filed = {
        "format": ANSWER_FORMAT,
        "id": asked.id,
        "answer": answer,
        **signed,
    }
    _write_whole(
        target,
        (json.dumps(redact_json(filed), indent=1) + "\n").encode(),
    )
    (folder / f"{asked.id}.answer.txt").unlink(missing_ok=True)
    return target


def file_text(
    folder: Path,
    name: str,
    text: str,
    *,
    by: str = "",
    replace: bool = False,
) -> Path:
    """File the JSON answer in a text, which may stand in a code fence or between chatter."""
    schema = show_request(folder, name).request.get("schema", {})
    found = values(text)
    usable = [value for value in found if not isinstance(value, BadAnswer)]
    if not usable:
        fix = "Give one JSON object as the answer."
        raise InputError(
            str(found[0]) if found else NO_OBJECT,
            next_step=fix,
        )
    fitting = [value for value in usable if not misfits(value, schema)]
    return file_answer(
        folder,
        name,
        (fitting or usable)[-1],
        by=by,
        replace=replace,
    )


def _turns(
    turns: tuple[Turn, ...],
    name: str,
) -> list[dict[str, Any]]:
    number = count(1)

    def shown(part: Part) -> dict[str, str]:
        if isinstance(part, Text):
            return {"text": part.text}
        file = f"{name}.{next(number)}{SUFFIXES.get(part.media_type, '.image')}"
        return {
            "image": file,
            "media_type": part.media_type,
            "label": part.label,
        }

    return [
        {
            "role": turn.role,
            "parts": [shown(part) for part in turn.parts],
        }
        for turn in turns
    ]


def _listed(folder: Path) -> list[str]:
    """The ids of all requests, oldest first."""
    try:
        found = [path for path in folder.iterdir() if path.name.endswith(".request.json")]
        ages = sorted((path.stat().st_mtime_ns, path.name) for path in found if path.name[0] != ".")
    except OSError as error:
        raise InputError(f"The relay folder {folder} cannot be read: {error.strerror}.") from None
    return [name.removesuffix(".request.json") for _, name in ages]


def _read_plain(path: Path) -> bytes | None:
    """The bytes of a regular file; none when it is missing. Links, devices and huge files are
    refused.
    """
    try:
        if path.is_symlink():
            raise InputError(f"The file {path} is a link, expected a plain file.")
        return read_bytes(path, LONGEST_FILE)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from None


def _write_whole(path: Path, data: bytes) -> None:
    hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with hidden.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            hidden.unlink()
        fix = "Free space or choose another folder."
        raise StorageError(
            f"The file {path} cannot be written: {error.strerror}.", next_step=fix
        ) from None


FIRST_LOOK_S = 0.05
LONGEST_LOOK_S = 1.0
"""Looks at the folder become rarer the longer no one answers."""
TELL_EVERY_S = 60.0
"""A log of hours should not consist of waiting."""


class RelayWire:
    """A folder where a person or another program answers."""

    name = RELAY
    billed = False

    def __init__(
        self,
        folder: Path,
        patience: Patience,
        clock: Clock,
        tell: Tell = tell_nobody,
    ) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            says = f"The relay folder cannot be used: {error.strerror}. Received: {folder}."
            raise StorageError(says, next_step="Give a folder that can be written to.") from None
        self._folder = folder
        self._patience = patience
        self._clock = clock
        self._tell = tell

    def send(self, call: Call, within_s: float) -> Reply:
        asked = put_request(self._folder, call)
        begun = self._clock.now()
        until = begun + min(self._patience.relay_s, within_s)
        look = FIRST_LOOK_S
        tell_at = begun
        while (filed := take_answer(self._folder, asked)) is None:
            now = self._clock.now()
            if now >= until:
                raise ModelUnreachable(
                    f"No one answered the request {asked} of step {call.step} in time.",
                    next_step=f"Answer it with `reenact relay {self._folder} {asked} --answer FILE`"
                    " and run the same command: it finds the answer.",
                )
            if now >= tell_at:
                self._tell(
                    Progress(
                        "relay",
                        note=f"waiting for an answer to {asked} in {self._folder}",
                    )
                )
                tell_at = now + TELL_EVERY_S
            self._clock.sleep(look)
            look = min(look * 1.5, LONGEST_LOOK_S)
        return filed
