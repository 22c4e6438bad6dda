"""Every criterion against one version of the code: by program where that can tell, else by a judge.

The judge is a model that reads the code and judges two dozen criteria at a time, next to the cited
work that they rest on; a pass must rest on a line that exists. Of a version made from another one,
verdicts that the change leaves alone are, where that saves more than it risks. A second judge
reads the kept code and knows nothing of the first: how far the two agree is stated, and changes no
verdict.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Literal

from pydantic import BaseModel, Field

from reenact.asking import ask_with_retry, side_by_side
from reenact.codegen.project import Project
from reenact.codegen.runner import ProjectRunner
from reenact.codegen.syntax import parsed
from reenact.errors import AnswerUnusable, BudgetSpent
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.bearing import block_of
from reenact.paper.criterion import CodeLine, Criterion, Judged, Kind, Value
from reenact.paper.evaluate.people import cohen_kappa
from reenact.paper.fingerprint.similar import contradicts
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.verify.formula import computed
from reenact.paper.verify.mechanical import (
    CodeFinding,
    Earlier,
    carried,
    looked_up,
    read_project,
)

SETTINGS = frozenset(
    (
        ".yaml",
        ".yml",
        ".json",
        ".toml",
        ".cfg",
        ".ini",
        ".sh",
        ".txt",
    )
)
"""Files whose lines count although they are not Python."""
BATCH = 24
"""Criteria a question. The code is the same in all of them, so a provider may cache it."""
FEW = 2 * BATCH
"""Criteria that are all judged again after a revision: that costs little, and misses nothing."""
SECOND_BATCH = 40
"""Criteria a question to the second judge: more than the first has, because the code is sent
with each.
"""
SAMPLE = 1
"""Answers of the second judge; those of the first are sample 0."""
DECIDED = {
    Value.PASS: "pass",
    Value.FAIL: "fail",
    Value.CONTRADICTED: "fail",
}
"""What a judge's own verdict was."""


def verify(
    criteria: Sequence[Criterion],
    project: Project,
    paper: Paper,
    model: Model,
    run: Scope,
    runner: ProjectRunner,
    exemplars: Sequence[Exemplar] = (),
    earlier: Earlier | None = None,
) -> tuple[Judged, ...]:
    """A verdict for each criterion, in their order. `runner` runs the functions of formulas;
    `earlier` is the version that this one was made from. A criterion whose words are not in the
    paper is no one's fact and cannot be judged.
    """
    code = read_project(project)
    found = {
        one.id: looked_up(
            one.check,
            code,
            f"{one.scope} {one.fact}",
        )
        for one in criteria
    }
    formulas = [one for one in criteria if one.check is not None and one.check.kind is Kind.FORMULA]
    found |= computed(
        formulas,
        project=project,
        model=model,
        runner=runner,
        run=run,
    )
    judged: dict[str, Judged] = {}
    for one in criteria:
        finding = found[one.id]
        if any(place not in paper.by_id for place in one.places):
            judged[one.id] = unjudged(one, "It names a place that is not in this paper.")
        elif finding.value is not None:
            judged[one.id] = Judged(
                one.id,
                value=finding.value,
                by="check",
                reason=finding.seen,
                lines=finding.lines,
            )
    left = [one for one in criteria if one.id not in judged]
    if earlier is not None and len(left) > FEW:
        stands = carried(earlier, project)
        for criterion in left:
            if criterion.id in stands and not found[criterion.id].refutes:
                judged[criterion.id] = stands[criterion.id]
        left = [one for one in left if one.id not in judged]
    for verdict in ask_judge(
        left,
        hints=found,
        project=project,
        model=model,
        run=run,
        exemplars=exemplars,
    ):
        judged[verdict.criterion] = verdict
    return settled([judged[one.id] for one in criteria], criteria)


