"""Training loops in a repository: the eight families of signs that RepGen looks for, and their order.

1 session     `session.run` in a loop (TensorFlow 1)
2 fit         `fit`, `fit_generator`, `train_on_batch`
3 apply       `apply_gradients`, `minimize`
4 tape        `GradientTape` with `gradient` or `watch`
5 step        `backward`, `step` or `zero_grad` in a loop
6 loss        `loss.backward`, or `loss.item` in a loop
7 loader      a loop over a loader whose batches are moved with `.to` or `.cuda`
8 lightning   a method `training_step`
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.index import CodeIndex

FAMILIES = ("session", "fit", "apply", "tape", "step", "loss", "loader", "lightning")
_WEIGHTS = dict(zip(FAMILIES, (0.3, 0.15, 0.3, 0.3, 0.2, 0.25, 0.05, 0.3), strict=True))
"""How much a family proves: scalers are fitted too, and loaders are moved in evaluation too."""
MOST_FILES = 60
"""Files that are parsed in search of loops, those of the best chunks first."""
WORDS = ("train", "epoch", "loss", "fit", "optimizer", "optimiser", "gradient", "backward", "converge", "nan")
ENOUGH_WORDS = 2
"""A report with so many of these words is about training; one alone may be about anything."""
_LOADERS = ("loader", "dataset", "batches", "dataloader")


@dataclass(frozen=True, slots=True)
class Sign:
    """A line that looks like training."""

    line: int
    family: str
    proves: bool = True
    """Whether it makes a loop by itself: evaluation reads losses and moves batches too."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A chunk that trains."""

    chunk: Chunk
    families: tuple[str, ...]
    lines: tuple[int, ...]
    """Where the signs stand."""
    score: float
    """0 to 1 among the loops that were found."""

    @property
    def why(self) -> str:
        return f"trains: {', '.join(self.families)}"


def find_loops(
    code: CodeIndex, files: Iterable[PurePosixPath], relevance: Mapping[Chunk, float], *, order: bool = True
) -> tuple[Loop, ...]:
    """Loops in these files, the most relevant first (scores scaled to 0..1), else in file order."""
    signed = [file for file in files if file in code.signs][:MOST_FILES]
    raw = dict(pair for file in signed for pair in _chunks_with_signs(code, file))
    scores = {chunk: _score(chunk, signs, relevance) for chunk, signs in raw.items()}
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    loops: list[Loop] = []
    for chunk, signs in raw.items():
        lines = tuple(sorted(sign.line for sign in signs))
        score = (scores[chunk] - low) / (high - low) if high > low else 1.0
        loops.append(Loop(chunk, _families(signs), lines, score))
    return tuple(sorted(loops, key=lambda one: (-one.score, one.chunk.number)) if order else loops)


def _families(signs: set[Sign]) -> tuple[str, ...]:
    there = {sign.family for sign in signs}
    return tuple(family for family in FAMILIES if family in there)


def _score(chunk: Chunk, signs: set[Sign], relevance: Mapping[Chunk, float]) -> float:
    """Relevance first; then a whole loop before a lone call, and the project before its tests."""
    aside = 0.3 if chunk.is_aside else 0.0
    strength = sum(_WEIGHTS[family] for family in _families(signs))
    return relevance.get(chunk, 0.0) + strength - aside


def _chunks_with_signs(code: CodeIndex, file: PurePosixPath) -> Iterator[tuple[Chunk, set[Sign]]]:
    tree = code.files.tree(file)
    signs = set(find_signs(tree)) if tree is not None else set()
    for chunk in code.by_file.get(file, ()):
        inside = {sign for sign in signs if sign.line in chunk}
        if any(sign.proves for sign in inside):
            yield chunk, inside


def find_signs(tree: ast.Module) -> Iterator[Sign]:
    """Every sign of training in a file."""
    opened = (node for node in ast.walk(tree) if isinstance(node, ast.With))
    tapes = {"tape", *(name for node in opened for name in _tapes(node))}
    waiting: list[tuple[ast.AST, ast.For | ast.While | None]] = [(tree, None)]
    while waiting:
        node, loop = waiting.pop()
        inner = node if isinstance(node, ast.For | ast.While) else loop
        # A function defined in a loop does not run in it.
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = None
        yield from _signs_of(node, loop, tapes)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _signs_of(node: ast.AST, loop: ast.For | ast.While | None, tapes: set[str]) -> Iterator[Sign]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name == "training_step":
            yield Sign(node.lineno, "lightning")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        read = node.func.attr in ("item", "to", "cuda")
        yield from (Sign(node.lineno, one, proves=not read) for one in _families_of_call(node.func, loop))
        if node.func.attr in ("gradient", "watch") and _last_name(node.func.value) in tapes:
            yield Sign(node.lineno, "tape")


def _families_of_call(called: ast.Attribute, loop: ast.For | ast.While | None) -> Iterator[str]:
    name = called.attr
    owner = _last_name(called.value).lower()
    if name == "run" and "sess" in owner and loop is not None:
        yield "session"
    if name in ("fit", "fit_generator", "train_on_batch") and owner:
        yield "fit"
    if name in ("apply_gradients", "minimize"):
        yield "apply"
    if name in ("backward", "step", "zero_grad") and loop is not None:
        yield "step"
    if "loss" in owner and (name == "backward" or (name == "item" and loop is not None)):
        yield "loss"
    if name in ("to", "cuda") and isinstance(loop, ast.For) and _over_loader(loop):
        yield "loader"


def _tapes(node: ast.With) -> Iterator[str]:
    """Names that a block gives to gradient tapes."""
    for item in node.items:
        opened = item.context_expr
        made = _last_name(opened.func) if isinstance(opened, ast.Call) else ""
        if made == "GradientTape" and isinstance(item.optional_vars, ast.Name):
            yield item.optional_vars.id


def _over_loader(loop: ast.For) -> bool:
    names = (_last_name(one).lower() for one in ast.walk(loop.iter))
    return any(word in name for name in names for word in _LOADERS)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
