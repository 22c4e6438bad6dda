"""One training of a benchmark program: alone, under the probe, or with a callback that dumps
everything.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import Inconclusive, Stopped
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Trace
from reenact.probe.watch import watch
from reenact.program.program import read_program
from reenact.trials.job import ONE_THREAD
from reenact.types import Stop

STEADY = {
    **dict.fromkeys(ONE_THREAD, "1"),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}
"""One thread, and freed memory is kept: whether glibc gives it back and faults it in again differs
from run to run by ten times as many page faults, and moves a training by more than the probe does.
"""
MOST_SECONDS = 900.0
_POLL_S = 0.1
_TRAINED = re.compile(r"^trained in (\d+\.\d+) s, (\d+\.\d+) s of CPU$", re.MULTILINE)
NAIVE = Path(__file__).parents[1] / "cases" / "naive" / "dump.py"


@dataclass(frozen=True, slots=True)
class Case:
    """An ordinary training script that prints how long its own training loop took."""

    name: str
    script: Path
    framework: str
    """`torch` or `keras`."""


@dataclass(frozen=True, slots=True)
class Training:
    """One training that came to its end."""

    seconds: float
    """Of the training loop, by the script's own clock."""
    cpu_seconds: float
    printed: str
    """Everything else it printed: the same for every training that is the same training."""
    trace: Trace | None = None


def train_alone(case: Case, *, stop: Stop) -> Training:
    """The program as its user runs it."""
    return _train((sys.executable, str(case.script)), case, stop)


def train_naively(case: Case, *, stop: Stop) -> Training:
    """The program with a callback that writes all weights and activations after every batch."""
    with tempfile.TemporaryDirectory(prefix="reenact-naive-") as folder:
        return _train(
            (sys.executable, str(NAIVE), case.framework, folder, str(case.script)),
            case,
            stop,
        )


def train_watched(case: Case, preset: str, *, stop: Stop) -> Training:
    """The program under the probe, with its trace."""
    with tempfile.TemporaryDirectory(prefix="reenact-probe-") as at:
        options = WatchOptions(
            folder=Path(at) / "trace",
            preset=preset,
            max_time=MOST_SECONDS,
            python=sys.executable,
            environment=STEADY,
        )
        with tempfile.TemporaryFile() as output:
            watched = watch(
                read_program([str(case.script)]),
                options,
                stdout=output.fileno(),
                stop=stop,
            )
            code = watched.outcome.exit_code
            return _read(
                case,
                code if code is not None else -1,
                _text(output.fileno()),
                stop,
                watched.trace,
            )


def _train(command: Sequence[str], case: Case, stop: Stop) -> Training:
    with tempfile.TemporaryFile() as output:
        code = _run(command, output.fileno(), {**os.environ, **STEADY}, stop)
        return _read(case, code, _text(output.fileno()), stop)


def _run(command: Sequence[str], output: int, environment: Mapping[str, str], stop: Stop) -> int:
    child = subprocess.Popen(  # noqa: S603 - a script of this package
        list(command),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        start_new_session=True,
    )
    left = MOST_SECONDS
    try:
        while left > 0 and not stop.asked:
            with suppress(subprocess.TimeoutExpired):
                return child.wait(_POLL_S)
            left -= _POLL_S
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return child.returncode


def _text(output: int) -> str:
    with open(os.dup(output), "rb") as file:  # noqa: PTH123 - a descriptor has no path
        file.seek(0)
        return file.read().decode(errors="replace")


def _read(case: Case, code: int, printed: str, stop: Stop, trace: Trace | None = None) -> Training:
    if stop.asked:
        raise Stopped("Stopped while a program of the benchmark trained.")
    found = _TRAINED.search(printed)
    if code != 0 or found is None:
        raise Inconclusive(
            f"{case.name} ended with {code} and without its figures. Its last words: "
            f"{printed[-300:]!r}"
        )
    rest = printed[: found.start()] + printed[found.end() :]
    return Training(float(found[1]), float(found[2]), rest, trace)
