"""What a run depends on besides the program's text: folder, environment, interpreter, machine,
files.

Every variable of the environment counts, because a program may put its name together, go through
all of them, or read them below Python; only those do not that a session changes by itself
(`PASSING`). Values may be secret: marks of them are kept, never the values.

Files are those that the watched run looked at (`opened.py`). Cores and devices: `machine.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache

from reenact.host_program import ask_users_interpreter
from reenact.probe import injected
from reenact.probe.machine import machine
from reenact.probe.opened import Opened
from reenact.program.program import Program
from reenact.types import JsonValue

PREFIXES = (
    "ACCELERATE_",
    "CUBLAS",
    "CUDA",
    "CUDNN",
    "DATASETS_",
    "GOMP_",
    "HF_",
    "HSA_",
    "JAX_",
    "KERAS",
    "KMP_",
    "LD_",
    "LIGHTNING_",
    "MASTER_",
    "MIOPEN_",
    "MKL_",
    "NCCL",
    "NUMEXPR_",
    "NVIDIA_",
    "OMP_",
    "OPENBLAS",
    "PL_",
    "PYTHON",
    "PYTORCH",
    "ROCM_",
    "TF_",
    "TORCH",
    "TRANSFORMERS_",
    "TRITON",
    "XLA_",
)
NAMES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "VIRTUAL_ENV", "CONDA_PREFIX"})
PASSING = frozenset(
    {
        "_",
        "COLORTERM",
        "COLUMNS",
        "DBUS_SESSION_BUS_ADDRESS",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "LINES",
        "OLDPWD",
        "PWD",
        "PYTEST_CURRENT_TEST",
        "SESSION_MANAGER",
        "SHLVL",
        "STY",
        "SYSTEMD_EXEC_PID",
        "TERM",
        "TMUX",
        "TMUX_PANE",
        "VTE_VERSION",
        "WINDOW",
        "WINDOWID",
    }
)
PASSING_PREFIXES = (
    "GNOME_TERMINAL_",
    "ITERM_",
    "KITTY_",
    "KONSOLE_",
    "REENACT_",
    "SSH_",
    "TERM_",
    "VSCODE_",
    "WEZTERM_",
    "XDG_SESSION_",
)
"""What a shell, a terminal or a session sets by itself, and our own; the folder counts on its
own.
"""
MARK_LENGTH = 4
"""Hexadecimal digits of the mark of one variable: they say which one changed, and are too few to
guess its value.
"""
LEAST_PREFIX = 3
"""Letters of a word that may begin the name of a variable."""
STARTING_S = 60.0
_ASK = """
import sys
sys.path = [folder for folder in sys.path if folder]
import json, os
names = {name for folder in sys.path if os.path.isdir(folder) for name in os.listdir(folder)}
packages = sorted(name for name in names if name.endswith((".dist-info", ".egg-info", ".egg-link")))
import sysconfig
library = sorted({os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
library += [sysconfig.get_path("stdlib")]
stated = {"version": sys.version, "prefix": sys.prefix, "packages": packages, "library": library}
json.dump(stated, sys.stdout)
"""
"""Which interpreter this is and which packages it sees: only the names of folders are read. What
the current folder holds is never imported.
"""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_THIS_PROCESS = secrets.token_hex(16)


def surroundings(program: Program, python: str = "") -> dict[str, JsonValue]:
    """All of it but the files, as inputs of a step."""
    variables = counted_variables(os.environ)
    marks: dict[str, JsonValue] = {
        name: _mark(f"{name}={value}")[:MARK_LENGTH] for name, value in variables.items()
    }
    devices: dict[str, JsonValue] = dict(machine().items())
    return {
        "folder": str(program.folder.resolve()),
        "working": str(program.working.resolve()),
        "variables": marks,
        "environment": _mark(json.dumps(variables)),
        "interpreter": interpreter(injected.default_python(python)),
        "machine": devices,
    }


def training_mark(program: Program, python: str, opened: Opened | None) -> str:
    """Mark of what a training depends on besides its text, seed and limits: the surroundings, and
    what the watched run looked at, as it is. Where that run did not show it, it is another mark in
    every process, so that nothing is reused.
    """
    read = (opened.digest if opened is not None else "") or _THIS_PROCESS
    return _mark(
        json.dumps(
            [surroundings(program, python), read],
            sort_keys=True,
        )
    )


def differing(
    earlier: Mapping[str, JsonValue],
    now: Mapping[str, JsonValue],
) -> list[str]:
    """In words, what of the surroundings is not what it was at an earlier run."""
    before = earlier.get("variables")
    after = now.get("variables")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        if earlier.get("environment") != now.get("environment"):
            return ["the environment"]
        return []
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    found = [f"the environment variable {name}" for name in names]
    if not found and earlier.get("environment") != now.get("environment"):
        found.append("the environment")
    words = {
        "folder": "the folder",
        "working": "the working folder",
        "interpreter": "the interpreter or its packages",
        "machine": "the number of cores or the devices",
    }
    return found + [word for key, word in words.items() if earlier.get(key) != now.get(key)]


def counted_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables that count, in order."""
    return {
        name: environment[name]
        for name in sorted(environment)
        if name not in PASSING and not name.startswith(PASSING_PREFIXES)
    }


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def named_variables(
    texts: Iterable[str],
    environment: Mapping[str, str],
) -> dict[str, str]:
    """Those variables of the environment that a program with these texts names, or that frameworks
    read: what goes with it to another machine.
    """
    words = {word for text in texts for word in _WORD.findall(text)}

    def counts(name: str) -> bool:
        if name in words or name in NAMES or name.startswith(PREFIXES):
            return True
        breaks = [
            match.start() for match in re.finditer("_", name) if match.start() >= LEAST_PREFIX
        ]
        return any(
            name[:at].isupper()
            and not words.isdisjoint(
                (
                    name[:at],
                    name[: at + 1],
                )
            )
            for at in breaks
        )

    return {
        name: environment[name]
        for name in sorted(environment)
        if name not in PASSING and counts(name)
    }


def interpreter(python: str) -> str:
    """Mark of an interpreter and the packages that it sees."""
    path = shutil.which(python) or python
    return hashlib.sha256(os.fsencode(path) + b"\0" + _asked(path)).hexdigest()


def packages_of(python: str) -> dict[str, str]:
    """Names and versions of the packages that an interpreter sees, its own version as `python`;
    empty where it cannot be started.
    """
    try:
        answer = json.loads(_asked(shutil.which(python) or python))
    except ValueError:
        return {}
    listed = (name.rpartition(".")[0].split("-") for name in answer["packages"])
    known = {parts[0].lower(): parts[1] for parts in listed if len(parts) > 1}
    return {"python": answer["version"].split()[0], **known}


def standard_library(python: str) -> tuple[str, ...]:
    """Folders of the modules that come with an interpreter; none where it cannot be started."""
    try:
        return tuple(json.loads(_asked(shutil.which(python) or python))["library"])
    except (ValueError, KeyError):
        return ()


@cache
def _asked(path: str) -> bytes:
    """What an interpreter says of itself; asked once a process, by starting it."""
    try:
        finished = ask_users_interpreter([path, "-c", _ASK], STARTING_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        # A program of this interpreter will not run either, and its run says why.
        return type(error).__name__.encode()
    return finished.stdout
