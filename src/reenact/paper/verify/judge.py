"""A model reads the code and judges a dozen criteria at a time; a pass must rest on a line that exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.ask_with_retry import ask_with_retry
from reenact.paper.criterion import CodeLine, Criterion, Judged, Value
from reenact.paper.verify.finding import CodeFinding, existing, unjudged

BATCH = 12
"""Criteria a question. The code is the same in all of them, so a provider may cache it."""


class Named(BaseModel):
    """A line of the code."""

    file: str = Field(max_length=300)
    line: int = Field(description="Its number, as it stands before the bar.")
    text: str = Field(default="", max_length=500, description="The line itself.")


class Said(BaseModel):
    """The judgement of one criterion."""

    id: str = Field(max_length=20)
    seen: str = Field(max_length=1500, description="What the code does about it, before any judgement.")
    verdict: Literal["pass", "fail", "cannot judge"]
    lines: list[Named] = Field(default_factory=list, max_length=12, description="The code it rests on.")


class Verdicts(BaseModel):
    """The judgement of all."""

    verdicts: list[Said] = Field(max_length=100)


def judge(
    criteria: Sequence[Criterion],
    hints: Mapping[str, CodeFinding],
    project: Project,
    model: Model,
    run: Scope,
) -> list[Judged]:
    """A verdict for each, in order. What is missing, contradicts itself or names no code cannot be judged."""
    judged: list[Judged] = []
    for start in range(0, len(criteria), BATCH):
        batch = criteria[start : start + BATCH]
        judged += _batch(batch, hints, project, model, run.under("judge", attempt=start // BATCH))
    return judged


def _batch(
    batch: Sequence[Criterion],
    hints: Mapping[str, CodeFinding],
    project: Project,
    model: Model,
    run: Scope,
) -> list[Judged]:
    template = load_prompt("reenact.paper.verify", "prompts/judge.md")
    told = "\n\n".join(_told(one, hints.get(one.id)) for one in batch)

    def fill(objections: str) -> Prompt:
        return template.fill(code=project.text(), criteria=told, objections=objections)

    try:
        said = ask_with_retry(
            run, model, "verdicts", fill, Verdicts, wrong=lambda one: _wrong(one, batch, project)
        )
    except AnswerUnusable as error:
        return [unjudged(one, f"The judge gave no usable answer: {error.sentence}") for one in batch]
    given: dict[str, list[Said]] = {}
    for one in said.verdicts:
        given.setdefault(one.id.strip(), []).append(one)
    return [_judged(one, given.get(one.id, []), hints.get(one.id), project) for one in batch]


def _told(one: Criterion, hint: CodeFinding | None) -> str:
    words = f"{one.id}: {one.fact}\n  scope: {one.scope}\n  the paper: {one.quote}"
    return f"{words}\n  a program saw: {hint.seen}" if hint is not None and hint.lines else words


def _judged(one: Criterion, said: Sequence[Said], hint: CodeFinding | None, project: Project) -> Judged:
    if not said:
        return unjudged(one, "The judge said nothing about it.")
    if len({each.verdict for each in said}) > 1:
        return unjudged(one, "The judge contradicts itself.")
    first = said[0]
    lines = _lines(said, project)
    seen = " ".join(first.seen.split()) or "The judge gives no reason."
    value = Value(first.verdict)
    if value is Value.PASS and not lines:
        return unjudged(one, f"The judge names no line of code that exists. It says: {seen}")
    if value is Value.PASS and hint is not None and hint.refutes:
        return unjudged(one, f"The judge says: {seen} But when run: {hint.seen}", lines)
    return Judged(one.id, value, "judge", seen, lines)


def _lines(said: Sequence[Said], project: Project) -> tuple[CodeLine, ...]:
    found = (existing(project, one.file, one.line, one.text) for each in said for one in each.lines)
    return tuple(dict.fromkeys(line for line in found if line is not None))


def _wrong(verdicts: Verdicts, batch: Sequence[Criterion], project: Project) -> list[str]:
    """What a second answer could mend: verdicts that are missing, and passes without code."""
    given = {one.id.strip(): one for one in verdicts.verdicts}
    missing = [f"{one.id} has no verdict" for one in batch if one.id not in given]
    return missing + [
        f"{one.id} passes, but none of its lines is a line of code in these files"
        for one in batch
        if (said := given.get(one.id)) is not None and said.verdict == "pass" and not _lines([said], project)
    ]
