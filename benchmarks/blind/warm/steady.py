"""What makes two runs of a program alike, and what is noted of one: the bits of every loss that is
differentiated, what it prints, and how it ends.

Time is counted, not measured: a program that prints it prints the same twice, and an experiment
that may take so many seconds takes as many steps on a busy machine as on a quiet one.
"""

from __future__ import annotations

import concurrent.futures  # noqa: F401 - it and its like take the real clock before it is replaced
import itertools
import json
import multiprocessing.connection  # noqa: F401
import os
import queue  # noqa: F401
import random
import subprocess  # noqa: F401
import sys
import threading  # noqa: F401
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Noted = dict[str, Any]
SEED = 7
TICK = 0.001
"""Seconds by which the clock goes on each time somebody looks."""
STEP = 0.004
"""Processor seconds between two looks of an experiment: about one step of a small model."""
VARIABLE = "BLIND_TRANSCRIPT"
"""Where a program is to leave what is noted of it."""
OUTPUT = ".out"
"""Ends the name of the file with what it prints."""
PROBE = "REENACT_PROBE"
WATCHES = "reenact_probe"
_clock: dict[str, Iterator[int]] = {}


def take_clock() -> None:
    """Replace the clocks of this process and of its forks."""
    real = time.perf_counter()
    _wind()

    def now() -> float:
        return next(_clock["time"]) * TICK

    def price() -> float:
        # A look of the probe is free: on a busy machine it would give up detail.
        name = sys._getframe(1).f_globals.get("__name__", "")
        return real if name.startswith(WATCHES) else now()

    def spent() -> float:
        return next(_clock["steps"]) * STEP

    clocks = {"time": now, "monotonic": now, "perf_counter": price, "process_time": spent}
    for name, clock in clocks.items():
        setattr(time, name, clock)


def _wind() -> None:
    _clock["time"] = itertools.count(1_700_000_000_000)
    _clock["steps"] = itertools.count(1)


def begin(arguments: Sequence[str]) -> Noted | None:
    """At the start of a fork: what is to be noted of its program; none where nobody asks."""
    # Text that is given with -c is a question of reenact to the interpreter.
    if VARIABLE not in os.environ or arguments[:1] == ["-c"]:
        return None
    _wind()
    random.seed(SEED)
    noted: Noted = {"losses": []}
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(SEED)
    if not _is_run():
        return None
    if torch is not None:
        _note_losses(torch, noted["losses"])
    output = os.open(os.environ[VARIABLE] + OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.close(output)
    return noted


def _is_run() -> bool:
    """Experiments that go on next to a program are no run of it."""
    watched = json.loads(os.environ.get(PROBE) or "{}")
    return bool(watched.get("experiments") is None)


def _note_losses(torch: Any, losses: list[str]) -> None:
    backward = torch.Tensor.backward

    def noting(tensor: Any, *given: Any, **more: Any) -> Any:
        losses.append(float(tensor.detach().double().sum()).hex())
        return backward(tensor, *given, **more)

    torch.Tensor.backward = noting


def kind_of(error: BaseException) -> str:
    """The kind of an exception: a program's own have names of its own."""
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    return kinds[0]


def write(noted: Mapping[str, Any]) -> None:
    """At the end of a fork."""
    with open(os.environ[VARIABLE], "w", encoding="utf-8") as file:
        json.dump(noted, file)
