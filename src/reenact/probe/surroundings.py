"""What a run of a program depends on beside its files: folder, environment, interpreter, packages.

Of the environment those variables count that a word of the program's text names, whose name begins with such
a word and an underscore, and those that torch, Keras, CUDA and the interpreter read. Their values may be
secret: a mark of them is kept, never the values.
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

from reenact.probe import injected
from reenact.probe.opened import Opened
from reenact.probe.run import default_python
from reenact.program.program import Program
from reenact.types import JsonValue

PREFIXES = (
    "ACCELERATE_", "CUBLAS", "CUDA", "CUDNN", "DATASETS_", "GOMP_", "HF_", "HSA_", "JAX_", "KERAS",
    "KMP_", "LD_", "LIGHTNING_", "MASTER_", "MIOPEN_", "MKL_", "NCCL", "NUMEXPR_", "NVIDIA_", "OMP_",
    "OPENBLAS", "PL_", "PYTHON", "PYTORCH", "ROCM_", "TF_", "TORCH", "TRANSFORMERS_", "TRITON", "XLA_",
)  # fmt: skip
NAMES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "VIRTUAL_ENV", "CONDA_PREFIX"})
PASSING = frozenset({"_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES"})
"""What a shell changes by itself; the folder counts on its own."""
LEAST_PREFIX = 3
"""Letters of a word that may begin the name of a variable."""
STARTING_S = 60.0
_ASKED = injected.FOLDER / "reenact_packages.py"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def surroundings(program: Program, python: str = "") -> dict[str, JsonValue]:
    """All of it, as inputs of a step."""
    chosen = named_variables((file.text for file in program.files), os.environ)
    names: list[JsonValue] = list(chosen)
    return {
        "folder": str(program.folder.resolve()),
        "working": str(program.working.resolve()),
        "variables": names,
        "environment": hashlib.sha256(json.dumps(chosen).encode()).hexdigest(),
        "interpreter": interpreter(default_python(python)),
    }


def training_mark(program: Program, python: str, opened: Opened) -> str:
    """Mark of what a training depends on beside its text, seed and limits: the surroundings, and the files
    that the watched run opened, as they are. Where that run did not show which, it is another mark in every
    process, so that nothing is reused."""
    read = opened.digest or _this_process()
    text = json.dumps([surroundings(program, python), read], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _this_process() -> str:
    return secrets.token_hex(16)


def named_variables(texts: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables of the environment that a program with these texts may read."""
    words = {word for text in texts for word in _WORD.findall(text)}

    def counts(name: str) -> bool:
        if name in PASSING:
            return False
        if name in words or name in NAMES or name.startswith(PREFIXES):
            return True
        return any(
            name[:at] in words or name[: at + 1] in words
            for at in (match.start() for match in re.finditer("_", name))
            if at >= LEAST_PREFIX and name[:at].isupper()
        )

    return {name: environment[name] for name in sorted(environment) if counts(name)}


@cache
def interpreter(python: str) -> str:
    """Mark of an interpreter and the packages that it sees; asked once a process, by starting it."""
    found = shutil.which(python) or python
    try:
        finished = subprocess.run(  # noqa: S603 - the user's own interpreter
            [found, str(_ASKED)],
            capture_output=True,
            timeout=STARTING_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        answer = finished.stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        # A program of this interpreter will not run either, and its run says why.
        answer = type(error).__name__.encode()
    return hashlib.sha256(os.fsencode(found) + b"\0" + answer).hexdigest()
