"""The folder that goes into watched programs, and the environment that makes an interpreter
load it.
"""

import importlib
import json
import os
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from reenact.probe.options import WatchOptions
from reenact.settings import STUDY_URL

FOLDER = Path(__file__).parent / "inject"
PACKAGE = "reenact_probe"
VARIABLE = "REENACT_PROBE"


def environment(
    options: WatchOptions,
    base: Mapping[str, str],
    *,
    folder: str | None = None,
    inject: str | None = None,
    modules: str = "",
) -> dict[str, str]:
    """`base` with what the probe needs; `folder` and `inject` when they lie elsewhere for the
    program (in a box). From `modules` it imports as from its own folder.
    """
    variables = dict(base) | dict(options.environment)
    variables.pop(STUDY_URL, None)
    path = [
        inject or str(FOLDER),
        *filter(None, [modules, variables.get("PYTHONPATH")]),
    ]
    variables["PYTHONPATH"] = os.pathsep.join(path)
    variables[VARIABLE] = json.dumps(options.as_config(folder or str(options.folder.resolve())))
    # A window would wait for somebody to close it.
    variables.setdefault("MPLBACKEND", "Agg")
    return variables


def load() -> ModuleType:
    """The injected package in this process, under the one name it has everywhere."""
    if PACKAGE not in sys.modules:
        spec = PathFinder.find_spec(PACKAGE, [str(FOLDER)])
        if spec is None or spec.loader is None:
            raise ImportError(f"The package to inject is not in {FOLDER}.")
        sys.modules[PACKAGE] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[PACKAGE])
    return sys.modules[PACKAGE]


def part(name: str) -> Any:
    """A module of the injected package, loaded on use."""
    load()
    return importlib.import_module(f"{PACKAGE}.{name}")


def default_python(chosen: str = "") -> str:
    """The interpreter to use: the chosen one, the active virtual environment's, or our own."""
    active = Path(os.environ.get("VIRTUAL_ENV") or "/nowhere") / "bin" / "python"
    return chosen or (str(active) if active.is_file() else sys.executable)
