"""All that the search works with, and plan, first script, refined script: what the model is asked,
what it answers, and the feedback it gets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.bug.classify import RunOutcome
from reenact.bug.codebase import Codebase
from reenact.bug.context.context import Context
from reenact.bug.context.index import CodeIndex
from reenact.bug.crash import ReportedCrash, reported_crashes
from reenact.bug.options import BugOptions
from reenact.bug.report import Plan, relations_text, symptom_words
from reenact.bug.reproduction import Attempt, CallForm
from reenact.bug.script_runner import Revision as ProjectRevision
from reenact.bug.script_runner import ScriptRunner
from reenact.bug.symptom import Symptom
from reenact.codegen.edits import LONGEST_SCRIPT, Edit, unfenced, with_lines
from reenact.codegen.project import numbered
from reenact.errors import AnswerUnusable, ended_by
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.types import Progress, Stop, Tell


@dataclass(frozen=True)
class Case:
    """One bug to be shown."""

    raw: str
    """The report as it came: what a symptom must be grounded in."""
    report: str
    """The report as the prompts show it."""
    symptom: Symptom
    contexts: Sequence[Context]
    code: CodeIndex
    buggy: ProjectRevision
    fixed: ProjectRevision | None
    runner: ScriptRunner
    model: Model
    options: BugOptions
    tell: Tell
    stop: Stop
    readme: str = ""
    """Examples of its use, from the project's README."""

    @property
    def project(self) -> Codebase:
        return self.code.project

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of the project that the report's own traceback names."""
        known = self.project.files.definitions
        return tuple(name for name in self.symptom.functions_in(self.raw) if name in known)

    @cached_property
    def crashes(self) -> tuple[ReportedCrash, ...]:
        """What the tracebacks of the report show, as far as they go through this project."""
        return reported_crashes(self.raw, self.project.files)

    def say(self, note: str) -> None:
        """Report progress; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("bug", note=note))


ON_FIXED = (
    "Usually empty. Only where the fix is a new parameter that the fixed code must be given: the "
    "calls of the script that need it, each as it stands and with the new keywords added."
)
NOT_HERE = (
    "Usually empty. Why this project does not have this bug, when the shown code or the runs "
    "make that plain. This ends the search; `script` is then what would show it if it were there."
)
IS_IT = (
    "Usually empty. Where the project raised something else than was expected and that is the "
    "reported bug itself: why. The script then stays as it is."
)

CANNOT_HERE = (
    "Usually empty. Why no script can decide this on this machine: it needs a device, another "
    "operating system or Python, data or a service that the runs have shown not to be here. That "
    "the report names one is not a reason. This ends the search."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question for a script."""

    script: str
    forms: tuple[CallForm, ...] = ()
    not_here: str = ""
    is_it: str = ""
    cannot_here: str = ""


class Draft(BaseModel):
    """A first script."""

    script: str = Field(
        max_length=LONGEST_SCRIPT,
        description="The whole script, Python, without a code fence.",
    )
    on_fixed: list[CallForm] = Field(default_factory=list, max_length=3, description=ON_FIXED)
    not_here: str = Field(default="", max_length=600, description=NOT_HERE)


class Revision(BaseModel):
    """A changed script: either edits or the whole."""

    edits: list[Edit] = Field(default_factory=list, max_length=40)
    script: str = Field(
        default="",
        max_length=LONGEST_SCRIPT,
        description="The whole script; empty when edits are given.",
    )
    on_fixed: list[CallForm] = Field(default_factory=list, max_length=3, description=ON_FIXED)
    not_here: str = Field(default="", max_length=600, description=NOT_HERE)
    is_it: str = Field(default="", max_length=600, description=IS_IT)

    def applied_to(self, old: str) -> str:
        """The script after the change. Raises ValueError in words for the model."""
        if self.is_it.strip() or (
            self.not_here.strip() and not self.edits and not self.script.strip()
        ):
            return old
        if self.script.strip():
            return unfenced(self.script)
        if not self.edits:
            raise ValueError("Give edits or a whole script.")
        return with_lines(old, self.edits, "the script")


class LaterRevision(Revision):
    """The same after scripts have been run: by then it may be plain that none can decide."""

    cannot_here: str = Field(default="", max_length=600, description=CANNOT_HERE)

    def applied_to(self, old: str) -> str:
        """As that of `Revision`; the script may stay as it is."""
        if self.cannot_here.strip() and not self.edits and not self.script.strip():
            return old
        return super().applied_to(old)


OBSTACLES = (RunOutcome.ENVIRONMENT, RunOutcome.NO_RUN)
"""Outcomes by which something may not be here."""


def may_be_undecidable(last: Attempt) -> bool:
    """Whether a model may say that this machine cannot decide: a script has run, and a second one
    came to nothing either, or something was in the way.
    """
    return bool(last.runs) and (last.number > 0 or last.outcome in OBSTACLES)


FRAMES = 8
"""Frames of a traceback that are shown, from its inner end."""


