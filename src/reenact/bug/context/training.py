"""Training loops in a repository: the eight families of signs that RepGen looks for, and their
order.

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
_WEIGHTS = dict(
    zip(
        FAMILIES,
        (
            0.3,
            0.15,
            0.3,
            0.3,
            0.2,
            0.25,
            0.05,
            0.3,
        ),
        strict=True,
    )
)
"""How much a family proves: scalers are fitted too, and loaders are moved in evaluation too."""
MOST_FILES = 60
"""Files that are parsed in search of loops, those of the best chunks first."""
WORDS = (
    "train",
    "epoch",
    "loss",
    "fit",
    "optimizer",
    "optimiser",
    "gradient",
    "backward",
    "converge",
    "nan",
)
ENOUGH_WORDS = 2
"""A report with so many of these words is about training; one alone may be about anything."""


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
    """Where the signs are."""
    score: float
    """0 to 1 among the loops that were found."""

    @property
    def why(self) -> str:
        return f"trains: {', '.join(self.families)}"


def find_loops(
    code: CodeIndex,
    files: Iterable[PurePosixPath],
    relevance: Mapping[Chunk, float],
    *,
    order: bool = True,
) -> tuple[Loop, ...]:
    """Loops in these files, the most relevant first (scores scaled to 0..1), else in file order."""
    signed = [file for file in files if file in code.signs][:MOST_FILES]
    raw: dict[Chunk, set[Sign]] = {}
    for file in signed:
        signs = set(find_signs(code.files.tree(file) or ast.Module([], [])))
        for chunk in code.by_file.get(file, ()):
            inside = {sign for sign in signs if sign.line in chunk}
            if any(sign.proves for sign in inside):
                raw[chunk] = inside
    # Relevance first; then a whole loop before a lone call, and the project before its tests.
    strength = {
        chunk: sum(_WEIGHTS[one] for one in _families(signs)) for chunk, signs in raw.items()
    }
    scores = {
        one: relevance.get(one, 0.0) + strength[one] - (0.3 if one.is_aside else 0.0) for one in raw
    }
    low = min(scores.values(), default=0.0)
    high = max(scores.values(), default=0.0)
    loops: list[Loop] = []
    for chunk, signs in raw.items():
        score = 1.0
        if high > low:
            score = (scores[chunk] - low) / (high - low)
        loops.append(
            Loop(
                chunk,
                _families(signs),
                tuple(sorted(sign.line for sign in signs)),
                score,
            )
        )
    return tuple(
        sorted(
            loops,
            key=lambda one: (-one.score, one.chunk.number),
        )
        if order
        else loops
    )


def _families(signs: set[Sign]) -> tuple[str, ...]:
    there = {sign.family for sign in signs}
    return tuple(family for family in FAMILIES if family in there)


def find_signs(tree: ast.Module) -> Iterator[Sign]:
    """Every sign of training in a file."""
    items = (item for node in ast.walk(tree) if isinstance(node, ast.With) for item in node.items)
    made = (
        (
            getattr(one.context_expr, "func", one),
            one.optional_vars,
        )
        for one in items
    )
    opened = (name for call, name in made if _last_name(call) == "GradientTape")
    tapes = {
        "tape",
        *(name.id for name in opened if isinstance(name, ast.Name)),
    }
    waiting: list[tuple[ast.AST, ast.For | ast.While | None]] = [(tree, None)]
    while waiting:
        node, loop = waiting.pop()
        inner = node if isinstance(node, ast.For | ast.While) else loop
        # A function defined in a loop does not run in it.
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = None
        yield from _signs_of(node, loop, tapes)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _signs_of(
    node: ast.AST,
    loop: ast.For | ast.While | None,
    tapes: set[str],
) -> Iterator[Sign]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name == "training_step":
            yield Sign(node.lineno, "lightning")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        called = _last_name(node.func.value)
        looped = loop is not None
        owner = called.lower()
        over = []
        if isinstance(loop, ast.For):
            over = [_last_name(one).lower() for one in ast.walk(loop.iter)]
        loaded = any(word in one for one in over for word in ("loader", "dataset", "batches"))
        signs = {
            "session": name == "run" and "sess" in owner and looped,
            "fit": name in ("fit", "fit_generator", "train_on_batch") and bool(owner),
            "apply": name in ("apply_gradients", "minimize"),
            "tape": name in ("gradient", "watch") and called in tapes,
            "step": name in ("backward", "step", "zero_grad") and looped,
            "loss": "loss" in owner and (name == "backward" or (name == "item" and looped)),
            "loader": name in ("to", "cuda") and loaded,
        }
        read = name in ("item", "to", "cuda")
        yield from (
            Sign(node.lineno, one, proves=not read) for one, shown in signs.items() if shown
        )


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""
