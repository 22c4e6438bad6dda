"""Resolves and installs packages into a virtual environment, from wheels alone: by uv, else by pip.

Covered: nothing that is downloaded runs on the host. No source distribution is built or even asked
for its metadata, no matter who asks for it; the interpreter of an environment is not started on the host
once packages are in it (that would execute their .pth files), so installers make no bytecode,
whatever the user's settings say; the bare interpreter compiles the sources afterwards, which runs
none of them. What configures an installer is the user's alone: variables for indexes, certificates
and proxies and the user's own file (installer_settings.py), never a file of the current, temporary
or a foreign folder. They are written nowhere, messages lose their addresses, which may hold a
password. Not covered: faults in the installers and in Python's compiler themselves.
"""

import importlib.util
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

from reenact.errors import (
    InputError,
    MissingExtra,
    MissingPart,
    ReenactError,
    StorageError,
    ended_by,
)
from reenact.host_program import find_program, run_host_program
from reenact.sandbox.environments.installer_settings import installer_variables
from reenact.sandbox.environments.names import Requirement
from reenact.sandbox.environments.pip_alone import REFUSED
from reenact.types import Stop

WALL_S = 1800.0
_UNREACHABLE = re.compile(
    r"(?i)error sending request|dns error|connection "
    r"(?:refused|reset|error)|NewConnectionError|timed out|"
    r"Network is unreachable|temporary failure in name resolution"
)


