"""Measurement, top to bottom: full runs, matching, comparison, verdict, a repair when the gap is
large.

Which metric of the code is which claim of the paper is declared by the research role and checked
here. Anyone who matches sees neither the paper's numbers nor the measured ones, so that nothing can be
chosen for its value; only whether all values of a metric lie between 0 and 1, which reports a share
from per cent.

Metrics that are written and not measured are found mechanically, by reading the code that makes
them. Two signs. A metric that nothing but literals is ever written to. And a literal that equals
what the paper claims, in an expression that makes the metric: `max(accuracy, 0.932)`. The paper's
results are withheld from anyone who writes the code, so such a number came from somewhere else than a
measurement. Names are followed through assignments of the same file. Numbers of one digit (0.5,
100) are too usual to prove anything. Not covered: a number that is taken apart in a computation, or
hidden in a data file. These signs are hints that cost nothing; what decides are control runs
(control_runs.py): a number that they recompute counts all the same.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isclose
from typing import TypeAlias

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.codegen.syntax import targets_of
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Criterion
from reenact.paper.develop.development import Development
from reenact.paper.measure.control import Source
from reenact.paper.measure.control_runs import controlled
from reenact.paper.measure.gap import (
    Comparison,
    Match,
    compare,
    settings_that_differ,
    unmeasured,
)
from reenact.paper.measure.gap_repair import Gap, GapRepair, is_large, repair_gap
from reenact.paper.measure.runs import FullRun, full_runs, metric_names
from reenact.paper.measure.verdict import (
    CONFIDENCE,
    SECOND_LOOK,
    Judgement,
    Ordering,
    orderings,
    verdict_of,
)
from reenact.paper.review.claims import PaperClaim

SHORTENED = 2
"""Times that a training which takes too long is made shorter."""
SHORTER = 0.25
"""Share of the training that is left each time."""
MORE = 3
"""Times as many seeds where those that were asked for do not decide an ordering."""
Runs: TypeAlias = tuple[FullRun, ...]
Assigned: TypeAlias = dict[str, list[ast.expr]]
UNMATCHED = "No usable answer says which metric is this claim."
WRITTEN = "The metric is written in the code and not measured."
DEEPEST = 6
"""Assignments that are followed."""
SAME = 1e-9


@dataclass(frozen=True)
class Measured:
    """What the experiment gave."""

    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    """Of the code as it was written."""
    judgement: Judgement
    """Of that code alone: a change that a repair found is a hypothesis, not the paper."""
    gap_repair: GapRepair | None = None
    notes: tuple[str, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    scale: float = 1.0
    """Share of the paper's training that the runs did which count."""


def measure(
    claims: Sequence[PaperClaim],
    criteria: Sequence[Criterion],
    made: Development,
    context: PaperContext,
    run: Scope,
) -> Measured:
    """Run the experiment, compare it with the paper, and look for what the paper may not say."""
    if not made.runs:
        nothing = compare(claims, (), ())
        stated = orderings(nothing)
        verdict = verdict_of(nothing, stated, runs=False)
        return Measured(
            (),
            nothing,
            verdict,
            orderings=stated,
            scale=context.options.scale,
        )
    runs, context = _runs_in_time(made.project, context, run)
    options = context.options
    pairs, unmatched = matched(
        claims,
        runs=runs,
        project=made.project,
        model=context.model,
        run=run,
    )
    differs = settings_that_differ(criteria, made.judged, options.scale, made.stand_in)

    hints = invented(made.project, metric_names(runs), claims)
    comparisons = compare(claims, runs, pairs, differs=differs)
    notes = (
        *map(str, hints),
        *_failed(runs),
    )
    confidence = CONFIDENCE
    if more := _more_seeds(
        orderings(comparisons),
        project=made.project,
        runs=runs,
        context=context,
        run=run,
    ):
        runs = (*runs, *more)
        confidence = SECOND_LOOK
        comparisons = compare(claims, runs, pairs, differs=differs)
        few = (
            f"{options.seeds} seeds were too few to decide every ordering; {len(more)} more were "
            f"run."
        )
        notes = (
            few,
            *map(str, hints),
            *_failed(runs),
        )
    if unmatched:
        comparisons = tuple(replace(one, note=UNMATCHED) for one in comparisons)
        notes = (unmatched, *notes)
    tested = orderings(comparisons, confidence)
    if not made.stand_in and _something_holds(comparisons, tested):
        comparisons = controlled(
            comparisons,
            runs=runs,
            project=made.project,
            context=context,
            run=run,
        )
    comparisons = _without_invented(comparisons, hints)
    tested = orderings(comparisons, confidence)
    judgement = verdict_of(
        comparisons,
        tested,
        runs=True,
        scale=options.scale,
        stand_in=made.stand_in,
    )
    repaired = None
    if options.repair and options.parts.debug and is_large(comparisons) and not made.stand_in:
        place = run.under("gap-repair")

        def again(project: Project) -> tuple[Comparison, ...]:
            # A changed setting measures the same metrics: they are matched once.
            changed = compare(
                claims,
                _full_runs(project, context, place),
                pairs,
                differs=differs,
            )
            return _without_invented(changed, hints)

        gap = Gap(
            made.project,
            criteria=tuple(criteria),
            judged=made.judged,
            comparisons=comparisons,
            measure=again,
        )
        repaired = repair_gap(gap, context, place)
    return Measured(
        runs,
        comparisons=comparisons,
        judgement=judgement,
        gap_repair=repaired,
        notes=notes,
        orderings=tested,
        scale=options.scale,
    )


