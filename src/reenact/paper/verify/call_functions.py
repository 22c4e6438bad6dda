"""Runs in the box: calls functions of the project on given values, and judges nothing.

Reads the task from standard input. It imports nothing of reenact.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """One entry a call: the numbers it returned, or what went wrong."""
    task = json.load(sys.stdin)
    sys.path.insert(0, ".")
    found: dict[str, object] = {}
    for call in task["calls"]:
        try:
            values = [_called(call, given) for given in call["samples"]]
            json.dumps(values, allow_nan=False)
            found[call["name"]] = {"values": values}
        except BaseException as error:  # noqa: BLE001 - whatever the project raises is a result
            found[call["name"]] = {"problem": f"{type(error).__name__}: {error}"[:300]}
    Path(f"formula-{task['word']}.json").write_text(json.dumps(found), encoding="utf-8")


def _called(call: dict[str, Any], given: dict[str, Any]) -> object:
    module = importlib.import_module(call["module"])
    function = getattr(module, call["function"])
    ready = {name: _ready(value, call["tensors"]) for name, value in given.items()}
    return _plain(function(**ready))


def _ready(value: object, tensors: bool) -> object:
    if tensors:
        import torch

        return torch.tensor(value, dtype=torch.float64) if isinstance(value, list) else value
    if isinstance(value, list):
        import numpy

        return numpy.asarray(value, dtype=float)
    return value


def _plain(value: object) -> object:
    for name in ("detach", "cpu"):
        value = getattr(value, name)() if hasattr(value, name) else value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return value if isinstance(value, list) else float(value)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
