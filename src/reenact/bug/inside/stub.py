"""Empty modules in place of those that are not installed and that the user gave up."""

from __future__ import annotations

import sys
import types
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any


class Nothing:
    """What a stub holds under every name: it may be named, subclassed and passed on, never called."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this module is a stub: it is not installed")

    def __getattr__(self, name: str) -> Any:
        return _under(name)


class Finder(MetaPathFinder, Loader):
    """Asked last, so that a module that is there is taken as it is."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.used: list[str] = []

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname.split(".")[0] not in self.names:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        made = types.ModuleType(spec.name)
        vars(made)["__getattr__"] = _under
        self.used.append(spec.name)
        return made

    def exec_module(self, module: types.ModuleType) -> None: ...


def stand_in(names: list[str]) -> list[str]:
    """Stand in for these modules where they are missing; the list fills with those that were used."""
    finder = Finder(names)
    if names:
        sys.meta_path.append(finder)
    return finder.used


def _under(name: str) -> Nothing:
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing()
