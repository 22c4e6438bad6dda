"""Rubric trees as PaperBench writes them: read, prune to code development, weigh, and take means.

What nobody could judge is left out of the mean and told beside it: `low` and `high` say what the score would
be if all of that failed, or all of it passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.errors import InputError, ResultRefused
from reenact.files import read_bytes
from reenact.paper.criterion import Judged, Value
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.types import JsonValue

CODE_DEVELOPMENT = "Code Development"
CATEGORIES = (CODE_DEVELOPMENT, "Code Execution", "Result Analysis")
ACQUISITION = "Dataset and Model Acquisition"
MOST_LEAVES = 20_000


@dataclass(frozen=True, slots=True)
class Node:
    """A requirement; a leaf has no parts."""

    id: str
    requirements: str
    weight: int
    parts: tuple[Node, ...] = ()
    category: str = ""
    """Of a leaf: one of CATEGORIES."""
    detail: str = ""
    """The finer category of PaperBench."""

    def leaves(self) -> Iterator[Node]:
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def paths(self, above: tuple[str, ...] = ()) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """Leaves with the requirements that stand above them."""
        if not self.parts:
            yield self, above
        for part in self.parts:
            yield from part.paths((*above, self.requirements))


@dataclass(frozen=True, slots=True)
class Scored:
    """A requirement with its score."""

    node: Node
    score: float | None
    """0 to 1 over what was judged; none when nothing was."""
    low: float
    high: float
    parts: tuple[Scored, ...] = ()
    judged: Judged | None = None
    """Of a leaf."""

    def leaves(self) -> Iterator[Scored]:
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def to_json(self) -> dict[str, JsonValue]:
        """In PaperBench's words for a graded task."""
        judged = self.judged
        return {
            "id": self.node.id,
            "requirements": self.node.requirements,
            "weight": self.node.weight,
            "sub_tasks": [part.to_json() for part in self.parts],
            "task_category": self.node.category or None,
            "finegrained_task_category": self.node.detail or None,
            "score": self.score,
            "valid_score": self.score is not None,
            "explanation": judged.reason if judged is not None else "weighted mean of what was judged",
        }


def read_rubric(file: Path) -> Node:
    """The tree in a file."""
    try:
        value = read_json(read_bytes(file, MOST_BYTES))
    except (OSError, ResultRefused) as error:
        raise InputError(f"The rubric cannot be read: {error}. Received: {file}") from error
    tree = _node(value, "the root")
    if sum(1 for _ in tree.leaves()) > MOST_LEAVES:
        raise InputError(f"The rubric {file} has more than {MOST_LEAVES} leaves.")
    return tree


def code_development(tree: Node) -> Node | None:
    """Only the leaves about writing code, and what stands above them; none when there is no such leaf."""
    if not tree.parts:
        return tree if tree.category == CODE_DEVELOPMENT else None
    parts = tuple(kept for part in tree.parts if (kept := code_development(part)) is not None)
    return replace(tree, parts=parts) if parts else None


def resources_provided(tree: Node) -> Node:
    """Data and models are there already: getting them weighs nothing."""
    if not tree.parts:
        return replace(tree, weight=0) if tree.detail == ACQUISITION else tree
    return replace(tree, parts=tuple(resources_provided(part) for part in tree.parts))


def score_tree(tree: Node, judged: Mapping[str, Judged]) -> Scored | None:
    """Weighted means from the leaves up; none where nothing has any weight."""
    if not tree.parts:
        return _leaf(tree, judged.get(tree.id))
    parts = tuple(one for part in tree.parts if part.weight and (one := score_tree(part, judged)) is not None)
    if not parts:
        return None
    total = sum(one.node.weight for one in parts)
    known = [(one.node.weight, one.score) for one in parts if one.score is not None]
    return Scored(
        node=tree,
        score=sum(weight * score for weight, score in known) / sum(weight for weight, _ in known)
        if known
        else None,
        low=sum(one.node.weight * one.low for one in parts) / total,
        high=sum(one.node.weight * one.high for one in parts) / total,
        parts=parts,
    )


def _leaf(node: Node, judged: Judged | None) -> Scored:
    if judged is None:
        judged = Judged(node.id, Value.UNKNOWN, "nobody", "Nobody judged it.")
    if judged.value is Value.UNKNOWN:
        return Scored(node, None, 0.0, 1.0, judged=judged)
    score = float(judged.value is Value.PASS)
    return Scored(node, score, score, score, judged=judged)


def _node(value: JsonValue, where: str) -> Node:
    if not isinstance(value, Mapping):
        raise InputError(f"The rubric has something else than a requirement at {where}.")
    name, words, weight = value.get("id"), value.get("requirements"), value.get("weight")
    if not isinstance(name, str) or not name or not isinstance(words, str) or not words.strip():
        raise InputError(f"A requirement of the rubric needs an id and its words, at {where}.")
    if isinstance(weight, bool) or not isinstance(weight, int) or weight < 0:
        raise InputError(
            f"The weight of a requirement is a whole number from 0, at {name}. Received: {weight!r}"
        )
    parts = value.get("sub_tasks") or []
    if not isinstance(parts, list):
        raise InputError(f"The sub_tasks of a requirement are a list, at {name}.")
    category = value.get("task_category")
    if not parts and category not in CATEGORIES:
        raise InputError(
            f"A leaf of the rubric has a task_category, at {name}. Received: {category!r}",
            next_step=f"Use one of: {', '.join(CATEGORIES)}.",
        )
    detail = value.get("finegrained_task_category")
    return Node(
        name,
        words,
        weight,
        tuple(_node(part, name) for part in parts),
        category if isinstance(category, str) else "",
        detail if isinstance(detail, str) else "",
    )
