"""Copies of the tree, the tests nearest to a file, and pytest in forks of this process.

This process has imported what tests import from elsewhere, so that a fork pays for its tests and
little more. It must not import the package that is edited: a fork imports that from its copy.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

HEAVY = (
    "numpy",
    "scipy.stats",
    "optuna",
    "pydantic",
    "pydantic_ai",
    "hypothesis",
    "jsonschema",
    "rich.console",
    "click.testing",
    "psutil",
    "yaml",
    "sklearn",
    "_pytest.assertion.rewrite",
    "xdist",
)
FAR = ("benchmarks", "web", "cli", "mcp", "interfaces", "report", "rehearsal", "golden")
"""Folders of tests that show results of many parts: they import much and decide little."""
NOT_RUN = (3, 5, 70)
"""Exit codes of pytest for its own error and for no test at all, and ours for a fork that
failed before.
"""

T = TypeVar("T")


class Ending(StrEnum):
    """How the tests of one copy ended."""

    PASSED = "survived"
    FAILED = "killed"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class Limits:
    """Of processor time for a loop that never ends, of wall time for a wait that never does."""

    cpu_s: float
    wall_s: float

    @classmethod
    def after(cls, seconds: float) -> Limits:
        """For tests that took so long unedited; many times that, as others may use the machine."""
        return cls(cpu_s=20 + 5 * seconds, wall_s=180 + 15 * seconds)


def nearest_tests(root: Path, file: str, table: Mapping[str, Sequence[str]]) -> list[str]:
    """Files of tests, the nearest first: its mirror, the table's, those of its folder and others
    that import it.
    """
    below = Path(file).relative_to("src").with_suffix("")
    module = ".".join(below.parts)
    package, _, name = module.rpartition(".")
    imports = re.compile(
        rf"^\s*(from {re.escape(module)} import|import {re.escape(module)}\b"
        rf"|from {re.escape(package)} import .*\b{re.escape(name)}\b)",
        re.MULTILINE,
    )
    folder = Path("tests", *below.parts[1:-1])
    mirrors = sorted(root.glob(f"{folder}/test_{name}.py")) + sorted(
        root.glob(f"{folder}/test_{name}_*.py")
    )
    listed = [root / test for test in table.get(file, ()) if (root / test).is_file()]
    importing = [
        test
        for test in sorted((root / "tests").rglob("test_*.py"))
        if test.relative_to(root / "tests").parts[0] not in FAR
        and imports.search(test.read_text(encoding="utf-8"))
    ]
    importing.sort(key=lambda test: not test.is_relative_to(root / folder))
    return [str(test.relative_to(root)) for test in dict.fromkeys([*mirrors, *listed, *importing])]


@contextlib.contextmanager
def copies_of(root: Path, count: int) -> Iterator[list[Path]]:
    """Folders with the files that git knows or would add; what is ignored stays away."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, check=True, capture_output=True)  # noqa: S603 - git
    names = [name for name in listing.stdout.decode().split("\0") if name]
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copies = [Path(place) / str(number) for number in range(count)]
        for copy in copies:
            for name in names:
                if (root / name).is_file():
                    (copy / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(root / name, copy / name, follow_symlinks=False)
        yield copies


def import_heavy() -> None:
    # Threads of these would not be there in a fork.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    for module in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


class Workplace:
    """One copy: a file of it is edited, tests run in a fork, and the file is put back."""

    def __init__(self, copy: Path, original: Path) -> None:
        self.copy = copy
        self.original = original
        self.child = 0
        self.began = 0.0
        self.limits = Limits(0, 0)
        self.edited: tuple[Path, str] | None = None
        self.moment = int(time.time()) + 10
        self.temporary = copy.parent / f"t{copy.name}"
        self.log = copy.parent / f"log{copy.name}"

    def start(
        self,
        tests: Sequence[str],
        limits: Limits,
        edited: tuple[str, str] | None = None,
    ) -> None:
        """Run these tests, with a file of the copy replaced by another text."""
        if edited:
            place = self.copy / edited[0]
            self.edited = (place, place.read_text(encoding="utf-8"))
            self._write(place, edited[1])
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir()
        self.began = time.monotonic()
        self.limits = limits
        self.child = os.fork()
        if self.child == 0:
            self._run(tests)

    def poll(self) -> Ending | None:
        """How the tests ended; None while they run."""
        done, status = os.waitpid(self.child, os.WNOHANG)
        is_late = time.monotonic() - self.began > self.limits.wall_s
        if not done and not is_late:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)
        if not done:
            os.waitpid(self.child, 0)
        self._put_back()
        if is_late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
            return Ending.TIMEOUT
        code = os.waitstatus_to_exitcode(status)
        if code in NOT_RUN:
            raise RuntimeError(f"The tests could not be run, exit code {code}.\n{self.output}")
        return Ending.PASSED if code == 0 else Ending.FAILED

    def end(self) -> None:
        if self.child:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.killpg(self.child, signal.SIGKILL)
                os.waitpid(self.child, 0)
        self._put_back()

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _put_back(self) -> None:
        self.child = 0
        if self.edited:
            self._write(*self.edited)
            self.edited = None
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _write(self, place: Path, text: str) -> None:
        """With a time of its own: compiled code is taken for current by size and whole seconds."""
        place.write_text(text, encoding="utf-8")
        self.moment += 2
        os.utime(place, (self.moment, self.moment))

    def _run(self, tests: Sequence[str]) -> None:
        """In the fork, which never returns."""
        code = NOT_RUN[-1]
        try:
            os.setsid()
            number = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for target in (1, 2):
                os.dup2(number, target)
            limit = int(self.limits.cpu_s) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
            # What this process has to do at its own end is no business of the fork.
            atexit._clear()
            self._enter()
            import pytest

            # Also what `make test` leaves for a release: all cases, not the sample.
            chosen = ["-m", "not slow and not frameworks"]
            words = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", *chosen]
            code = int(pytest.main([*words, *tests]))
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(code)

    def _enter(self) -> None:
        """Make the copy the tree that is imported, here and in what the tests start."""
        os.chdir(self.copy)
        sources = str(self.copy / "src")
        sys.path[:] = [
            sources,
            *(path for path in sys.path if not _is_within(path, self.original)),
        ]
        os.environ["PYTHONPATH"] = sources
        os.environ["TMPDIR"] = str(self.temporary)
        os.environ.pop("WARM_FOLDER", None)
        tempfile.tempdir = None


def in_turn(
    queue: Sequence[T],
    workplaces: Sequence[Workplace],
    start: Callable[[T, Workplace], None],
    note: Callable[[T, Ending, float], None],
) -> None:
    """Each of the queue at the next free workplace, and what came of it."""
    waiting = list(reversed(queue))
    running: dict[Workplace, tuple[T, float]] = {}
    while waiting or running:
        for workplace in workplaces:
            if workplace not in running and waiting:
                one = waiting.pop()
                start(one, workplace)
                running[workplace] = (one, time.monotonic())
        time.sleep(0.02)
        for workplace, (one, began) in list(running.items()):
            ending = workplace.poll()
            if ending is not None:
                del running[workplace]
                note(one, ending, time.monotonic() - began)


def _is_within(path: str, root: Path) -> bool:
    """Whether it is one of the tree's own folders; its environment is used on."""
    place = Path(path or ".").resolve()
    is_environment = any(part in (".venv", "site-packages") for part in place.parts)
    return place.is_relative_to(root) and not is_environment