def ask_judge(
    criteria: Sequence[Criterion],
    hints: Mapping[str, CodeFinding],
    project: Project,
    model: Model,
    run: Scope,
    exemplars: Sequence[Exemplar],
    *,
    most: int = BATCH,
    sample: int | None = None,
) -> list[Judged]:
    """The verdicts of one judge, asked for so many at a time; those that rest on cited work come
    first. What is missing, contradicts itself or names no code cannot be judged.
    """
    ordered = sorted(
        criteria,
        key=lambda one: not rested_on([one], exemplars),
    )
    batches = [ordered[number : number + most] for number in range(0, len(ordered), most)]
    seen = {
        name: f"\n  a program saw: {one.seen}" if one.lines else "" for name, one in hints.items()
    }
    template = load_prompt("reenact.paper.verify", "prompts/judge.md")

    def answered(asked: tuple[int, list[Criterion]]) -> list[Judged]:
        number, batch = asked
        facts = [
            f"{one.id}: {one.fact}\n  scope: {one.scope}\n  the paper: {one.quote}" for one in batch
        ]
        listed = "\n\n".join(
            f"{fact}{seen[one.id]}" for fact, one in zip(facts, batch, strict=True)
        )
        beside = "\n\n".join(one.text() for one in rested_on(batch, exemplars)) or "none"
        values = {
            "code": project.text(),
            "criteria": listed,
            "cited": beside,
        }
        place = run.under("judge", attempt=number)
        try:
            put = partial(
                ask_with_retry,
                wrong=partial(_wrong, batch=batch, project=project),
                sample=sample,
            )
            answer = put(place, model, "verdicts", template, values, Verdicts)
        except AnswerUnusable as error:
            return [
                unjudged(one, f"The judge gave no usable answer: {error.sentence}") for one in batch
            ]
        given: dict[str, list[Said]] = {}
        for one in answer.verdicts:
            given.setdefault(one.id.strip(), []).append(one)
        return [
            _judged(
                one,
                given.get(one.id, []),
                hints[one.id],
                project,
            )
            for one in batch
        ]

    return [one for answer in side_by_side(answered, list(enumerate(batches))) for one in answer]


def rested_on(
    criteria: Sequence[Criterion],
    exemplars: Sequence[Exemplar],
) -> list[Exemplar]:
    """Cited work, as far as it could be had, that is cited in the paragraphs of the criteria."""
    blocks = {block_of(place) for one in criteria for place in one.places}
    had = (one for one in exemplars if one.summary or one.files)
    return [one for one in had if blocks & set(map(block_of, one.cited_in))]


def settled(
    judged: Sequence[Judged],
    criteria: Sequence[Criterion],
) -> tuple[Judged, ...]:
    """The verdicts; code that follows one of two contradicting places does not fail the other."""
    passed = {one.criterion for one in judged if one.value is Value.PASS}
    followed = [one for one in criteria if one.id in passed]

    def after(one: Judged, criterion: Criterion) -> Judged:
        failed = one.value is Value.FAIL
        other = next(
            (other for other in followed if failed and contradicts(criterion, other)),
            None,
        )
        if other is None:
            return one
        places = f"{', '.join(criterion.places)} against {', '.join(other.places)}"
        reason = (
            f"The paper contradicts itself ({places}): {other.fact} The code follows {other.id}."
        )
        return replace(
            one,
            value=Value.CONTRADICTED,
            reason=f"{reason} {one.reason}",
        )

    return tuple(map(after, judged, criteria))


class Named(BaseModel):
    """A line of the code."""

    file: str = Field(max_length=300)
    line: int = Field(description="Its number, as it stands before the bar.")
    text: str = Field(default="", max_length=500, description="The line itself.")


class Said(BaseModel):
    """The judgement of one criterion."""

    id: str = Field(max_length=20)
    seen: str = Field(
        max_length=1500,
        description="What the code does about it, before any judgement.",
    )
    verdict: Literal["pass", "fail", "cannot judge"]
    lines: list[Named] = Field(
        default_factory=list, max_length=12, description="The code it rests on."
    )


class Verdicts(BaseModel):
    """The judgement of all."""

    verdicts: list[Said] = Field(max_length=100)


def _judged(
    one: Criterion,
    given: Sequence[Said],
    hint: CodeFinding,
    project: Project,
) -> Judged:
    if not given:
        return unjudged(one, "The judge did not mention it.")
    if len({each.verdict for each in given}) > 1:
        return unjudged(one, "The judge contradicts itself.")
    first = given[0]
    lines = _lines(given, project)
    seen = " ".join(first.seen.split()) or "The judge gives no reason."
    value = Value(first.verdict)
    if value is Value.PASS and not lines:
        return unjudged(one, f"The judge names no line of code that exists. It says: {seen}")
    if value is Value.PASS and hint.refutes:
        return unjudged(
            one,
            f"The judge says: {seen} But when run: {hint.seen}",
            lines,
        )
    return Judged(
        one.id,
        value=value,
        by="judge",
        reason=seen,
        lines=lines,
    )


def _lines(
    given: Sequence[Said],
    project: Project,
) -> tuple[CodeLine, ...]:
    found = (
        existing(
            project,
            one.file,
            one.line,
            one.text,
        )
        for each in given
        for one in each.lines
    )
    return tuple(dict.fromkeys(line for line in found if line is not None))


