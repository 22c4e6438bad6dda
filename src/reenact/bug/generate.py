"""Plan, first script, refined script: what the model is asked, what it answers, and the feedback it gets."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.bug.call_form import CallForm
from reenact.bug.case import Case
from reenact.bug.context.context import Context
from reenact.bug.report import Plan, symptom_words
from reenact.bug.reproduction import Attempt
from reenact.bug.validate.stages import LONGEST
from reenact.codegen.edits import unfenced, with_lines
from reenact.codegen.project import numbered
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.prompts import load_prompt

ON_FIXED = (
    "Only where the fix adds a parameter: calls of the script in the form that the fixed revision needs."
    " Each may add keywords that the shown code does not take; the script itself never chooses."
)
NOT_HERE = (
    "Why this bug is not in this code, when the shown code or the runs so far make that plain; else empty."
    " It ends the search; the script is then the one that comes nearest."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question for a script."""

    script: str
    forms: tuple[CallForm, ...] = ()
    not_here: str = ""


class Draft(BaseModel):
    """A first script."""

    script: str = Field(max_length=LONGEST, description="The whole script, Python, without a code fence.")
    on_fixed: list[CallForm] = Field(default_factory=list, max_length=3, description=ON_FIXED)
    not_here: str = Field(default="", max_length=600, description=NOT_HERE)


class Edit(BaseModel):
    """New text for a range of lines."""

    first: int = Field(ge=1, description="First line that is replaced, counted from 1.")
    last: int = Field(ge=0, description="Last line that is replaced; first - 1 inserts before the first.")
    text: str = Field(max_length=LONGEST, description="The new lines; empty removes the old ones.")


class Revision(BaseModel):
    """A changed script: either edits or the whole."""

    edits: list[Edit] = Field(default_factory=list, max_length=40)
    script: str = Field(
        default="", max_length=LONGEST, description="The whole script; empty when edits are given."
    )
    on_fixed: list[CallForm] = Field(default_factory=list, max_length=3, description=ON_FIXED)
    not_here: str = Field(default="", max_length=600, description=NOT_HERE)

    def applied_to(self, old: str) -> str:
        """The script after the change. Raises ValueError in words for the model."""
        if self.not_here.strip():
            return old
        if self.script.strip():
            return unfenced(self.script)
        if not self.edits:
            raise ValueError("Give edits or a whole script.")
        return with_lines(old, self.edits, "the script")


FRAMES = 8
"""Frames of a traceback that are shown, from its inner end."""


def plan_for(case: Case, context: Context, run: Scope) -> Plan | None:
    """A plan within one context; none when plans are off or none came."""
    if not case.options.parts.plan:
        return None
    prompt = load_prompt("reenact.bug", "prompts/plan.md").fill(
        report=case.report, symptom=symptom_words(case.symptom), context=case.shown(context)
    )
    try:
        return ask(run, case.model, "plan", prompt, Plan)
    except AnswerUnusable:
        return None


def draft(case: Case, context: Context, plan: Plan | None, run: Scope, sample: int | None = None) -> Answered:
    """A first script. Raises AnswerUnusable."""
    prompt = load_prompt("reenact.bug", "prompts/script.md").fill(
        report=case.report,
        symptom=symptom_words(case.symptom),
        context=case.shown(context),
        plan=plan.text() if plan is not None else "There is none.",
        closing=closing_rule(case),
    )
    one = ask(run, case.model, "script", prompt, Draft, sample=sample)
    return Answered(unfenced(one.script), tuple(one.on_fixed), one.not_here.strip())


def revised(case: Case, context: Context, last: Attempt, run: Scope) -> Answered:
    """The next script after the last one was objected to. Raises AnswerUnusable."""
    prompt = load_prompt("reenact.bug", "prompts/revise.md").fill(
        report=case.report,
        symptom=symptom_words(case.symptom),
        context=case.shown(context),
        script=numbered(last.script),
        stage=last.stage.value if last.stage is not None else "none",
        feedback=feedback(last),
        printed=next((run.observation.output for run in last.runs if run.observation.output), "nothing"),
        closing=closing_rule(case),
    )

    def fits_script(one: Revision) -> None:
        one.applied_to(last.script)

    revision = ask(run, case.model, "revise", prompt, Revision, check=fits_script)
    script = revision.applied_to(last.script)
    return Answered(script, tuple(revision.on_fixed) or last.forms, revision.not_here.strip())


def closing_rule(case: Case) -> str:
    """How the script ends, in our own words."""
    check = case.check
    if check is None:
        return "- The script ends with the call that raises; nothing after it matters."
    if not check.relation.of_a_value:
        return "- The script needs no closing value: the watching program measures by itself."
    words = (
        "- It leaves what is looked at in a top-level variable `observed`, which comes out of project code"
    )
    if check.needs_reference:
        words += ",\n  and what that is compared with in a top-level variable `reference`"
    return (
        f"{words}. Either is a number, a text,\n  a tensor, an array, or a list or dictionary of these."
        " The watching program computes the closing\n  check; do not assert or print it."
    )


def feedback(last: Attempt) -> str:
    """What was found, with the inner frames of the traceback where there is one."""
    lines = [str(objection) for objection in last.objections]
    frames = next(
        (run.observation.frames for run in (*last.fixed_runs, *last.runs) if run.observation.frames), ()
    )
    if frames:
        lines.append("Innermost frames:")
        lines += [f"  {frame.whose}: {frame}" for frame in frames[-FRAMES:]]
    return "\n".join(lines) or "nothing"
