"""Leaves of a rubric judged by a model: several a question, the code shown once, a pass with its lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import CodeLine, Judged, Value
from reenact.paper.evaluate.rubric import Node
from reenact.types import Progress, Tell, tell_nobody

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
