"""Class names that a tree uses twice: one noun, one class.

Counted are classes that a folder outside of their own imports, from their module or from its package:
the reader of such a name has to know which one it is. What a folder keeps to itself may be called anything.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from structure_tree import Module

STILL_SHARED = frozenset(
    {
        "Entry",
        "Environment",
        "Judgement",
        "Kind",
        "Outcome",
        "Reproduction",
        "Scope",
        "Section",
        "TrainingOptions",
        "Verdict",
    }
)
"""Names that are still used twice; a name leaves this list with its second class."""


@dataclass(frozen=True)
class PublicClass:
    """A class that another folder imports."""

    name: str
    place: str
    """File and line."""


def classes_used_twice(modules: Collection[Module]) -> dict[str, list[PublicClass]]:
    """The public classes of each name that more than one of them has."""
    imported = set(_imported(modules))
    public: dict[str, list[PublicClass]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and _is_public(module, node.name, imported):
                known = PublicClass(node.name, f"{module.file}:{node.lineno}")
                public.setdefault(node.name, []).append(known)
    return {name: classes for name, classes in sorted(public.items()) if len(classes) > 1}


def _is_public(module: Module, name: str, imported: set[tuple[str, str, str]]) -> bool:
    folder = _folder(module)
    homes = (module.name, folder)
    return any(
        home in homes and known == name and not f"{reader}.".startswith(f"{folder}.")
        for home, known, reader in imported
    )


def _imported(modules: Collection[Module]) -> Iterator[tuple[str, str, str]]:
    """From which module which name is imported, and in which folder."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    yield node.module, alias.name, _folder(module)


def _folder(module: Module) -> str:
    """The package that a module lies in; of a package itself."""
    if module.is_package:
        return module.name
    return module.name.rpartition(".")[0]
