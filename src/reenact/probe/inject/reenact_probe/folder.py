"""The folder of a trace: a header, a graph, an ending, and numbered chunks that are never touched again.

Every file is written beside its place and moved there, so that a reader sees whole files only, whenever the
program is killed.
"""

from __future__ import annotations

import math
import os
import zipfile
from io import BytesIO
from typing import Any

from reenact_probe.hiding import Hiding
from reenact_probe.tables import as_npy
from reenact_probe.types import Facts

OWNER = "owner"


class Folder:
    """Owned by the first process that trains; others find the owner file and record nothing."""

    MAX_BYTES = 512 * 1024 * 1024
    """After this much only the rows of steps are kept."""

    def __init__(self, path: str, hide: Facts | None = None) -> None:
        self.path = path
        self._hiding = Hiding(hide)
        self.chunks = 0
        self.bytes = 0

    def claim(self) -> bool:
        """True when this process may record here."""
        os.makedirs(self.path, exist_ok=True)
        try:
            handle = os.open(os.path.join(self.path, OWNER), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(handle, "w") as file:
            file.write(str(os.getpid()))
        return True

    @property
    def full(self) -> bool:
        return self.bytes >= self.MAX_BYTES

    def write_json(self, name: str, content: Any) -> None:
        self._put(name, self._json(content))

    def write_chunk(self, members: dict[str, bytes], notes: Facts) -> None:
        """One npz file: tables by name, and the notes as JSON in an array of bytes."""
        text = self._json(notes)
        members = dict(members, notes=as_npy("|u1", (len(text),), text))
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name, data in members.items():
                archive.writestr(name + ".npy", data)
        self.chunks += 1
        self._put(f"chunk-{self.chunks:06d}.npz", buffer.getvalue())

    def _put(self, name: str, data: bytes) -> None:
        target = os.path.join(self.path, name)
        beside = f"{target}.{os.getpid()}.part"
        with open(beside, "wb", opener=_private) as file:
            file.write(data)
        os.replace(beside, target)
        self.bytes += len(data)

    def _json(self, content: Any) -> bytes:
        return self._hiding.dumped(_strict(content)).encode("utf-8")


def _private(path: str, flags: int) -> int:
    """What a program prints, raises and is given as arguments is for its user's eyes only."""
    return os.open(path, flags, 0o600)


def _strict(value: Any) -> Any:
    """JSON knows no NaN and no infinity: they are written as text, which `float` reads back."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
