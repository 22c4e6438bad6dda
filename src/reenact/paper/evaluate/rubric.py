"""Rubric trees as PaperBench writes them: read, prune to code development, weigh, and take means.

What no one could judge is left out of the mean: `low` and `high` are what the score would be if all
of that failed, or all of it passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable, InputError, ResultRefused
from reenact.files import read_bytes
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import CodeLine, Judged, Value
from reenact.paper.evaluate.align import SILENT, check_numbers
from reenact.result import encoded
from reenact.sandbox.files.results import MOST_BYTES, read_json
from reenact.types import JsonValue, Progress, Tell, tell_nobody

CODE_DEVELOPMENT = "Code Development"
CATEGORIES = (CODE_DEVELOPMENT, "Code Execution", "Result Analysis")
ACQUISITION = "Dataset and Model Acquisition"
MOST_LEAVES = 20_000
BATCH = 12
MEANS = {
    "satisfied": Value.PASS,
    "not satisfied": Value.FAIL,
    "cannot judge": Value.UNKNOWN,
}


def none_is(empty: object) -> BeforeValidator:
    return BeforeValidator(lambda value: empty if value is None else value)


class Node(BaseModel):
    """A requirement; a leaf has no parts."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str = Field(min_length=1)
    requirements: str = Field(min_length=1)
    weight: int = Field(ge=0, strict=True)
    parts: Annotated[tuple[Node, ...], none_is(())] = Field(default=(), alias="sub_tasks")
    category: Annotated[str, none_is("")] = Field(default="", alias="task_category")
    """Of a leaf: one of CATEGORIES."""
    detail: Annotated[str, none_is("")] = Field(default="", alias="finegrained_task_category")
    """The finer category of PaperBench."""

    @model_validator(mode="after")
    def _leaf_has_category(self) -> Node:
        if not self.parts and self.category not in CATEGORIES:
            raise ValueError(f"the leaf {self.id} needs a task_category: {', '.join(CATEGORIES)}")
        return self

    def paths(
        self,
        above: tuple[str, ...] = (),
    ) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """Leaves with the requirements that are above them."""
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
        task = self.node.model_dump(by_alias=True, exclude={"parts"})
        for name in task:
            if name.endswith("category"):
                task[name] = task[name] or None
        why = "weighted mean of what was judged"
        if self.judged is not None:
            why = self.judged.reason
        return {
            **task,
            "sub_tasks": [part.to_json() for part in self.parts],
            "score": self.score,
            "valid_score": self.score is not None,
            "explanation": why,
        }


@dataclass(frozen=True, slots=True)
class RubricScore:
    """A rubric tree with its leaves judged."""

    scored: Scored | None
    """None when nothing of it has any weight."""
    pruned: int
    """Leaves that ask for more than writing code and were left out."""

    def count(self, value: Value) -> int:
        leaves = self.scored.leaves() if self.scored is not None else ()
        return sum(leaf.judged is not None and leaf.judged.value is value for leaf in leaves)

    def to_json(self) -> dict[str, JsonValue]:
        """The score and how it came about, with the whole tree."""
        range_of_score = {
            name: getattr(self.scored, name, None) for name in ("score", "low", "high")
        }
        counts = {value.value: self.count(value) for value in MEANS.values()}
        return {
            **range_of_score,
            "pruned": self.pruned,
            **counts,
            "tree": encoded(self.scored),
        }


def read_rubric(file: Path) -> Node:
    """The tree in a file."""
    try:
        tree = Node.model_validate(read_json(read_bytes(file, MOST_BYTES)))
    except (OSError, ResultRefused) as error:
        raise InputError(f"The rubric cannot be read: {error}. Received: {file}") from error
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc'])) or 'the root'}: {first['msg']}"
        raise InputError(f"The rubric {file} is not a tree of requirements. {why}.") from error
    if len([*tree.paths()]) > MOST_LEAVES:
        raise InputError(f"The rubric {file} has more than {MOST_LEAVES} leaves.")
    return tree


def code_development(tree: Node) -> Node | None:
    """Only the leaves about writing code, and what is above them; none when there is no
    such leaf.
    """
    if not tree.parts:
        return tree if tree.category == CODE_DEVELOPMENT else None
    parts = tuple(kept for part in tree.parts if (kept := code_development(part)) is not None)
    if parts:
        return tree.model_copy(update={"parts": parts})
    return None


def resources_provided(tree: Node) -> Node:
    """Data and models are there already: getting them weighs nothing."""
    if not tree.parts:
        if tree.detail == ACQUISITION:
            return tree.model_copy(update={"weight": 0})
        return tree
    return tree.model_copy(
        update={
            "parts": tuple(map(resources_provided, tree.parts)),
        }
    )


