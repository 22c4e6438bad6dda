"""Resolves and installs packages into a virtual environment, from wheels alone: by uv, else by pip.

Covered: nothing that is downloaded runs on the host. No source distribution is built or even asked for its
metadata, whoever asks for it; the interpreter of an environment is not started on the host once packages are
in it (that would execute their .pth files), so installers make no bytecode, whatever the user's settings
say; the bare interpreter compiles the sources afterwards, which runs none of them. The user's own settings
for indexes, certificates and proxies reach the installer as variables and are written nowhere, messages lose
their addresses. Not covered: faults in the installers and in Python's compiler themselves.
"""

import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from reenact.errors import MissingExtra, MissingPart
from reenact.sandbox.environments.names import Requirement
from reenact.sandbox.environments.run import (
    from_address,
    pip_alone,
    pip_failure,
    run_installer,
    uv_failure,
    venv_failure,
)
from reenact.types import Stop


@dataclass(frozen=True, slots=True)
class Wish:
    """What to resolve, and for which interpreter."""

    requirements: tuple[Requirement, ...]
    python: str
    exclude_newer: date | None = None
    built: Path | None = None
    """A folder of wheels that were built from source in a box."""
    backend: str = ""
    """The build of torch, as uv names it (`cpu`); empty: what the index gives."""
    store: Path | None = None
    """The installer's cache, ours alone, from which packages are linked; none: the user's, and copies."""


class Installer(Protocol):
    """A program that resolves and installs."""

    name: str

    def resolve(self, wish: Wish, stop: Stop | None) -> tuple[str, ...]:
        """Every package that will be installed, as NAME==VERSION. Raises NoWheel, InputError."""

    def install(self, pins: Sequence[str], folder: Path, wish: Wish, stop: Stop | None) -> None:
        """Make a virtual environment with exactly these packages in a folder that does not exist yet."""


def find_installer(*, prefer: str = "") -> Installer:
    """uv where it is installed, else pip; `prefer` names one of them."""
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is not None and prefer in ("", "uv"):
        return Uv(uv)
    if importlib.util.find_spec("pip") is not None and prefer in ("", "pip"):
        return Pip()
    raise MissingPart("Neither uv nor pip is installed.", next_step="pip install 'reenact[uv]'")


class Uv:
    """The installer uv."""

    name = "uv"

    def __init__(self, program: str) -> None:
        self._program = program

    def resolve(self, wish: Wish, stop: Stop | None) -> tuple[str, ...]:
        argv = [self._program, "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--no-build"]
        argv += ["--python", wish.python, "--no-progress", *_index(), *_options(wish)]
        if wish.exclude_newer is not None:
            argv += ["--exclude-newer", wish.exclude_newer.isoformat()]
        printed, _ = run_installer(argv, failure=uv_failure, stdin=_lines(wish), wheels=wish.built, stop=stop)
        return tuple(line.strip() for line in printed.splitlines() if "==" in line)

    def install(self, pins: Sequence[str], folder: Path, wish: Wish, stop: Stop | None) -> None:
        argv = [self._program, "venv", "--quiet", "--no-project", "--python", wish.python, str(folder)]
        run_installer(argv, failure=venv_failure, stop=stop)
        if not pins:
            return
        argv = [self._program, "pip", "install", "--quiet", "--no-progress", "--no-build", "--no-deps"]
        # Links only from a cache of ours, which boxes see read-only; never from the user's own.
        mode = "copy" if wish.store is None else "hardlink"
        argv += ["--link-mode", mode, "--python", str(folder / "bin" / "python"), *_options(wish)]
        # To compile, uv starts the new interpreter, which executes the .pth files of the packages.
        argv += ["--no-compile-bytecode"]
        run_installer([*argv, *_index(), *pins], failure=uv_failure, wheels=wish.built, stop=stop)

    def forget(self, names: Sequence[str], store: Path, stop: Stop | None) -> None:
        """Remove packages from a cache of ours; environments that link their files keep them."""
        argv = [self._program, "cache", "clean", "--quiet", "--cache-dir", str(store), *names]
        run_installer(argv, failure=uv_failure, stop=stop)


class Pip:
    """The pip of the interpreter that runs us, started by the interpreter to install for."""

    name = "pip"

    def resolve(self, wish: Wish, stop: Stop | None) -> tuple[str, ...]:
        if wish.exclude_newer is not None:
            raise MissingExtra("uv", "uv")
        with tempfile.TemporaryDirectory() as made:
            report, asked = Path(made) / "report.json", Path(made) / "asked.txt"
            asked.write_text(_lines(wish))
            argv = [*pip_alone(wish.python), "install", "--quiet", "--dry-run"]
            argv += ["--ignore-installed", "--only-binary", ":all:", "--report", str(report)]
            argv += ["--requirement", str(asked)]
            run_installer(argv, failure=pip_failure, wheels=wish.built, stop=stop)
            found = json.loads(report.read_text())["install"]
        for item in found:
            if item["is_direct"]:
                raise from_address(str(item["metadata"]["name"]))
        return tuple(sorted(f"{item['metadata']['name']}=={item['metadata']['version']}" for item in found))

    def install(self, pins: Sequence[str], folder: Path, wish: Wish, stop: Stop | None) -> None:
        argv = [wish.python, "-I", "-m", "venv", "--without-pip", str(folder)]
        run_installer(argv, failure=venv_failure, stop=stop)
        if not pins:
            return
        argv = [*pip_alone(str(folder / "bin" / "python")), "install", "--quiet", "--no-deps", "--no-compile"]
        argv += ["--only-binary", ":all:", "--no-warn-script-location"]
        run_installer([*argv, *pins], failure=pip_failure, wheels=wish.built, stop=stop)


def compile_sources(python: str, folder: Path, stop: Stop | None) -> None:
    """Compile what was installed, once, so that not every box does it again.

    The bare interpreter does so, isolated and without `site`: it reads the sources and runs nothing of them,
    and no .pth file of the new environment is looked at. Files that do not compile are left as they are.
    """
    argv = [python, "-I", "-S", "-m", "compileall", "-q", "-j", "2", str(folder / "lib")]
    run_installer(argv, stop=stop)


def _index() -> list[str]:
    """uv has no variable for pip's PIP_NO_INDEX."""
    return ["--no-index"] if os.environ.get("PIP_NO_INDEX", "").lower() in ("1", "true", "yes", "on") else []


def _options(wish: Wish) -> list[str]:
    """Further options of uv: which build of torch, and where its cache lies."""
    found = ["--torch-backend", wish.backend] if wish.backend else []
    return [*found, *(["--cache-dir", str(wish.store)] if wish.store is not None else [])]


def _lines(wish: Wish) -> str:
    return "".join(f"{requirement.text}\n" for requirement in wish.requirements)
