"""The trail of a value: one object owns the recursion and knows what is being followed, through
which calls, and how far it may go. Here are its limits; `members` and `follow` add the steps. At
the end: which data file an expression reads, and which assignment certainly ran before a use.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import TypeVar

from reenact.program.flow.ends import End, Frame
from reenact.program.flow.sources import Sources
from reenact.program.hyperparameter import Written
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.datafile import DataEntry, entries_of
from reenact.program.syntax.index import DATA_SUFFIXES
from reenact.program.syntax.scope import Binding, FileIndex, Scope, Store, bindings_of
from reenact.program.syntax.source import shared_end
from reenact.program.syntax.targets import How

MAX_DEPTH = 24
MAX_ENDS = 12
MAX_PATH_DEPTH = 8
MAX_STEPS = 500
"""A trail through functions that everybody calls would fork without end; a real one takes a few
dozen steps.
"""
LOADERS = frozenset(
    {
        "json.load",
        "json.loads",
        "yaml.load",
        "yaml.safe_load",
        "yaml.full_load",
        "yaml.unsafe_load",
        "omegaconf.OmegaConf.load",
        "ruamel.yaml.safe_load",
        "orjson.loads",
        "ujson.load",
        "simplejson.load",
    }
)
Item = TypeVar("Item", Binding, Store)
FILE_STEPS = frozenset(
    {
        "open",
        "read",
        "read_text",
        "read_bytes",
        "resolve",
        "absolute",
        "expanduser",
        "as_posix",
    }
)


class Trail(ABC):
    """Follows values through one program."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._active: set[object] = set()
        """Expressions, and names of other files, between here and where the trail began."""
        self._frames: list[Frame] = []
        self._fuel = 0
        self._known: dict[tuple[ast.AST, Written], list[End]] = {}

    def follow(
        self,
        node: ast.AST,
        written: Written = Written.LITERAL,
    ) -> list[End]:
        """All ends of the trail that begins at an expression."""
        if self._active or self._frames:
            return self._follow(node, written)
        key = (node, written)
        if key not in self._known:
            self._fuel = MAX_STEPS
            self._known[key] = self._follow(node, written)
        return self._known[key]

    def _follow(self, node: ast.AST, written: Written) -> list[End]:
        here = [
            End(
                node,
                written,
                frames=tuple(self._frames),
            )
        ]
        self._fuel -= 1
        if self._fuel < 0 or len(self._active) > MAX_DEPTH or node in self._active:
            return here
        with self._entered(node):
            found = self.step(node, written)
        return distinct(found)[:MAX_ENDS] if found else here

    @contextmanager
    def _entered(self, what: object) -> Iterator[None]:
        self._active.add(what)
        try:
            yield
        finally:
            self._active.discard(what)

    @contextmanager
    def within(self, frames: Sequence[Frame]) -> Iterator[None]:
        """Go on inside the calls that a trail went through: parameters then mean what those
        calls gave.
        """
        before = self._frames
        self._frames = list(frames)
        try:
            yield
        finally:
            self._frames = before

    def single(self, node: ast.AST | None) -> End | None:
        found = self.follow(node) if node is not None else []
        return found[0] if len(found) == 1 else None

    def returned(self, function: Scope) -> list[End]:
        """The ends of a function's only return."""
        returns = function.returned()
        if len(returns) == 1:
            return self.follow(returns[0])
        return []

    def module_name(self, module: Scope, name: str) -> list[End]:
        """A name at the top of another file."""
        bindings = module.bindings.get(name, [])
        if len(bindings) != 1 or bindings[0] in self._active:
            return []
        with self._entered(bindings[0]):
            return self.bound(bindings[0])

    @abstractmethod
    def step(self, node: ast.AST, written: Written) -> list[End]:
        """Where one step from an expression leads; empty when the trail ends there."""

    @abstractmethod
    def bound(self, binding: Binding) -> list[End]:
        """The ends of what a binding gives to its name."""


def loaded_file(trail: Trail, call: ast.Call) -> tuple[str, DataEntry] | None:
    """The data file that a loader call reads, with its values."""
    paths = _paths(trail, call.args[0]) if call.args else ()
    return next(
        filter(None, (named_file(trail, name) for name in paths)),
        None,
    )


def named_file(trail: Trail, name: str) -> tuple[str, DataEntry] | None:
    """The data file of the program that a path means, with its values."""
    wanted = PurePosixPath(name.replace("\\", "/"))
    files = [file for file in trail.sources.program.files if file.path.name == wanted.name]
    near = max(files, key=lambda file: shared_end(file.path, wanted), default=None)
    entry = entries_of(near) if near is not None else None
    if near is not None and entry is not None:
        return (str(near.path), entry)
    return None


def _paths(
    trail: Trail,
    node: ast.expr,
    depth: int = 0,
) -> list[str]:
    """File names that an expression may denote: the last string in a path expression is the
    name.
    """
    if depth > MAX_PATH_DEPTH:
        return []
    if isinstance(node, ast.Call):
        inside = [part for part in reversed(node.args) if not isinstance(part, ast.Starred)]
        inside += [part for part in (keyword(node, "file", "path", "stream"),) if part is not None]
        if isinstance(node.func, ast.Attribute) and node.func.attr in FILE_STEPS:
            inside.insert(0, node.func.value)
        return next(
            filter(
                None,
                (_paths(trail, part, depth + 1) for part in inside),
            ),
            [],
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
        return _paths(trail, node.right, depth + 1)
    opened = [b.value for b in bindings_of(node) if b.how is How.WITH and b.value is not None]
    if opened:
        return _paths(trail, opened[-1], depth + 1)
    found: list[str] = []
    for end in trail.follow(node):
        if isinstance(end.in_force, str) and end.in_force.endswith(DATA_SUFFIXES):
            found.append(end.in_force)
        elif end.node is not node and isinstance(end.node, ast.Call | ast.BinOp):
            found += _paths(trail, end.node, depth + 1)
    return found


def distinct(ends: list[End]) -> list[End]:
    """Each end once, in order."""
    found: dict[object, End] = {}
    for end in ends:
        found.setdefault(
            (end.data_file, end.entry.span) if end.entry is not None else end.node, end
        )
    return list(found.values())


def last_before(
    index: FileIndex,
    items: Sequence[Item],
    use: ast.AST,
) -> Item | None:
    """The last of several assignments before a use, when it certainly ran and none comes back
    in a loop.
    """
    line = line_of(use)
    around = [use, *index.ancestors(use)]
    # `x = x + 1` uses the x before.
    before = [item for item in items if line_of(item.node) <= line and item.node not in around]
    last = max(before, key=lambda item: line_of(item.node), default=None)
    parent, name = index.block_of(last.node) if last is not None else (None, "")
    if not any(part in getattr(parent, name, ()) for part in around):
        return None
    after = [item for item in items if item not in before]
    loops = {part for part in around if isinstance(part, ast.For | ast.While | ast.AsyncFor)}
    if any(loops & set(index.ancestors(item.node)) for item in after):
        return None
    return last


def line_of(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)
