"""Where MinerU is on this machine, and what of it a box must see: program and weights, none of its keys."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import ResultRefused
from reenact.files import read_bytes
from reenact.sandbox.box import Mount
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.sandbox.isolation.view import interpreter_folders

COMMAND = "mineru"
SETTINGS = "mineru.json"


@dataclass(frozen=True, slots=True)
class Installation:
    """MinerU on this machine, as a box must see it."""

    program: str
    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]
    settings: bytes
    """What goes in as its settings: the folders of its weights, nothing else."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights that MinerU fetched: by what is known of them."""

    source: str
    """What MinerU calls the place they are from."""
    folder: Path
    """What is shown: weights alone. Beside them lie the user's tokens."""
    variable: tuple[str, str]


def installed(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Installation | None:
    """The `mineru` command of this machine with what it needs; none when it is not there."""
    environ = os.environ if environ is None else environ
    home = home or Path.home()
    found = shutil.which(COMMAND, path=environ.get("PATH"))
    if found is None:
        return None
    program = Path(found).resolve()
    models, caches = _models(environ, home), _caches(environ, home)
    sources = ["local"] if models else [one.source for one in caches]
    variables = {"MINERU_DEVICE_MODE": "cpu", "HF_HUB_OFFLINE": "1", **dict(one.variable for one in caches)}
    if sources:
        variables["MINERU_MODEL_SOURCE"] = sources[0]
    if _is_user_site(program):
        variables["PYTHONUSERBASE"] = str(program.parent.parent)
    folders = [*_program(program), *map(_whole, models.values()), *(one.folder for one in caches)]
    # These every box sees already.
    seen = ("/usr", *interpreter_folders())
    shown = dict.fromkeys(path for path in folders if not any(map(path.is_relative_to, seen)))
    settings = {"models-dir": {name: str(path) for name, path in models.items()}}
    return Installation(
        str(program),
        tuple(Mount(path, str(path)) for path in shown),
        variables,
        json.dumps(settings).encode(),
    )


def _program(program: Path) -> list[Path]:
    """The command, its environment, and the installation behind it."""
    prefix = program.parent.parent
    if (prefix / "pyvenv.cfg").is_file():
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
        homes = [line.partition("=")[2].strip() for line in lines if line.split("=")[0].strip() == "home"]
        return [prefix, *(Path(home).resolve().parent for home in homes)]
    if (prefix / "conda-meta").is_dir():
        return [prefix]
    return [program, *(sorted(prefix.glob("lib/python3*")) if _is_user_site(program) else [])]


def _is_user_site(program: Path) -> bool:
    return program.parent.name == "bin" and program.parent.parent.name == ".local"


def _models(environ: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Folders of weights that MinerU's own settings name."""
    file = home / (environ.get("MINERU_TOOLS_CONFIG_JSON") or SETTINGS)
    try:
        settings = read_json(read_bytes(file, MOST_BYTES))
    except (OSError, ResultRefused):
        return {}
    named = settings.get("models-dir") if isinstance(settings, dict) else None
    if not isinstance(named, dict):
        return {}
    paths = {name: Path(path) for name, path in named.items() if isinstance(path, str)}
    return {name: path for name, path in paths.items() if path.is_absolute() and path.is_dir()}


def _whole(weights: Path) -> Path:
    """A snapshot of a hub is made of links into the folder above it."""
    above = [one for one in weights.parents if one.name == "snapshots"]
    return above[0].parent if above else weights


def _caches(environ: Mapping[str, str], home: Path) -> list[_Weights]:
    hugging = Path(environ.get("HF_HOME") or home / ".cache/huggingface")
    hub = Path(environ.get("HF_HUB_CACHE") or hugging / "hub")
    scope = Path(environ.get("MODELSCOPE_CACHE") or home / ".cache/modelscope")
    known = [
        _Weights("huggingface", hub, ("HF_HUB_CACHE", str(hub))),
        _Weights("modelscope", scope / "hub", ("MODELSCOPE_CACHE", str(scope))),
    ]
    source = environ.get("MINERU_MODEL_SOURCE", "")
    there = [one for one in known if one.folder.is_dir()]
    return sorted(there, key=lambda one: one.source != source)
