"""What a version must pass: it is read first, then sampled, then run; the first that objects
speaks.

Sampled tests happen in the sandbox, by our own driver.py; so does the early-exit dry run. `--scale`
shortens the training alone: sizes of the evaluation that follow it are found by reading. Followed
are names that plain arithmetic makes from the scale, in one file. A size of the evaluation is known
by its name (`n_test`, `eval_episodes`, an argument of `evaluate`); how often is evaluated may
change.
"""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from pydantic import BaseModel, ValidationError

from reenact.codegen import static_checks
from reenact.codegen.environment import Environment, imported
from reenact.codegen.project import (
    DATA,
    ENTRY,
    EXPECTED,
    METRICS,
    MODEL,
    Problem,
    Project,
)
from reenact.codegen.runner import ProgramRun, ProjectRunner
from reenact.codegen.syntax import targets_of
from reenact.errors import ResultRefused
from reenact.journal import Scope
from reenact.paper.context import scale_arguments
from reenact.paper.fingerprint.vocabulary import words_of
from reenact.paper.verify.settings import last_name
from reenact.sandbox.box import Ending, Limits
from reenact.sandbox.files.results import read_json

FUNCTIONS = {
    DATA: ("sample_batch",),
    MODEL: ("build_model", "loss_on"),
}
"""What our driver calls."""
MAY_BE_EMPTY = "requirements.txt"
"""Plain Python needs nothing."""
STEPS = 40
"""Repetitions of one batch in which a sound loss must fall."""
SHARE = 0.6
"""Of the wall time: the driver stops training by itself before the box is ended."""
RESULT = "result-WORD.json"
OWN = ".reenact"
"""Folder of our driver in the box."""
DRIVER = f"{OWN}/driver.py"
SCALED_EVALUATION = (
    "`{}` follows --scale: the scale shortens the training alone, never the evaluation."
)
_FRAME = re.compile(r'File "(?:[^"]*/)?box/work/([^"]+)", line (\d+)')
_LAST = re.compile(r"^(\w[\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b.*)$", re.MULTILINE)
SCALE = "scale"
EVALUATION = frozenset(
    ("test", "eval", "evaluation", "evaluate", "val", "valid", "validation", "heldout")
)
HOW_OFTEN = frozenset(
    ("every", "interval", "freq", "frequency", "period", "epoch", "step", "scale")
)
ARITHMETIC = frozenset(("int", "float", "round", "max", "min", "ceil", "floor"))
_ARGUMENT = re.compile(r"evaluat|^test_")
EARLY = ("config.py", DATA, MODEL)
"""Files before the experiment: the first two are those of the data."""


class Where(StrEnum):
    """Which check objected, in the order in which they are made."""

    STATIC = "reading the code"
    BATCH = "sampling a mini-batch"
    METHOD = "training on one batch"
    DRY_RUN = "dry run of the whole experiment"


class Stage(StrEnum):
    """What is being worked on."""

    DATA = "data"
    METHOD = "method"
    EXPERIMENT = "experiment"
    REFACTOR = "refactor"
    REVISION = "revision"
    CHEAPER = "cheaper"
    """After full runs that took too long."""

    @property
    def due(self) -> tuple[str, ...]:
        """Files that must be there when the stage is over."""
        return {
            Stage.DATA: EARLY[:2],
            Stage.METHOD: EARLY,
        }.get(self, EXPECTED)

    @property
    def new(self) -> tuple[str, ...]:
        """Files that the stage writes."""
        before = {
            Stage.METHOD: Stage.DATA.due,
            Stage.EXPERIMENT: Stage.METHOD.due,
        }.get(self, ())
        return tuple(name for name in self.due if name not in before)


@dataclass(frozen=True, slots=True)
class Checked:
    """What checks found of one version."""

    problems: tuple[Problem, ...]
    facts: tuple[str, ...] = ()
    stand_in: str = ""
    """How the project describes data that it made up; empty when they are the real ones."""
    proposed: tuple[str, ...] = ()
    """Requirements for modules that this interpreter lacks."""
    notes: tuple[str, ...] = ()
    late: str = ""
    """What took too long, and how long it had; empty when nothing did."""
    dry_run_s: float = 0.0
    """CPU seconds of a dry run that ended well."""

    @property
    def reached(self) -> tuple[int, int]:
        """How far it came: which check objected, and how often."""
        checks = [*Where]
        return checks.index(self.problems[0].where) if self.problems else len(checks), -len(
            self.problems
        )