def plan_for(case: Case, context: Context, run: Scope) -> Plan | None:
    """A plan within one context; none when plans are off or none came."""
    if not case.options.parts.plan:
        return None
    prompt = _prompt("plan", case, context, relations=relations_text())
    try:
        return ask(
            run,
            model=case.model,
            name="plan",
            prompt=prompt,
            answer=Plan,
        )
    except AnswerUnusable:
        return None


def _prompt(name: str, case: Case, context: Context, **more: str) -> Prompt:
    """A question about one context, with the README's examples, and what scripts can import
    next to it.
    """
    environment = case.runner.environment
    named = ", ".join(environment.direct or environment.packages) or "nothing but Python"
    keras = any(one.startswith("keras=") for one in environment.packages)
    readme = f"## Examples of the README\n{case.readme}\n" if case.readme else ""
    about = {
        "report": case.report,
        "symptom": symptom_words(case.symptom),
    }
    about["context"] = "\n".join(filter(None, [context.text(), readme]))
    about["installed"] = f"{named} (KERAS_BACKEND is {environment.keras})" if keras else named
    return load_prompt("reenact.bug", f"prompts/{name}.md").fill(
        **about,
        **more,
    )


def draft(
    case: Case,
    context: Context,
    plan: Plan | None,
    run: Scope,
    sample: int | None = None,
) -> Answered:
    """A first script. Raises AnswerUnusable."""
    planned = plan.text() if plan is not None else "There is none."
    prompt = _prompt(
        "script",
        case,
        context,
        plan=planned,
        closing=closing_rule(case),
    )
    one = ask(
        run,
        model=case.model,
        name="script",
        prompt=prompt,
        answer=Draft,
        sample=sample,
    )
    return Answered(
        unfenced(one.script),
        tuple(one.on_fixed),
        one.not_here.strip(),
    )


def revised(case: Case, context: Context, last: Attempt, run: Scope) -> Answered:
    """The next script after the last one was objected to. Raises AnswerUnusable."""
    outputs = (run.observation.output for run in last.runs)
    prompt = _prompt(
        "revise",
        case,
        context,
        script=numbered(last.script),
        stage=last.stage.value if last.stage is not None else "none",
        feedback=feedback(last),
        question=QUESTION if is_open(case, last) else "",
        printed=next(filter(None, outputs), "nothing"),
        closing=closing_rule(case),
    )
    revision = ask(
        run,
        model=case.model,
        name="revise",
        prompt=prompt,
        answer=LaterRevision if may_be_undecidable(last) else Revision,
        check=lambda one: one.applied_to(last.script),
    )
    script = revision.applied_to(last.script)
    forms = tuple(revision.on_fixed) or last.forms
    return Answered(
        script,
        forms,
        revision.not_here.strip(),
        revision.is_it.strip(),
        revision.cannot_here.strip() if isinstance(revision, LaterRevision) else "",
    )


QUESTION = (
    "The project raised something else than was expected, and the report spells no exception. If "
    "this is the\nreported bug, give the reason in `is_it` and leave the script alone. If it is "
    "not:\n\n"
)
"""Asks for the symptom again, where the project raised something that may be the bug."""


def is_open(case: Case, last: Attempt) -> bool:
    """Whether another exception of the project may be the bug: the report spells none."""
    return last.other_failure is not None and not case.symptom.grounded(case.raw)


def is_claimable(case: Case, last: Attempt) -> bool:
    """Whether the model may say that what the project raised is the reported bug: no one knows
    better, or the class is the reported one and the message another.
    """
    if is_open(case, last):
        return True
    reported = case.symptom.raised
    if reported is None or not last.runs or not last.repeats(RunOutcome.PROJECT):
        return False
    return reported.name in last.runs[0].observation.classes


def closing_rule(case: Case) -> str:
    """How the script ends, in our own words."""
    check = case.symptom.closing
    if check is None:
        return "- The script ends with the call that raises; nothing after it matters."
    if not check.relation.of_a_value:
        return "- The script needs no closing value: the watching program measures by itself."
    words = (
        "- It leaves what is looked at in a top-level variable `observed`, which comes out of "
        "project"
    )
    compared = ",\n  and what that is compared with in a top-level variable `reference`"
    words += f" code{compared if check.needs_reference else ''}"
    kinds = "Each of them" if check.needs_reference else "That"
    return (
        f"{words}.\n  {kinds} is a number, a text, a tensor, an array, or a list or dictionary of "
        "these. The watching program\n  computes the closing check; do not assert or print it."
    )


def feedback(last: Attempt) -> str:
    """What was found, with the inner frames of the traceback where there is one."""
    lines = [str(objection) for objection in last.objections]
    seen = (run.observation.frames for run in (*last.fixed_runs, *last.runs))
    if frames := next(filter(None, seen), ()):
        lines.append("Innermost frames:")
        lines += [f"  {frame.whose}: {frame}" for frame in frames[-FRAMES:]]
    return "\n".join(lines) or "nothing"
