"""Ways to run a program: in a fork that shares one import, or in a process of its own."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from reenact.probe import injected
from reenact.probe.injected import FOLDER
from reenact.probe.options import WatchOptions
from reenact.probe.read import is_trace, read_trace
from reenact.probe.trace import Root, Trace
from reenact.probe.watch import Watched, watch
from reenact.program.program import read_program

HERE = Path(__file__).parent
pytest.register_assert_rewrite("live_graphs")


@dataclass(frozen=True)
class Ran:
    """A program that was run in a fork."""

    code: int
    out: str
    err: str
    folder: Path | None
    cwd: Path

    @property
    def trace(self) -> Trace:
        assert self.folder is not None
        return read_trace(self.folder, root=Root(self.cwd))

    @property
    def has_trace(self) -> bool:
        return self.folder is not None and is_trace(self.folder)


class Forks:
    """Runs programs, watched or plain."""

    def __init__(self, scratch: Path, python: str) -> None:
        self._scratch = scratch
        self._python = python
        self._numbers = itertools.count(1)
        self._start()

    def _start(self) -> None:
        environment = dict(os.environ, KERAS_BACKEND="torch", OMP_NUM_THREADS="1", MPLBACKEND="Agg")
        self._server = subprocess.Popen(
            [self._python, str(HERE / "fork_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        self._answer()

    def _answer(self) -> dict[str, object]:
        assert self._server.stdout is not None
        return json.loads(self._server.stdout.readline())

    def run(
        self,
        source: str | Path,
        *arguments: str,
        options: WatchOptions | None = None,
        watched: bool = True,
        cwd: Path | None = None,
        module: bool = False,
        environment: dict[str, str] | None = None,
    ) -> Ran:
        """Run a program text or file. `options` without a folder of its own gets a fresh one."""
        assert self._server.stdin is not None
        work = self._scratch / str(next(self._numbers))
        work.mkdir()
        script = source if isinstance(source, Path) else work / "train.py"
        if isinstance(source, str):
            script.write_text(source)
        folder = work / "trace"
        watch_options = replace(options or WatchOptions(folder), folder=folder)
        job = {
            "argv": [str(script), *arguments],
            "module": module,
            "cwd": str(cwd or work),
            "environment": environment or {},
            "inject": str(FOLDER),
            "config": watch_options.as_config(str(folder)) if watched else None,
            "stdout": str(work / "out"),
            "stderr": str(work / "err"),
        }
        self._ask(json.dumps(job))
        code = self._answer()["code"]
        assert isinstance(code, int)
        texts = [(work / name).read_text(errors="replace") for name in ("out", "err")]
        return Ran(code, texts[0], texts[1], folder if watched else None, cwd or work)

    def _ask(self, job: str) -> None:
        """Once more by a new server where the old one was killed from outside."""
        try:
            self._write(job)
        except BrokenPipeError:
            self.close()
            self._start()
            self._write(job)

    def _write(self, job: str) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(job + "\n")
        self._server.stdin.flush()

    def close(self) -> None:
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.close()
        self._server.wait()


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory, warm_interpreter: str) -> Iterator[Forks]:
    """Programs run from here share one import of torch and Keras."""
    server = Forks(tmp_path_factory.mktemp("forks"), warm_interpreter)
    yield server
    server.close()


@pytest.fixture(scope="session")
def programs() -> Path:
    """Small training programs that print every loss and a digest of their final weights."""
    return HERE / "programs"


@dataclass(frozen=True)
class Seen:
    """A program that was run under `watch` in a process of its own."""

    watched: Watched
    printed: str

    @property
    def trace(self) -> Trace:
        assert self.watched.trace is not None, self.watched.outcome.sentence
        return self.watched.trace


@pytest.fixture(scope="session")
def run_watched(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Seen]:
    """`run_watched(folder, *entry, **options)`: a copy of the folder's program under `watch`."""

    def run(folder: Path, *entry: str, **options: Any) -> Seen:
        scratch = tmp_path_factory.mktemp("watched")
        work = scratch / folder.name
        shutil.copytree(folder, work)
        printed = scratch / "printed"
        with printed.open("wb") as out:
            program = read_program(entry, work)
            watched = watch(program, WatchOptions(scratch / "trace", **options), stdout=out)
        return Seen(watched, printed.read_text(errors="replace"))

    return run


@pytest.fixture(scope="session")
def watch_text(
    run_watched: Callable[..., Seen], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Seen]:
    """`watch_text(source, **options)`: a program given as text."""

    def run(source: str, **options: Any) -> Seen:
        folder = tmp_path_factory.mktemp("text")
        (folder / "train.py").write_text(source)
        return run_watched(folder, "train.py", **options)

    return run


@pytest.fixture(scope="session")
def run_plain() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_plain(script, options=None, **environment)`: the interpreter itself, watched when
    asked for.
    """

    def run(
        script: Path,
        options: WatchOptions | None = None,
        python: str = sys.executable,
        **extra: str,
    ) -> subprocess.CompletedProcess[str]:
        base = dict(os.environ, OMP_NUM_THREADS="1", **extra)
        environment = injected.environment(options, base) if options is not None else base
        return subprocess.run(
            [python, script.name],
            cwd=script.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run