class NoWheel(Exception):
    """A package has no wheel for this interpreter; perhaps there is a source distribution."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


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
    """The installer's cache, ours alone, from which packages are linked; none: the user's, and
    copies.
    """

    @property
    def lines(self) -> str:
        """The requirements as a file of them."""
        return "".join(f"{requirement.text}\n" for requirement in self.requirements)


def find_installer(*, prefer: str = "") -> "Installer":
    """uv where it is installed, else pip; `prefer` names one of them."""
    uv = find_program("uv")
    if uv is not None and prefer in ("", "uv"):
        return Uv(uv)
    if importlib.util.find_spec("pip") is not None and prefer in ("", "pip"):
        return Pip()
    raise MissingPart("Neither uv nor pip is installed.", next_step="pip install uv")


@dataclass(frozen=True)
class Uv:
    """The installer uv."""

    program: str
    name = "uv"

    def resolve(
        self,
        wish: Wish,
        stop: Stop | None,
    ) -> tuple[str, ...]:
        """Every package that will be installed, as NAME==VERSION. Raises NoWheel, InputError."""
        argv = [
            self.program,
            "pip",
            "compile",
            "-",
            "--quiet",
            "--no-header",
            "--no-annotate",
            "--no-build",
        ]
        argv += ["--python", wish.python, "--no-progress", *_uv_options(wish)]
        if wish.exclude_newer is not None:
            argv += ["--exclude-newer", wish.exclude_newer.isoformat()]
        printed, _ = run_installer(
            argv,
            failure=_uv_failure,
            stdin=wish.lines,
            wheels=wish.built,
            stop=stop,
        )
        return tuple(line.strip() for line in printed.splitlines() if "==" in line)

    def install(
        self,
        pins: Sequence[str],
        folder: Path,
        wish: Wish,
        stop: Stop | None,
    ) -> None:
        """Make a virtual environment with exactly these packages in a folder that does not
        exist yet.
        """
        argv = [
            self.program,
            "venv",
            "--quiet",
            "--no-project",
            "--python",
            wish.python,
            str(folder),
        ]
        run_installer(argv, failure=_venv_failure, stop=stop)
        if not pins:
            return
        argv = [
            self.program,
            "pip",
            "install",
            "--quiet",
            "--no-progress",
            "--no-build",
            "--no-deps",
        ]
        # Links only from a cache of ours, which boxes see read-only; never from the user's own.
        mode = "copy" if wish.store is None else "hardlink"
        argv += [
            "--link-mode",
            mode,
            "--python",
            str(folder / "bin" / "python"),
            *_uv_options(wish),
        ]
        # To compile, uv starts the new interpreter, which executes the .pth files of the packages.
        argv += ["--no-compile-bytecode", *pins]
        run_installer(argv, failure=_uv_failure, wheels=wish.built, stop=stop)

    def forget(
        self,
        names: Sequence[str],
        store: Path,
        stop: Stop | None,
    ) -> None:
        """Remove packages from a cache of ours; environments that link their files keep them."""
        argv = [
            self.program,
            "cache",
            "clean",
            "--quiet",
            "--cache-dir",
            str(store),
            *names,
        ]
        run_installer(argv, failure=_uv_failure, stop=stop)


class Pip:
    """The pip of the interpreter that runs us, started by the interpreter to install for."""

    name = "pip"

    def resolve(
        self,
        wish: Wish,
        stop: Stop | None,
    ) -> tuple[str, ...]:
        """As that of uv."""
        if wish.exclude_newer is not None:
            raise MissingExtra("uv", "uv")
        with tempfile.TemporaryDirectory() as made:
            report = Path(made) / "report.json"
            asked = Path(made) / "asked.txt"
            asked.write_text(wish.lines)
            argv = [
                *pip_alone(wish.python),
                "install",
                "--quiet",
                "--dry-run",
                "--ignore-installed",
            ]
            argv += [
                "--only-binary",
                ":all:",
                "--report",
                str(report),
                "--requirement",
                str(asked),
            ]
            run_installer(argv, failure=_pip_failure, wheels=wish.built, stop=stop)
            found = json.loads(report.read_text())["install"]
        for item in found:
            if item["is_direct"]:
                raise _from_address(str(item["metadata"]["name"]))
        return tuple(
            sorted(f"{item['metadata']['name']}=={item['metadata']['version']}" for item in found)
        )

    def install(
        self,
        pins: Sequence[str],
        folder: Path,
        wish: Wish,
        stop: Stop | None,
    ) -> None:
        """As that of uv."""
        argv = [
            wish.python,
            "-I",
            "-m",
            "venv",
            "--without-pip",
            str(folder),
        ]
        run_installer(argv, failure=_venv_failure, stop=stop)
        if not pins:
            return
        argv = [
            *pip_alone(str(folder / "bin" / "python")),
            "install",
            "--quiet",
            "--no-deps",
            "--no-compile",
        ]
        argv += ["--only-binary", ":all:", "--no-warn-script-location", *pins]
        run_installer(argv, failure=_pip_failure, wheels=wish.built, stop=stop)


Installer: TypeAlias = Uv | Pip


def compile_sources(python: str, folder: Path, stop: Stop | None) -> None:
    """Compile what was installed, once, so that not every box does it again.

    The bare interpreter does so, isolated and without `site`: it reads the sources and runs nothing
    of them, and no .pth file of the new environment is looked at. Files that do not compile are
    left as they are.
    """
    run_installer(
        [
            python,
            "-I",
            "-S",
            "-m",
            "compileall",
            "-q",
            "-j",
            "2",
            str(folder / "lib"),
        ],
        stop=stop,
    )


def _uv_options(wish: Wish) -> list[str]:
    """Which build of torch, where the cache lies, and pip's PIP_NO_INDEX, for which uv has no
    variable.
    """
    found = ["--torch-backend", wish.backend] if wish.backend else []
    if wish.store is not None:
        found += ["--cache-dir", str(wish.store)]
    no_index = os.environ.get("PIP_NO_INDEX", "").lower() in ("1", "true", "yes", "on")
    return [*found, "--no-index"] if no_index else found


def pip_alone(python: str) -> list[str]:
    """The words that start our own pip in an interpreter, where it can start no other program."""
    found = importlib.util.find_spec("pip")
    runner = None
    if found and found.origin:
        runner = Path(found.origin).with_name("__pip-runner__.py")
    if runner is None or not runner.exists():
        fix = "python -m pip install --upgrade pip"
        raise MissingPart("pip is not installed, or older than 22.3.", next_step=fix)
    alone = Path(__file__).with_name("pip_alone.py")
    return [
        python,
        "-I",
        str(alone),
        str(runner),
        "--disable-pip-version-check",
        "--no-input",
    ]


def run_installer(
    argv: Sequence[str],
    *,
    failure: Callable[[str], Exception] | None = None,
    stdin: str = "",
    wheels: Path | None = None,
    stop: Stop | None = None,
) -> tuple[str, str]:
    """What an installer prints and complains of, with the user's settings for indexes and no
    others.

    `failure` is what its complaint means; `wheels` is a folder of wheels to look into besides those
    the user named.
    """

    def look() -> None:
        if stop is not None and stop.asked:
            raise ended_by(stop, "Preparing the environment was stopped.")

    try:
        done = run_host_program(
            argv,
            wall_s=WALL_S,
            variables=installer_variables(wheels),
            network=True,
            stdin=stdin.encode(),
            look=look,
        )
    except TimeoutError as error:
        raise ReenactError("The installer took too long and was ended.") from error
    printed = done.stdout.decode(errors="replace")
    complaint = done.stderr.decode(errors="replace")
    if done.returncode != 0 and failure is not None:
        raise failure(complaint)
    return printed, complaint


def _venv_failure(text: str) -> Exception:
    return ReenactError(f"The virtual environment cannot be made: {_clean(text)}")


def _uv_failure(text: str) -> Exception:
    """What uv's complaint means."""
    if match := re.search(r"Package `([^`]+)` was included as a URL dependency", text):
        return _from_address(match[1])
    if match := re.search(r"Wheels are required for `([^`]+)`", text):
        return NoWheel(match[1])
    if match := re.search(r"[Bb]ecause (\S+) was not found", text):
        return InputError(
            f"There is no package named {match[1]} where packages are looked for.",
            next_step=(
                "Check the spelling; it may be made up, or need an index of its own "
                "(PIP_INDEX_URL)."
            ),
        )
    if match := re.search(r"there (?:is|are) no versions? of (\S+)", text):
        before = re.search(r"uploaded before (\d{4}-\d\d-\d\d)", text)
        when = f" that was there before {before[1]}" if before else ""
        says = f"The package {match[1]} cannot be installed: there is no such version{when}."
        return InputError(says, next_step="Ask for another version, or none.")
    return _failure(text)


