"""Rubric trees as PaperBench writes them: read, prune to code development, weigh, and take means.

What nobody could judge is left out of the mean and told beside it: `low` and `high` say what the score would
be if all of that failed, or all of it passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable, InputError, ResultRefused
from reenact.files import read_bytes
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import CodeLine, Judged, Value
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.types import JsonValue, Progress, Tell, tell_nobody

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


BATCH = 12
MEANS = {"satisfied": Value.PASS, "not satisfied": Value.FAIL, "cannot judge": Value.UNKNOWN}


class Line(BaseModel):
    """A line of the code."""

    file: str = Field(max_length=300)
    line: int = Field(ge=1)


class LeafVerdict(BaseModel):
    """What was found of one requirement."""

    number: int = Field(ge=1)
    expected: str = Field(max_length=1500, description="What the code would have to do.")
    found: str = Field(max_length=1500, description="What the code does.")
    verdict: Literal["satisfied", "not satisfied", "cannot judge"]
    lines: list[Line] = Field(default_factory=list, max_length=12, description="The lines it rests on.")


class LeafVerdicts(BaseModel):
    """Verdicts of one batch."""

    verdicts: list[LeafVerdict] = Field(max_length=4 * BATCH)


def judge_leaves(
    tree: Node, paper: Paper, code: Project, model: Model, run: Scope, *, tell: Tell = tell_nobody
) -> dict[str, Judged]:
    """A verdict for every leaf that weighs anything; `cannot judge` where the answer is of no use."""
    leaves = [(leaf, above) for leaf, above in tree.paths() if leaf.weight]
    found: dict[str, Judged] = {}
    text, shown = paper.text(), code.text()
    for start in range(0, len(leaves), BATCH):
        tell(Progress("rubric", start, len(leaves)))
        batch = leaves[start : start + BATCH]
        prompt = load_prompt("reenact.paper.evaluate", "prompts/leaves.md").fill(
            paper=text, code=shown, leaves=_listed(batch)
        )
        try:
            place = run.under("rubric", attempt=start // BATCH)
            given = ask(place, model, "judge", prompt, LeafVerdicts, check=_numbered(len(batch)))
            by_number = {one.number: one for one in given.verdicts}
            why = "The judge said nothing of it."
        except AnswerUnusable as error:
            by_number, why = {}, error.sentence
        for number, (leaf, _) in enumerate(batch, start=1):
            found[leaf.id] = _judged(leaf, by_number.get(number), why, code)
    return found


def _judged(leaf: Node, given: LeafVerdict | None, why: str, code: Project) -> Judged:
    if given is None:
        return Judged(leaf.id, Value.UNKNOWN, "nobody", why)
    lines = tuple(one for line in given.lines if (one := _line(line, code)) is not None)
    value = MEANS[given.verdict]
    if value is Value.PASS and not lines:
        return Judged(
            leaf.id, Value.UNKNOWN, "judge", f"Called satisfied without a line that is there. {given.found}"
        )
    return Judged(leaf.id, value, "judge", given.found or given.expected or "No reason was given.", lines)


def _line(line: Line, code: Project) -> CodeLine | None:
    texts = code.files.get(line.file, "").splitlines()
    return CodeLine(line.file, line.line, texts[line.line - 1]) if line.line <= len(texts) else None


def _listed(batch: Sequence[tuple[Node, tuple[str, ...]]]) -> str:
    """Each leaf with what stands above it, but for the root, which is the same for all."""
    return "\n\n".join(
        f"{number}. {leaf.requirements}" + "".join(f"\n   part of: {words}" for words in above[:0:-1])
        for number, (leaf, above) in enumerate(batch, start=1)
    )


def _numbered(count: int) -> Callable[[LeafVerdicts], None]:
    def check(given: LeafVerdicts) -> None:
        numbers = [one.number for one in given.verdicts]
        if len(set(numbers)) < len(numbers) or any(number > count for number in numbers):
            raise ValueError(f"Give each of the numbers 1 to {count} once.")

    return check
