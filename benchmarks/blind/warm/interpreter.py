"""Warm interpreters of this process, one for each set of modules; they end with it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from benchmarks.children import environment

HERE = Path(__file__).parent
FRAMEWORKS = ("torch", "keras", "lightning", "transformers", "accelerate", "sklearn")
"""Packages that take long to import; numpy comes with each of them."""
OURS = "reenact"
"""Stands for everything that a diagnosis imports."""


@dataclass(eq=False)
class Warm:
    """A folder like that of a virtual environment, whose `python` runs in forks of a server."""

    modules: tuple[str, ...]
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="reenact-warm-")))

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir()
        socket = self.folder / "socket"
        self._server = subprocess.Popen(  # noqa: S603 - our own file
            [sys.executable, str(HERE / "server.py"), str(socket), *self.modules],
            env=environment(**STEADY),
            # It ends when nobody holds the other end: also when this process is killed.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self._server.stdout is None or not self._server.stdout.readline():
            raise RuntimeError(f"The warm interpreter did not start. Received: {self.modules}.")
        starter = f'"{sys.executable}" -I -S "{HERE / "starter.py"}" "{socket}"'
        self.python.write_text(f'#!/bin/sh\nexec {starter} "$@"\n', encoding="utf-8")
        self.python.chmod(0o755)

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def check(self) -> None:
        """Raises RuntimeError where the server has ended: what was seen of a program then says
        nothing of it.
        """
        if self._server.poll() is not None:
            raise RuntimeError(f"The warm interpreter has ended. Received: {self.modules}.")


STEADY = {
    "KERAS_BACKEND": "torch",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
"""Variables under which every program runs."""


@lru_cache(maxsize=len(FRAMEWORKS) + 1)
def warm(modules: tuple[str, ...]) -> Warm:
    """The one that has imported these; started when it is asked for first. Its server ends, and
    its folder goes, when this process is gone.
    """
    return Warm(modules)


def needed(imported: Iterable[str]) -> tuple[str, ...]:
    """Which of the large packages a program with these imports needs."""
    tops = {name.partition(".")[0] for name in imported}
    return tuple(name for name in FRAMEWORKS if name in tops)
