"""Which log files the code of a project names: nobody else knows where it writes its curves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reenact.codegen.project import METRICS, Project

MOST = 12
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".log")
_NAME = re.compile(r"(?:[\w-][\w.-]*/){0,3}[\w-][\w.-]*")


def log_names(project: Project, seed: int) -> tuple[str, ...]:
    """Files that a run with this seed may leave its curves in; files of the project itself are none."""
    found: dict[str, None] = {}
    for tree in project.trees().values():
        for node in ast.walk(tree):
            for name in _named(node, seed):
                found[name.removeprefix("./")] = None
    worth = (name for name in found if name.endswith(SUFFIXES) and _NAME.fullmatch(name))
    return tuple(name for name in worth if name not in project.files and name != METRICS)[:MOST]


def _named(node: ast.AST, seed: int) -> Iterator[str]:
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        text = _text(node, seed)
        if text:
            yield text


def _text(node: ast.expr, seed: int) -> str:
    """A literal, one with the seed in it, or folders and a name joined by `/`; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and len(node.value) < 200 else ""
    if isinstance(node, ast.JoinedStr):
        parts = [
            str(seed) if isinstance(part, ast.FormattedValue) and _is_seed(part.value) else _text(part, seed)
            for part in node.values
        ]
        return "".join(parts) if all(parts) else ""
    if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func).endswith("Path"):
        return _text(node.args[0], seed)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        folder, name = _text(node.left, seed), _text(node.right, seed)
        return f"{folder}/{name}" if folder and name else ""
    return ""


def _is_seed(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] == "seed"
