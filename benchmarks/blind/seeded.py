"""`python seeded.py TRANSCRIPT WORD...`: run a program with fixed seeds, one thread and a clock
that counts, and write what it differentiates.

The transcript has the bits of every loss and the end of the program, as JSON.
"""

from __future__ import annotations

import atexit
import itertools
import json
import queue  # noqa: F401 - it and its like take the real clock before it is replaced
import random
import runpy
import sys
import threading  # noqa: F401
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEED = 7
TICK = 0.001
"""Seconds by which the clock goes on each time somebody looks."""


def main() -> None:
    transcript, words = Path(sys.argv[1]), sys.argv[2:]
    noted: dict[str, Any] = {"losses": [], "end": "exit"}
    _seed(noted["losses"])
    _count_time()
    # What a program says last may come after its end.
    atexit.register(lambda: transcript.write_text(json.dumps(noted), encoding="utf-8"))
    sys.path[0] = "."
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            sys.path[0] = str(Path(words[0]).parent.absolute())
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        noted["end"] = f"exit {end.code if isinstance(end.code, int | None) else 1}"
    except BaseException as error:
        # Its own exceptions have names of its own.
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        noted["end"] = kinds[0]
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        raise


def _seed(losses: list[str]) -> None:
    random.seed(SEED)
    try:
        import numpy as np

        np.random.seed(SEED)
    except ImportError:
        pass
    try:
        import torch
    except ImportError:
        return
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    backward: Callable[..., Any] = torch.Tensor.backward

    def noting(tensor: Any, *given: Any, **more: Any) -> Any:
        losses.append(float(tensor.detach().double().sum()).hex())
        return backward(tensor, *given, **more)

    setattr(torch.Tensor, "backward", noting)  # noqa: B010


def _count_time() -> None:
    ticks = itertools.count(1_700_000_000_000)

    def now() -> float:
        return next(ticks) * TICK

    for name in ("time", "perf_counter", "monotonic", "process_time"):
        setattr(time, name, now)


if __name__ == "__main__":
    main()