def score_tree(
    tree: Node,
    judged: Mapping[str, Judged],
) -> Scored | None:
    """Weighted means from the leaves up; none where nothing has any weight."""
    if not tree.parts:
        found = judged.get(
            tree.id,
            Judged(tree.id, Value.UNKNOWN, "nobody", "No one judged it."),
        )
        score = float(found.value is Value.PASS)
        unknown = found.value is Value.UNKNOWN
        return Scored(
            tree,
            None if unknown else score,
            score,
            1.0 if unknown else score,
            judged=found,
        )
    parts = tuple(
        one for part in tree.parts if part.weight and (one := score_tree(part, judged)) is not None
    )
    if not parts:
        return None
    known = [(one.node.weight, one.score) for one in parts if one.score is not None]
    low = _mean([(one.node.weight, one.low) for one in parts]) or 0.0
    high = _mean([(one.node.weight, one.high) for one in parts]) or 0.0
    return Scored(
        tree,
        score=_mean(known),
        low=low,
        high=high,
        parts=parts,
    )


def _mean(weighted: Sequence[tuple[int, float]]) -> float | None:
    total = sum(weight for weight, _ in weighted)
    if weighted:
        return sum(weight * score for weight, score in weighted) / total
    return None


def rubric_score(
    file: Path,
    paper: Paper,
    code: Project,
    model: Model,
    run: Scope,
    *,
    resources: bool,
    tell: Tell,
) -> RubricScore:
    """The tree of a file, pruned to code development and judged. `resources`: data and models
    are given.
    """
    whole = read_rubric(file)
    tree = code_development(whole)
    if tree is None:
        raise InputError(f"The rubric has no leaf about writing code. Received: {file}")
    if resources:
        tree = resources_provided(tree)
    judged = judge_leaves(
        tree,
        paper=paper,
        code=code,
        model=model,
        run=run,
        tell=tell,
    )
    return RubricScore(
        score_tree(tree, judged),
        len([*whole.paths()]) - len([*tree.paths()]),
    )


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
    lines: list[Line] = Field(
        default_factory=list, max_length=12, description="The lines it rests on."
    )


class LeafVerdicts(BaseModel):
    """Verdicts of one batch."""

    verdicts: list[LeafVerdict] = Field(max_length=4 * BATCH)


def judge_leaves(
    tree: Node,
    paper: Paper,
    code: Project,
    model: Model,
    run: Scope,
    tell: Tell = tell_nobody,
) -> dict[str, Judged]:
    """A verdict for every leaf that weighs anything; `cannot judge` where the answer is of no
    use.
    """
    leaves = [(leaf, above) for leaf, above in tree.paths() if leaf.weight]
    found: dict[str, Judged] = {}
    text = paper.text()
    shown = code.text()
    for start in range(0, len(leaves), BATCH):
        tell(Progress("rubric", start, len(leaves)))
        batch = leaves[start : start + BATCH]
        # Each leaf with what is above it, but for the root, which is the same for all.
        within = ("".join(f"\n   part of: {words}" for words in above[:0:-1]) for _, above in batch)
        asked = enumerate(
            zip(batch, within, strict=True),
            start=1,
        )
        listed = "\n\n".join(
            f"{at}. {leaf.requirements}{parts}" for at, ((leaf, _), parts) in asked
        )
        template = load_prompt("reenact.paper.evaluate", "prompts/leaves.md")
        prompt = template.fill(paper=text, code=shown, leaves=listed)
        try:
            place = run.under("rubric", attempt=start // BATCH)
            check = partial(_check, count=len(batch))
            given = ask(
                place,
                model=model,
                name="judge",
                prompt=prompt,
                answer=LeafVerdicts,
                check=check,
            )
            by_number = {one.number: one for one in given.verdicts}
            why = SILENT
        except AnswerUnusable as error:
            by_number = {}
            why = error.sentence
        for number, (leaf, _) in enumerate(batch, start=1):
            found[leaf.id] = _judged(
                leaf,
                by_number.get(number),
                why,
                code,
            )
    return found


def _judged(
    leaf: Node,
    given: LeafVerdict | None,
    why: str,
    code: Project,
) -> Judged:
    if given is None:
        return Judged(leaf.id, Value.UNKNOWN, "nobody", why)
    texts = {name: text.splitlines() for name, text in code.files.items()}
    there = [one for one in given.lines if one.line <= len(texts.get(one.file, ()))]
    lines = tuple(
        CodeLine(
            one.file,
            one.line,
            texts[one.file][one.line - 1],
        )
        for one in there
    )
    value = MEANS[given.verdict]
    if value is Value.PASS and not lines:
        unproven = f"Called satisfied without a line that is there. {given.found}"
        return Judged(leaf.id, Value.UNKNOWN, "judge", unproven)
    return Judged(
        leaf.id,
        value=value,
        by="judge",
        reason=given.found or given.expected or "No reason was given.",
        lines=lines,
    )


def _check(given: LeafVerdicts, count: int) -> None:
    check_numbers([one.number for one in given.verdicts], count)