def _pip_failure(text: str) -> Exception:
    """What pip's complaint means."""
    if REFUSED in text:
        return _from_address("another one")
    missing = re.search(r"No matching distribution found for ([A-Za-z0-9._-]+)", text)
    if missing and not _UNREACHABLE.search(text):
        return NoWheel(missing[1])
    return _failure(text)


def _from_address(name: str) -> InputError:
    """A package asks for another one that lies at an address of its own choice."""
    return InputError(
        f"One of these packages needs {name} from an address of its own (NAME @ ADDRESS), "
        "not from your package index. Packages are installed by name and version alone.",
        next_step=(
            "Ask for another version, or give a wheel of it in a folder named by PIP_FIND_LINKS."
        ),
    )


def _failure(text: str) -> ReenactError:
    if _UNREACHABLE.search(text):
        fix = "Check the network, or name a folder of wheels in PIP_FIND_LINKS."
        return ReenactError("The package index cannot be reached.", next_step=fix)
    if "No space left" in text:
        fix = "Free some space; prepared environments lie in the folder that cache_dir names."
        return StorageError(
            "The disk is full: an environment could not be prepared.", next_step=fix
        )
    return InputError(f"These packages cannot be installed together: {_clean(text)}")


def _clean(text: str) -> str:
    """The cause in a few lines, without addresses, which may hold a user's password."""
    text = re.sub(r"\w+://\S+", "[address]", text)
    lines = [re.sub(r"^\s*(?:error|ERROR|cause)?\s*:?\s*", "", line) for line in text.splitlines()]
    return " ".join(line for line in lines if line)[:600]