def _wrong(
    verdicts: Verdicts,
    batch: Sequence[Criterion],
    project: Project,
) -> list[str]:
    """What a second answer could correct: verdicts that are missing, and passes without code."""
    given = {one.id.strip(): one for one in verdicts.verdicts}
    missing = [f"{one.id} has no verdict" for one in batch if one.id not in given]
    passed = [one.id for one in batch if one.id in given and given[one.id].verdict == "pass"]
    bare = (name for name in passed if not _lines([given[name]], project))
    return missing + [
        f"{one} passes, but none of its lines is a line of code in these files" for one in bare
    ]


def unjudged(
    criterion: Criterion,
    reason: str,
    lines: tuple[CodeLine, ...] = (),
) -> Judged:
    """No one could tell, and why."""
    return Judged(
        criterion.id,
        value=Value.UNKNOWN,
        by="nobody",
        reason=reason,
        lines=lines,
    )


def existing(
    project: Project,
    file: str,
    line: int,
    text: str = "",
) -> CodeLine | None:
    """The line of code that is meant; none when there is none. A wrong number is put right when the
    words that come with it stand in exactly one line of the file.
    """
    name = file.strip().removeprefix("./")
    if name not in project.files:
        return None
    source = project.files[name]
    lines = source.splitlines()
    counted = code_lines(name, source)
    wanted = text.split()
    same = [number for number in counted if wanted and lines[number - 1].split() == wanted]
    if len(same) == 1:
        line = same[0]
    if line in counted:
        return CodeLine(
            name,
            line,
            lines[line - 1].strip(),
        )
    return None


@lru_cache(maxsize=128)
def code_lines(name: str, text: str) -> frozenset[int]:
    """Numbers of the lines that do or set something: a comment or docstring that promises it
    does not.
    """
    suffix = PurePosixPath(name).suffix
    tree = parsed(text) if suffix == ".py" else None
    if suffix not in {".py", *SETTINGS}:
        return frozenset()
    alone = [
        node for node in (ast.walk(tree) if tree is not None else ()) if isinstance(node, ast.Expr)
    ]
    texts = [one for one in alone if isinstance(one.value, ast.Constant)]
    lines = enumerate(
        map(str.strip, text.splitlines()),
        start=1,
    )
    promised = {at for one in texts for at in range(one.lineno, (one.end_lineno or 0) + 1)}
    return frozenset(
        at for at, line in lines if line and not line.startswith("#") and at not in promised
    )


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """Two judges next to one another."""

    asked: int
    """Criteria that the first judge decided."""
    judged: int
    """Of these the ones that the second decided too."""
    same: int
    kappa: float | None
    """Cohen's; none where one verdict alone was given."""
    apart: tuple[str, ...]
    """Criteria on which they differ."""

    @property
    def sentence(self) -> str:
        """The line to read."""
        if not self.judged:
            return (
                f"a second judge decided none of the {self.asked} criteria that the first one "
                f"decided"
            )
        beyond = "not defined, all are alike"
        if self.kappa is not None:
            beyond = f"{self.kappa:.2f}"
        differ = ""
        if self.apart:
            differ = f"; they differ on {', '.join(self.apart)}"
        return (
            f"two agree on {self.same} of {self.judged} criteria (Cohen's kappa {beyond}){differ}"
        )


def second_judge(
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
    project: Project,
    model: Model,
    run: Scope,
    exemplars: Sequence[Exemplar] = (),
) -> JudgesAgreement | None:
    """Judge again what a judge decided; none where no judge decided anything, or no budget is
    left.
    """
    by_judge = (one for one in judged if one.by == "judge")
    first = {one.criterion: DECIDED[one.value] for one in by_judge if one.value in DECIDED}
    asked = [one for one in criteria if one.id in first]
    if not asked:
        return None
    unseen = {one.id: CodeFinding(None, "", ()) for one in asked}
    try:
        place = run.under("second")
        how_many = SECOND_BATCH
        answers = ask_judge(
            asked,
            hints=unseen,
            project=project,
            model=model,
            run=place,
            exemplars=exemplars,
            most=how_many,
            sample=SAMPLE,
        )
    except BudgetSpent:
        return None
    second = {one.criterion: DECIDED[one.value] for one in answers if one.value in DECIDED}
    both = [one.id for one in asked if one.id in second]
    apart = tuple(name for name in both if first[name] != second[name])
    kappa = cohen_kappa(
        [first[name] for name in both],
        [second[name] for name in both],
    )
    return JudgesAgreement(
        len(asked),
        judged=len(both),
        same=len(both) - len(apart),
        kappa=kappa,
        apart=apart,
    )
