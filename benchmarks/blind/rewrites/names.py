"""Other names for what a program itself defines."""

from __future__ import annotations

import ast
import keyword

from benchmarks.blind.rewrites.own import (
    Owned,
    Parameters,
    is_own_access,
    own_parameters,
    owned,
    reads_names,
)
from benchmarks.blind.rewrites.scopes import Scopes, Use
from benchmarks.blind.rewrites.substitute import substituted
from benchmarks.blind.rewrites.text import Project, fresh_names

SPARED = frozenset({"self", "cls", "_", "__class__"})


def renamed(project: Project) -> Project:
    """One word has one new word everywhere, so that no two things are mixed up."""
    scopes = {path: Scopes(source.tree) for path, source in project.files.items()}
    own = owned(project, scopes)
    chooser = _Chooser(project, own, own_parameters(own), looks=reads_names(own))
    return project.with_files(
        {
            path: substituted(source, chooser.words(scopes[path]))
            for path, source in project.files.items()
        }
    )


class _Chooser:
    """Which uses of a name get a new one, and which."""

    def __init__(
        self, project: Project, own: Owned, parameters: Parameters, *, looks: bool
    ) -> None:
        self._fresh = fresh_names(project, "v")
        self._new: dict[str, str] = {}
        self._own, self._parameters, self._looks = own, parameters, looks
        self._project = project
        self._is_alone = len(project.files) == 1

    def words(self, scopes: Scopes) -> dict[ast.AST, dict[str, str]]:
        """New words by node of one file."""
        found: dict[ast.AST, dict[str, str]] = {}
        for use in scopes.uses:
            if self._may_rename(use, scopes):
                found.setdefault(use.node, {})[use.name] = self._name(use.name)
        for node in ast.walk(scopes.module.node):
            if isinstance(node, ast.Attribute) and self._is_own_attribute(node, scopes):
                found.setdefault(node, {})[node.attr] = self._name(node.attr)
            elif isinstance(node, ast.keyword) and node in self._parameters.of_call:
                name = self._parameters.of_call[node]
                if _is_free(name):
                    found.setdefault(node, {})[name] = self._name(name)
        return found

    def _name(self, old: str) -> str:
        if old not in self._new:
            self._new[old] = next(self._fresh)
        return self._new[old]

    def _is_own_attribute(self, node: ast.Attribute, scopes: Scopes) -> bool:
        return node.attr in self._own.attributes and is_own_access(node, scopes)

    def _may_rename(self, use: Use, scopes: Scopes) -> bool:
        owner = use.owner
        if owner is None or not _is_free(use.name) or self._looks:
            return False
        if owner.is_class:
            return use.name in self._own.attributes
        if use.name in owner.imported:
            return False
        if use.name in owner.parameters:
            return use.name in self._parameters.of_function.get(owner.node, frozenset())
        return owner is not scopes.module or self._may_rename_at_the_top(use.name)

    def _may_rename_at_the_top(self, name: str) -> bool:
        """What another file may import, or a data file may name, keeps its name."""
        return self._is_alone and name not in self._project.data


def _is_free(name: str) -> bool:
    is_special = name.startswith("__") or name in SPARED or keyword.iskeyword(name)
    return not is_special
