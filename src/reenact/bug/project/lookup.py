"""A dotted name -> what it is in the project, through imports, re-exports and star imports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from reenact.bug.project.files import ProjectFiles
from reenact.bug.project.module import Alias, Class, Function, Module, Value, read_module

DEEPEST = 12
"""Re-exports that are followed one after another."""


@dataclass(frozen=True)
class Outside:
    """A name of another library."""

    name: str


@dataclass(frozen=True)
class Absent:
    """A name that is certainly not there."""

    module: str
    name: str
    known: tuple[str, ...] = ()
    """What is there instead."""


Found: TypeAlias = Module | Function | Class | Value | Outside | Absent


@dataclass
class Project:
    """The project's modules, parsed when they are asked for."""

    files: ProjectFiles
    copies: dict[str, bool] = field(default_factory=dict)
    """Bodies of definitions -> whether the project holds them too, as far as anybody asked."""
    _parsed: dict[str, Module | None] = field(default_factory=dict)

    def owns(self, dotted: str) -> bool:
        """Whether an import of that name would come from the project."""
        return dotted.partition(".")[0] in self.files.packages

    def module(self, name: str) -> Module | None:
        """The module of that dotted name; none when there is none or it does not parse."""
        if name not in self._parsed:
            path = self.files.modules.get(name)
            self._parsed[name] = read_module(name, path, self.files.text(path)) if path is not None else None
        return self._parsed[name]

    def find(self, dotted: str, depth: int = 0) -> Found:
        """What the dotted name is."""
        if not self.owns(dotted):
            return Outside(dotted)
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            name = ".".join(parts[:size])
            if name in self.files.modules:
                found: Found = self.module(name) or Value()
                return self._inside(found, parts[size:], depth)
        if any(name.startswith(f"{dotted}.") for name in self.files.modules):
            return Value()
        return self._missing_module(parts)

    def member(self, module: Module, name: str, depth: int = 0) -> Found:
        """What a module holds under a name."""
        found = module.names.get(name)
        if isinstance(found, Alias):
            itself = f"{module.name}.{name}"
            if depth >= DEEPEST or found.target == itself:
                return Value()
            return self.find(found.target, depth + 1)
        if found is not None:
            return found
        below = f"{module.name}.{name}"
        if below in self.files.modules:
            return self.module(below) or Value()
        if name.startswith("__") and name.endswith("__"):
            return Value()
        return self._starred(module, name, depth)

    def _inside(self, found: Found, parts: list[str], depth: int) -> Found:
        """Follow attributes as far as they are module members; the rest is for whoever knows classes."""
        for part in parts:
            if isinstance(found, Absent | Outside):
                return found
            if not isinstance(found, Module):
                return Value()
            found = self.member(found, part, depth)
        return found

    def _starred(self, module: Module, name: str, depth: int) -> Found:
        for source in module.stars:
            if not self.owns(source) or depth >= DEEPEST:
                return Value()
            found = self.find(f"{source}.{name}", depth + 1)
            if not isinstance(found, Absent):
                return found
        if module.is_open:
            return Value()
        return Absent(
            module.name, name, tuple(sorted(one for one in module.names if not one.startswith("_")))
        )

    def _missing_module(self, parts: list[str]) -> Absent:
        above = ".".join(parts[:-1])
        near = tuple(sorted(name for name in self.files.modules if name.startswith(f"{parts[0]}")))
        return Absent(above, parts[-1], near[:40])