class DriverReport(BaseModel):
    """What our driver leaves."""

    problems: list[tuple[str, str, int]]
    """What is wrong, in which file and line."""
    facts: list[str]
    stand_in: str


def static_problems(
    project: Project, environment: Environment, due: tuple[str, ...]
) -> Iterator[Problem]:
    """Everything found by reading. `due` names the files that must be there by now."""
    for name in due:
        empty = not project.files.get(name, "").strip()
        if name not in project.files or (empty and name != MAY_BE_EMPTY):
            yield Problem(
                Where.STATIC,
                "This file is missing or empty; the project must have it.",
                name,
            )
    unparsed = static_checks.unparsed_files(Where.STATIC, project)
    yield from unparsed
    if not unparsed:
        yield from static_checks.lint_project(Where.STATIC, project)
        yield from _contract(project, due)
        yield from static_checks.unresolved_imports(Where.STATIC, project)
        yield from static_checks.missing_modules(Where.STATIC, environment)


def _contract(
    project: Project,
    due: tuple[str, ...],
) -> Iterator[Problem]:
    """A method without gradients need not have what only a training by gradients has."""
    trees = project.trees()
    by_gradient = bool({"torch", "keras", "lightning"} & set(imported(project)))
    for file, functions in FUNCTIONS.items():
        if file not in due or file not in trees or (file == MODEL and not by_gradient):
            continue
        names = static_checks.defined_names(trees[file])
        for function in functions:
            if function not in names and "*" not in names:
                yield Problem(
                    Where.STATIC,
                    f"It must define `{function}`, as the contract says.",
                    file,
                )
    if ENTRY not in due or ENTRY not in project.files:
        return
    for option in ("--seed", "--dry-run", "--scale"):
        if not any(option in text for name, text in project.files.items() if name.endswith(".py")):
            yield Problem(
                Where.STATIC,
                f"It must understand the option {option}.",
                ENTRY,
            )
    for file, tree in trees.items():
        for line, name in scaled_evaluations(tree):
            yield Problem(
                Where.STATIC,
                SCALED_EVALUATION.format(name),
                file,
                line,
            )


