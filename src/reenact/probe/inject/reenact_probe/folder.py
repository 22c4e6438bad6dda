"""The folder of a trace: a header, a graph, an ending, and numbered chunks that are never touched
again.

The header of every trace names the columns of its tables, so that a reader never counts.

Every file is written next to its place and moved there, so that a reader sees whole files only,
whenever the program is killed. Secrets are kept out by the rules that the launcher hands over
(reenact/redact.py): it names variables, never their values, which are read here, where the program
runs. Variables that the program itself sets later (from a file of settings, for example) count when
their names say so.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import zipfile
from array import array
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Facts, Row

OWNER = "owner"
STEP = (
    "step",
    "time",
    "epoch",
    "loss",
    "learning_rate",
    "batch_size",
    "backward_calls",
    "carried",
    "training",
    "sampled",
    "optimizer",
    "data_wait",
    "grad_norm",
    "weight_norm",
    "update_norm",
    "accuracy",
    "label_loss",
    "permuted_loss",
    "clip_norm",
    "clip_limit",
    "memory",
)
"""One row a step of an optimizer, sampled or not; what is known only on sampled steps is NaN
elsewhere.

`carried` is 1 when gradients of the step before were still there at the first backward call, 0 when
they had been cleared. `training` is the mode of the model in the last forward pass seen.
`label_loss` is the plain mean loss of the batch by our own arithmetic, `permuted_loss` the same
with the labels of other rows. `clip_norm` is the norm of the gradients before they were clipped,
`clip_limit` what they were clipped to. `memory` is that of the process, in MB.
"""

PARAMETER = (
    "step",
    "parameter",
    "grad_present",
    "grad_mean",
    "grad_std",
    "grad_mean_abs",
    "grad_norm",
    "grad_max_abs",
    "grad_zero_share",
    "grad_bad_share",
    "weight_mean",
    "weight_std",
    "weight_mean_abs",
    "weight_norm",
    "weight_max_abs",
    "weight_tiny_share",
    "weight_negative_share",
    "weight_bad_share",
    "update_mean_abs",
    "update_norm",
    "update_ratio",
)
"""One row a parameter tensor and sampled step. Weights are as they are after the step. `tiny` is
below 1e-5.
"""

LAYER = (
    "step",
    "layer",
    "phase",
    "training",
    "mean",
    "std",
    "minimum",
    "maximum",
    "mean_abs",
    "zero_share",
    "nonpositive_share",
    "beyond_5_share",
    "saturated_share",
    "dead_unit_share",
    "bad_share",
    "row_sum",
    "grad_mean",
    "grad_mean_abs",
    "grad_zero_share",
    "grad_bad_share",
)
"""One row a layer and sampled forward pass: its output, and the gradient that came back to it.

`phase` is 0 for a training pass, 1 for an evaluation. `bad` is NaN or infinite. `row_sum` is the
mean over the batch of the sum of an output row, for the last layer only.
"""

COLUMNS = {
    "steps": STEP,
    "parameters": PARAMETER,
    "layers": LAYER,
}


class Table:
    """Rows of numbers, kept as they come until they are written."""

    def __init__(self, name: str) -> None:
        self.width = len(COLUMNS[name])
        self.rows: list[Row] = []
        self.add = self.rows.append
        self.extend = self.rows.extend

    def __len__(self) -> int:
        return len(self.rows)

    def set(self, row: int, column: int, value: float) -> None:
        """Put a value that came late into its row."""
        old = self.rows[row]
        self.rows[row] = (
            *old[:column],
            value,
            *old[column + 1 :],
        )

    def take(self) -> bytes:
        """All rows, as an npy file; the table is empty afterwards."""
        flat = array("d")
        for row in self.rows:
            flat.extend(row)
        count = len(self.rows)
        self.rows.clear()
        if sys.byteorder == "big":
            flat.byteswap()
        return as_npy("<f8", (count, self.width), flat.tobytes())


def as_npy(
    descr: str,
    shape: tuple[int, ...],
    data: bytes,
) -> bytes:
    """The bytes of a version 1.0 npy file."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("latin1") + data


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
            handle = os.open(
                os.path.join(self.path, OWNER),
                os.O_CREAT | os.O_EXCL | os.O_WRONLY,
                0o600,
            )
        except FileExistsError:
            return False
        with os.fdopen(handle, "w") as file:
            file.write(str(os.getpid()))
        return True

    def write_json(self, name: str, content: Any) -> None:
        self._put(name, self._json(content))

    def write_chunk(self, members: dict[str, bytes], notes: Facts) -> None:
        """One npz file: tables by name, and the notes as JSON in an array of bytes."""
        text = self._json(notes)
        members = dict(
            members,
            notes=as_npy("|u1", (len(text),), text),
        )
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name, data in members.items():
                archive.writestr(name + ".npy", data)
        self.chunks += 1
        self._put(
            f"chunk-{self.chunks:06d}.npz",
            buffer.getvalue(),
        )

    def _put(self, name: str, data: bytes) -> None:
        target = os.path.join(self.path, name)
        beside = f"{target}.{os.getpid()}.part"
        os.makedirs(self.path, exist_ok=True)
        # What a program prints, raises and is given as arguments is for its user's eyes only.
        with open(
            beside,
            "wb",
            opener=lambda path, flags: os.open(path, flags, 0o600),
        ) as file:
            file.write(data)
        os.replace(beside, target)
        self.bytes += len(data)

    def _json(self, content: Any) -> bytes:
        return self._hiding.dumped(_strict(content)).encode("utf-8")


def _strict(value: Any) -> Any:
    """JSON knows no NaN and no infinity: they are written as text, which `float` reads back."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value


class Hiding:
    """Replaces secrets in what goes into a JSON file."""

    def __init__(self, rules: Facts | None) -> None:
        rules = rules or {}
        self._name = rules.get("name", "")
        self._shortest = rules.get("shortest", 12)
        self._shapes = rules.get("shapes", ())
        self._hidden = rules.get("hidden", "[redacted]")
        self._at_start = frozenset(os.environ)
        given = (os.environ.get(name, "").strip() for name in rules.get("variables", ()))
        self._given = [value for value in given if value]

    def dumped(self, content: Any) -> str:
        """The content as JSON text without secrets. Most has none, and is searched only as a
        whole.
        """
        text = _text(content)
        values = self._values()
        lowered = text.lower()
        suspect = any(needle in lowered for needles, _, _ in self._shapes for needle in needles)
        if suspect or any(_text(value)[1:-1] in text for value in values):
            return _text(self._cleaned(content, values))
        return text

    def _values(self) -> list[str]:
        late = [name for name in os.environ if name not in self._at_start] if self._name else []
        values = {
            os.environ[name].strip()
            for name in late
            if re.search(self._name, name, re.IGNORECASE)
            and len(os.environ[name].strip()) >= self._shortest
        }
        return sorted(
            values.union(self._given),
            key=len,
            reverse=True,
        )

    def _cleaned(self, value: Any, values: list[str]) -> Any:
        if isinstance(value, dict):
            return {
                self._word(str(key), values): self._cleaned(item, values)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._cleaned(item, values) for item in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return self._word(str(value), values)

    def _word(self, text: str, values: list[str]) -> str:
        for value in values:
            text = text.replace(value, self._hidden)
        lowered = text.lower()
        for needles, pattern, instead in self._shapes:
            if any(needle in lowered for needle in needles):
                text = re.sub(pattern, instead, text)
        return text


def _text(content: Any) -> str:
    return json.dumps(content, default=str, allow_nan=False)
