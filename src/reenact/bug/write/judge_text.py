"""The part of the judge that a repro.py needs: under names that no script uses, without notes."""

from __future__ import annotations

import ast
from importlib.resources import files

PREFIX = "_judge_"


def judge_text(*wanted: str) -> str:
    """Source code of these functions of inside/judge.py and of all that they call."""
    tree = ast.parse(files("reenact.bug.inside").joinpath("judge.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    needed = _closure(functions, wanted)
    modules = [one.name for node in tree.body if isinstance(node, ast.Import) for one in node.names]
    used = {node.id for name in needed for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
    renaming = _Renaming({*functions, *modules})
    imports = [f"import {name} as {PREFIX}{name}" for name in modules if name in used]
    defined = [ast.unparse(renaming.visit(node)) for name, node in functions.items() if name in needed]
    return "\n\n\n".join(["\n".join(imports), *defined]).strip() + "\n"


def _closure(functions: dict[str, ast.FunctionDef], wanted: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        named = (node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name))
        waiting += [one for one in named if one in functions]
    return found


class _Renaming(ast.NodeTransformer):
    """Prefixes names, drops notes and annotations."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self._names:
            node.id = f"{PREFIX}{node.id}"
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None
        made = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(made, node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = f"{PREFIX}{node.name}"
        node.returns = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)