def _failed(runs: Sequence[FullRun]) -> tuple[str, ...]:
    return tuple(f"Seed {one.seed} at scale {one.scale:g}: {one.why}" for one in runs if not one.ok)


def _without_invented(
    comparisons: Sequence[Comparison], hints: "Sequence[Invented]"
) -> tuple[Comparison, ...]:
    """What the code seems to write is not measured, where no control run decides: it was recomputed
    from predictions, or has no control and does not count for that.
    """
    names = {one.metric for one in hints}

    def is_invented(one: Comparison) -> bool:
        if one.metric not in names or one.measured is None:
            return False
        return one.control is None or not (
            one.control.doubt or one.control.source is Source.RECOMPUTED
        )

    return tuple(
        unmeasured(one, WRITTEN, one.control) if is_invented(one) else one for one in comparisons
    )


def _something_holds(comparisons: Sequence[Comparison], tested: Sequence[Ordering]) -> bool:
    """Whether anything came out that controls have to confirm: a miss needs none."""
    return any(one.is_near for one in comparisons) or any(one.status == "holds" for one in tested)


def _runs_in_time(
    project: Project,
    context: PaperContext,
    run: Scope,
) -> tuple[Runs, PaperContext]:
    """The experiment with every seed, with a smaller share of the training where the whole takes
    too long: all that was run, and the context with the share that counts.
    """
    runs = _full_runs(project, context, run)
    for number in range(SHORTENED):
        if any(one.ok for one in runs) or not runs[-1].late:
            break
        options = replace(
            context.options,
            scale=context.options.scale * SHORTER,
        )
        context = replace(context, options=options)
        context.say(f"full runs took too long: {options.scale:.2%} of the training instead")
        runs += _full_runs(
            project,
            context,
            run.under("shorter", attempt=number),
        )
    return runs, context


def _full_runs(
    project: Project,
    context: PaperContext,
    run: Scope,
    seeds: Sequence[int] = (),
) -> Runs:
    """The experiment with every seed, as the options ask for, or with others."""
    options = context.options
    return full_runs(
        project,
        runner=context.runner,
        run=run,
        seeds=seeds or range(options.seeds),
        options=options,
        say=context.say,
    )


def _more_seeds(
    tested: Sequence[Ordering],
    project: Project,
    runs: Sequence[FullRun],
    context: PaperContext,
    run: Scope,
) -> tuple[FullRun, ...]:
    """Runs with other seeds where those that were asked for are too noisy to decide an ordering."""
    seeds = context.options.seeds
    undecided = sum(one.status == "undecided" for one in tested)
    if seeds < 2 or not undecided or not all(one.ok for one in runs):
        return ()
    context.say(
        f"too noisy to decide over {seeds} seeds: {undecided} of {len(tested)} orderings; more "
        f"seeds"
    )
    return _full_runs(
        project,
        context,
        run.under("more-seeds"),
        range(seeds, MORE * seeds),
    )


class Matches(BaseModel):
    """All claims that the code measures; claims that it does not measure are left out."""

    matches: list[Match] = Field(default_factory=list, max_length=200)


