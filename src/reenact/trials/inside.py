"""Modules of `inject/` in this process: what runs beside a trial and what we do ourselves are one text."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

INJECTED = Path(__file__).parent / "inject"
"""Files that run in the user's interpreter beside a trial."""


@cache
def injected(name: str) -> ModuleType:
    """A module of that folder, without the folder on the path."""
    spec = importlib.util.spec_from_file_location(name, INJECTED / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
