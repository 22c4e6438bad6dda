"""The report, put in order: what was observed, what was expected, how to get there, with what installed."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reenact.bug.symptom import Check, Relation, Symptom
from reenact.settings import field_texts


class Installed(BaseModel):
    """A package and its version, as the report names them."""

    package: str = Field(max_length=100, description="The name to install it by, for example torch.")
    version: str = Field(default="", max_length=50, description="The version, for example 2.1.0.")


class BugReport(BaseModel):
    """A restructured report. Nothing in it is believed: it guides the search and is checked by running."""

    title: str = Field(max_length=300)
    observed: str = Field(max_length=4000, description="What happens.")
    expected: str = Field(max_length=4000, description="What should happen instead.")
    steps: list[str] = Field(max_length=30, description="How to get there, with the values that are given.")
    environment: list[Installed] = Field(default_factory=list, max_length=40)

    def text(self) -> str:
        """The report as the prompts show it."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        installed = ", ".join(f"{one.package} {one.version}".strip() for one in self.environment)
        return (
            f"TITLE\n{self.title}\n\nOBSERVED\n{self.observed}\n\nEXPECTED\n{self.expected}\n\n"
            f"STEPS\n{steps or 'none given'}\n\nENVIRONMENT\n{installed or 'none given'}"
        )


class Plan(BaseModel):
    """How a script could show the bug, with concrete values."""

    idea: str = Field(max_length=1000, description="Why these steps reach the bug, in one or two sentences.")
    steps: list[str] = Field(
        min_length=1,
        max_length=20,
        description="Each step with its concrete values: shapes, arguments, counts, seeds.",
    )
    closing: str = Field(
        max_length=600,
        description="What is looked at in the end: which call raises, or what `observed` holds.",
    )
    check: Check | None = Field(
        default=None,
        description="For a silent bug: the closing check with its concrete number, where that of the symptom"
        " is too vague; else leave it out.",
    )

    def text(self) -> str:
        """The plan as the prompts show it."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        return f"{self.idea}\n\n{steps}\n\nIn the end: {self.closing}"


def planned(symptom: Symptom, plan: Plan | None) -> Symptom:
    """The symptom with the closing check that the plan made concrete; an exception stays what it is."""
    if plan is None or plan.check is None or not symptom.is_silent:
        return symptom
    return symptom.model_copy(update={"check": plan.check})


def symptom_words(symptom: Symptom) -> str:
    """The symptom as the prompts show it."""
    lines = [symptom.words]
    if symptom.explicit is not None and not symptom.is_silent:
        said = symptom.explicit
        lines.append(f"Must be seen: {said.name}, raised in project code, phase {said.phase}.")
        if said.message:
            lines.append(f"Its message contains, in order (* varies): {said.message}")
        if said.functions:
            lines.append(f"Reported functions: {', '.join(said.functions)}")
    elif symptom.check is not None:
        meaning = field_texts(Relation)[symptom.check.relation.name]
        lines.append(f"Must hold while the bug is there: {symptom.check.words}. That is: {meaning}")
        if symptom.check.needs_reference:
            lines.append("It is compared with the value that the script leaves in `reference`.")
    return "\n".join(lines)