def scaled_evaluations(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything of the evaluation whose size follows the scale."""
    scaled = {SCALE}
    before = 0
    while len(scaled) > before:
        before = len(scaled)
        for node in ast.walk(tree):
            given = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(node, ast.stmt) and given is not None and _follows(given, scaled):
                scaled |= {name for name in map(last_name, targets_of(node)) if name}
    for node in ast.walk(tree):
        named: list[tuple[str, ast.expr | None]] = []
        if isinstance(node, ast.Assign | ast.AnnAssign):
            named = [(last_name(target), node.value) for target in targets_of(node)]
        elif isinstance(node, ast.Call):
            named = [(one.arg or "", one.value) for one in node.keywords]
        for name, value in named:
            words = words_of(name)
            if (
                value is not None
                and words & EVALUATION
                and not words & HOW_OFTEN
                and _follows(value, scaled)
            ):
                yield (node if isinstance(node, ast.stmt) else value).lineno, name
        if isinstance(node, ast.Call) and _ARGUMENT.search(callee := last_name(node.func)):
            values = (
                *node.args,
                *(one.value for one in node.keywords),
            )
            yield from ((one.lineno, callee) for one in values if _follows(one, {SCALE}))


def _follows(value: ast.expr, scaled: set[str]) -> bool:
    """Whether arithmetic alone leads from a scaled name to this value."""
    match value:
        case ast.Name() | ast.Attribute():
            return last_name(value) in scaled
        case ast.BinOp(left=left, right=right):
            return _follows(left, scaled) or _follows(right, scaled)
        case ast.IfExp(body=body, orelse=other):
            return _follows(body, scaled) or _follows(other, scaled)
        case ast.Call(func=function, args=arguments) if last_name(function) in ARITHMETIC:
            return any(_follows(one, scaled) for one in arguments)
    return False


def checked(
    stage: Stage,
    project: Project,
    runner: ProjectRunner,
    scale: float,
    scope: Scope,
) -> Checked:
    """All checks that are due at a stage, in their order, up to the first that objects."""
    around = runner.environment_of(project)
    found = [Checked(tuple(static_problems(project, around, stage.due)))]
    if not found[-1].problems:
        mode, where = ("batch", Where.BATCH) if stage is Stage.DATA else ("method", Where.METHOD)
        found.append(
            _driven(
                mode,
                where=where,
                project=project,
                runner=runner,
                scope=scope,
            )
        )
    if not found[-1].problems and stage not in (Stage.DATA, Stage.METHOD):
        found.append(dry_run(project, runner, scale, scope))
    facts = tuple(fact for one in found for fact in one.facts)
    stand_in = next(
        (one.stand_in for one in found if one.stand_in),
        "",
    )
    last = found[-1]
    return Checked(
        last.problems,
        facts=facts,
        stand_in=stand_in,
        proposed=around.proposed,
        notes=around.notes,
        late=last.late,
        dry_run_s=last.dry_run_s,
    )


def _driven(
    mode: str,
    where: Where,
    project: Project,
    runner: ProjectRunner,
    scope: Scope,
) -> Checked:
    """`batch`: one mini-batch, for its shapes, types and ranges. `method`: forward and backward on
    it too, declared shapes, a loss that is finite and falls.
    """
    ran = runner.run(
        mode,
        scope,
        project,
        (DRIVER,),
        limits=runner.limits(),
        collect=(RESULT,),
        extra={DRIVER: files("reenact.paper.develop").joinpath("driver.py").read_bytes()},
        task={
            "mode": mode,
            "steps": STEPS,
            "seconds": SHARE * runner.wall_s,
        },
    )
    try:
        report = DriverReport.model_validate(read_json(ran.results.get(RESULT, "").encode()))
    except (ResultRefused, ValidationError):
        report = None
    if report is None or not ran.ok:
        return Checked(
            (crash(ran, where),),
            late=_late(where, ran, runner.limits()),
        )
    problems = tuple(Problem(where, *one, ran.output) for one in report.problems)
    return Checked(problems, tuple(report.facts), report.stand_in)


def dry_run(
    project: Project,
    runner: ProjectRunner,
    scale: float,
    scope: Scope,
) -> Checked:
    """The whole experiment with an early exit: it must end well and leave finite metrics."""
    ran = runner.run(
        "dry-run",
        scope,
        project,
        (ENTRY, "--seed", "0", "--dry-run", *scale_arguments(scale)),
        limits=runner.limits(),
        collect=(METRICS,),
    )
    if not ran.ok:
        what = f"{Where.DRY_RUN} at scale {scale:g}"
        return Checked(
            (crash(ran, Where.DRY_RUN),),
            late=_late(what, ran, runner.limits()),
        )
    metrics, wrong = metrics_in(ran)
    if wrong:
        return Checked(
            (
                Problem(
                    Where.DRY_RUN,
                    wrong,
                    ENTRY,
                    output=ran.output,
                ),
            )
        )
    seen = f"The dry run ends well and leaves the metrics {', '.join(sorted(metrics))}."
    return Checked((), (seen,), dry_run_s=ran.cpu_s)


def _late(what: str, ran: ProgramRun, limits: Limits) -> str:
    if ran.ending == Ending.TIMEOUT:
        return time_text(what, ran.cpu_s, ran.wall_s, limits)
    return ""


def time_text(what: str, cpu_s: float, wall_s: float, limits: Limits) -> str:
    """What took too long, how long it had, and how long it may take."""
    took = f"{what}: ended after {cpu_s:.0f} s of CPU time and {wall_s:.0f} s by the clock"
    return f"{took}; the limits are {limits.cpu_s or limits.wall_s:g} s and {limits.wall_s:g} s."


def metrics_in(ran: ProgramRun) -> tuple[dict[str, float], str]:
    """The metrics that a run left, or a sentence about what is wrong with them."""
    if METRICS not in ran.results:
        return {}, f"The run ended well but left no {METRICS}."
    try:
        written = read_json(ran.results[METRICS].encode())
    except ResultRefused as error:
        return {}, f"{METRICS} cannot be used. {error.sentence}"
    if not isinstance(written, dict) or not written:
        return (
            {},
            f"{METRICS} must hold an object of metric names and numbers, and at least one of them.",
        )
    metrics: dict[str, float] = {}
    for name, value in written.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            return (
                {},
                f"{METRICS} must be flat names with finite numbers. Received: {name}={value!r}.",
            )
        metrics[name] = float(value)
    return metrics, ""


def crash(ran: ProgramRun, where: Where) -> Problem:
    """A run that did not end well: its last error and innermost line of project code."""
    errors = _LAST.findall(ran.output)
    frames = [found for found in _FRAME.findall(ran.output) if not found[0].startswith(OWN)]
    file, line = frames[-1] if frames else ("", "0")
    sentence = f"{ran.sentence} {errors[-1][:1500]}" if errors else ran.sentence
    return Problem(
        where,
        sentence=sentence,
        file=file,
        line=int(line),
        output=ran.output,
    )