def matched(
    claims: Sequence[PaperClaim],
    runs: Sequence[FullRun],
    project: Project,
    model: Model,
    run: Scope,
) -> tuple[tuple[Match, ...], str]:
    """The declared matching, and why there is none when no usable answer came."""
    names = metric_names(runs)
    if not names or not claims:
        return (), ""
    unit = {claim.id: " in per cent" if claim.unit == "%" else "" for claim in claims}
    # Without its number, so that nothing can be chosen for its value.
    each = (
        (
            one,
            f"{one.id}: {one.metric}{unit[one.id]} of {one.method} on {one.dataset}",
        )
        for one in claims
    )
    listed = "\n".join(f"{words}; {one.setting}" if one.setting else words for one, words in each)
    template = load_prompt("reenact.paper.measure", "prompts/match.md")
    prompt = template.fill(
        claims=listed,
        metrics="\n".join(names),
        project=project.text(),
    )

    def check(answer: Matches) -> None:
        for number, one in enumerate(answer.matches):
            if one.claim not in unit:
                raise ValueError(
                    f"There is no claim {one.claim!r}. The claims are: {', '.join(unit)}."
                )
            if one.metric not in names:
                raise ValueError(
                    f"There is no metric {one.metric!r}. The metrics are: {', '.join(names)}."
                )
            if one.claim in (other.claim for other in answer.matches[:number]):
                raise ValueError(f"The claim {one.claim} is matched twice. A claim has one metric.")

    try:
        answer = ask(
            run,
            model=model,
            name="match",
            prompt=prompt,
            answer=Matches,
            check=check,
        )
    except AnswerUnusable as error:
        return (), f"No one could say which metric is which claim: {error.sentence}"
    return tuple(answer.matches), ""


@dataclass(frozen=True, slots=True)
class Invented:
    """A metric that is not to be believed."""

    metric: str
    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: the metric `{self.metric}` {self.why}"


def invented(
    project: Project, metrics: Sequence[str], claims: Sequence[PaperClaim]
) -> tuple[Invented, ...]:
    """Metrics that code writes as literals alone, or with a claimed number in them."""
    found: list[Invented] = []
    literal: dict[str, list[Invented]] = {}
    # Claimed numbers as code may write them, per cent or a share, of more than one digit.
    forms = [
        form
        for one in claims
        for form in (one.value, *([one.value / 100] if one.unit == "%" else []))
    ]
    telling = [form for form in forms if form and float(f"{form:.0e}") != form]
    same = partial(isclose, rel_tol=SAME, abs_tol=SAME)
    for file, tree in project.trees().items():
        assigned = _assigned(tree)
        for metric, value in _written(tree, frozenset(metrics)):
            numbers = [_number(part) for part in _parts(value, assigned)]
            claimed = (
                one
                for one in numbers
                if one is not None and any(same(one, form) for form in telling)
            )
            if (number := next(claimed, None)) is not None:
                why = f"is made with the literal {number:g}, which is what the paper claims"
                found.append(Invented(metric, file, value.lineno, why))
            why = "" if None in numbers else "is a literal, not a measurement"
            literal.setdefault(metric, []).append(Invented(metric, file, value.lineno, why))
    found += [
        one for written in literal.values() if all(each.why for each in written) for one in written
    ]
    return tuple(dict.fromkeys(found))


def _parts(
    value: ast.expr, assigned: Assigned, seen: frozenset[str] = frozenset()
) -> Iterator[ast.expr]:
    """The leaves of an expression: not the arguments of a function that computes something else. A
    name that the file assigns stands for what is assigned to it.
    """
    inner: list[ast.expr] = []
    match value:
        case ast.Name(id=name) if name in assigned and name not in seen and len(seen) < DEEPEST:
            inner = assigned[name]
            seen = seen | {name}
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            inner = [one, other]
        case ast.UnaryOp(operand=operand) if _number(value) is None:
            inner = [operand]
        case ast.Call(func=ast.Name(id="float" | "int" | "round"), args=[first, *_]):
            inner = [first]
        case ast.BoolOp(values=several) | ast.Call(func=ast.Name(id="max" | "min"), args=several):
            inner = several
    if not inner:
        yield value
    for one in inner:
        yield from _parts(one, assigned, seen)


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
            number = _number(operand)
            return None if number is None else -number
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
    return None


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What each plain name of a file is assigned; a name that a loop or a parameter binds is
    left alone.
    """
    found: dict[str, list[ast.expr]] = {}
    others: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in targets_of(node):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
                else:
                    others.append(target)
        elif isinstance(node, ast.AugAssign | ast.For | ast.comprehension):
            others.append(node.target)
        elif isinstance(node, ast.arg):
            others.append(ast.Name(node.arg))
    bound = {node.id for one in others for node in ast.walk(one) if isinstance(node, ast.Name)}
    return {name: values for name, values in found.items() if name not in bound}


def _written(
    tree: ast.Module,
    metrics: frozenset[str],
) -> Iterator[tuple[str, ast.expr]]:
    """Every expression that is put under the name of a metric: in a dictionary, by key, by
    keyword.
    """
    for node in ast.walk(tree):
        named: list[tuple[ast.AST | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            named = [*zip(node.keys, node.values, strict=True)]
        elif isinstance(node, ast.Assign):
            named = [
                (one.slice, node.value) for one in node.targets if isinstance(one, ast.Subscript)
            ]
        elif isinstance(node, ast.keyword):
            named = [(ast.Constant(node.arg), node.value)]
        for key, value in named:
            if isinstance(key, ast.Constant) and key.value in metrics:
                yield str(key.value), value
