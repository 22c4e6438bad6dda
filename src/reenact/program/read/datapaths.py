"""Which data file an expression reads: `yaml.safe_load(open(os.path.join(HERE, "config.yaml")))`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import PurePosixPath

from reenact.program.datafile import BadData, Entry, read_data
from reenact.program.program import Program
from reenact.program.read.ends import End
from reenact.program.read.index import DATA_SUFFIXES
from reenact.program.read.scope import How, Scope, argument, receiver
from reenact.program.read.sources import Sources
from reenact.program.source import SourceFile, words

LOADERS = frozenset(
    words(
        "json.load json.loads yaml.load yaml.safe_load yaml.full_load yaml.unsafe_load "
        "omegaconf.OmegaConf.load ruamel.yaml.safe_load orjson.loads ujson.load simplejson.load"
    )
)
FILE_STEPS = frozenset(words("open read read_text read_bytes resolve absolute expanduser as_posix"))

Follow = Callable[[ast.AST, Scope], list[End]]


def loaded_file(sources: Sources, call: ast.Call, scope: Scope, follow: Follow) -> tuple[str, Entry] | None:
    """The data file that a loader call reads, with its values."""
    if not call.args:
        return None
    for name in _paths(call.args[0], scope, follow, 0):
        file = _find(sources.program, name)
        if file is None:
            continue
        try:
            return str(file.path), read_data(file)
        except BadData:
            return None
    return None


def _find(program: Program, name: str) -> SourceFile | None:
    wanted = PurePosixPath(name.replace("\\", "/"))
    candidates = [file for file in program.files if file.path.name == wanted.name]
    candidates.sort(key=lambda file: -_common_tail(file.path, wanted))
    return candidates[0] if candidates else None


def _common_tail(one: PurePosixPath, other: PurePosixPath) -> int:
    count = 0
    for left, right in zip(reversed(one.parts), reversed(other.parts), strict=False):
        if left != right:
            break
        count += 1
    return count


def _paths(node: ast.expr, scope: Scope, follow: Follow, depth: int) -> list[str]:
    """File names that an expression may denote: the last string in a path expression is the name."""
    if depth > 8:
        return []
    if isinstance(node, ast.Name):
        found = scope.find(node.id)
        with_value = [b.value for b in found[1] if b.how is How.WITH and b.value is not None] if found else []
        if with_value and found:
            return _paths(with_value[-1], found[0], follow, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
        return _paths(node.right, scope, follow, depth + 1)
    if isinstance(node, ast.Call):
        return _call_paths(node, scope, follow, depth)
    return _followed(node, scope, follow, depth)


def _followed(node: ast.AST, scope: Scope, follow: Follow, depth: int) -> list[str]:
    found: list[str] = []
    for end in follow(node, scope):
        value = end.given.value if end.given is not None else end.literal()
        if isinstance(value, str) and value.endswith(DATA_SUFFIXES):
            found.append(value)
        elif end.node is not node and isinstance(end.node, ast.Call | ast.BinOp):
            found += _paths(end.node, end.scope, follow, depth + 1)
    return found


def _call_paths(node: ast.Call, scope: Scope, follow: Follow, depth: int) -> list[str]:
    base = receiver(node)
    if isinstance(node.func, ast.Attribute) and node.func.attr in FILE_STEPS and base is not None:
        found = _paths(base, scope, follow, depth + 1)
        if found:
            return found
    inside = [part for part in reversed(node.args) if not isinstance(part, ast.Starred)]
    inside += [part for part in (argument(node, None, "file", "path", "stream"),) if part is not None]
    for part in inside:
        found = _paths(part, scope, follow, depth + 1)
        if found:
            return found
    return []
