"""The report in order, and what must be seen: two questions to a model, nothing of the answers
believed.
"""

from collections.abc import Mapping

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.bug.symptom import Explicit, Symptom
from reenact.claims.check import Check, Relation
from reenact.errors import AnswerUnusable
from reenact.files import packaged_table
from reenact.intake.report import RawReport
from reenact.journal import Scope
from reenact.llm.ask import Model, bounded
from reenact.llm.prompts import load_prompt
from reenact.settings import field_texts


def taxonomy_classes(of: str) -> Mapping[str, str]:
    """The codes and words of `fault` or `symptom`."""
    found: Mapping[str, str] = packaged_table("reenact.bug", "taxonomy.toml")[of]
    return found


class Installed(BaseModel):
    """A package and its version, as the report names them."""

    package: str = Field(
        max_length=100, description="The name to install it by, for example torch."
    )
    version: str = Field(default="", max_length=50, description="The version, for example 2.1.0.")


class BugReport(BaseModel):
    """A restructured report. Nothing in it is believed: it guides the search and is checked by running."""

    title: str = Field(max_length=300)
    observed: str = Field(max_length=4000, description="What happens.")
    expected: str = Field(max_length=4000, description="What should happen instead.")
    steps: list[str] = Field(
        max_length=30, description="How to get there, with the values that are given."
    )
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

    idea: str = Field(
        max_length=1000,
        description="Why these steps reach the bug, in one or two sentences.",
    )
    steps: list[str] = bounded(
        20,
        "Each step with its concrete values: shapes, arguments, counts, seeds.",
        min_length=1,
    )
    closing: str = bounded(
        600,
        "What is looked at in the end: which call raises, or what `observed` holds.",
    )
    check: Check | None = Field(
        default=None,
        description="For a silent bug: the closing check with its concrete number, where that of "
        "the symptom is too vague; else leave it out.",
    )
    raises: Explicit | None = Field(
        default=None,
        description="Where the report does not spell an exception and the code shows that the "
        "bug raises one: which. Else leave it out.",
    )

    def text(self) -> str:
        """The plan as the prompts show it."""
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        return f"{self.idea}\n\n{steps}\n\nIn the end: {self.closing}"

    def sharpened(self, symptom: Symptom, report: str) -> Symptom:
        """The symptom as the plan restates it: another exception, or the closing check made
        concrete. An exception that the report spells stays what it is.
        """
        if symptom.grounded(report):
            return symptom
        if self.raises is not None:
            changed = {
                "kind": "explicit",
                "explicit": self.raises,
                "check": None,
            }
            return symptom.model_copy(
                update={
                    **changed,
                    "words": f"{self.closing}"[:1000],
                }
            )
        if self.check is None:
            return symptom
        return symptom.model_copy(
            update={
                "kind": "silent",
                "check": self.check,
                "explicit": None,
            }
        )


def symptom_words(symptom: Symptom) -> str:
    """The symptom as the prompts show it."""
    lines = [symptom.words]
    if (reported := symptom.raised) is not None:
        lines.append(
            f"Must be seen: {reported.name}, raised in project code, phase {reported.phase}."
        )
        if reported.message:
            lines.append(f"Its message contains, in order (* varies): {reported.message}")
        if reported.functions:
            lines.append(f"Reported functions: {', '.join(reported.functions)}")
    elif symptom.check is not None:
        meaning = field_texts(Relation)[symptom.check.relation.name]
        lines.append(f"Must hold while the bug is there: {symptom.check.words}. That is: {meaning}")
        if symptom.check.needs_reference:
            lines.append("It is compared with the value that the script leaves in `reference`.")
        values = {
            "observed": symptom.check.observed,
            "reference": symptom.check.reference,
        }
        lines += [f"`{name}`: {words}" for name, words in values.items() if words]
    return "\n".join(lines)


def restructured(raw: RawReport, model: Model, run: Scope) -> BugReport | None:
    """The report in order; none when the model cannot do it: then the raw one is used."""
    prompt = load_prompt("reenact.bug", "prompts/restructure.md").fill(report=raw.text())
    try:
        return ask(
            run,
            model=model,
            name="restructure",
            prompt=prompt,
            answer=BugReport,
        )
    except AnswerUnusable:
        return None


def symptom_in(text: str, model: Model, run: Scope) -> Symptom:
    """What must be seen. Raises AnswerUnusable: without it nothing can be shown."""
    known = {f"{of}s": taxonomy_classes(of).items() for of in ("fault", "symptom")}
    classes = {
        of: "\n".join(f"{code}: {words}" for code, words in each) for of, each in known.items()
    }
    template = load_prompt("reenact.bug", "prompts/symptom.md")
    prompt = template.fill(
        report=text,
        relations=relations_text(),
        **classes,
    )

    def check_classes(symptom: Symptom) -> None:
        if symptom.sign not in taxonomy_classes("symptom"):
            raise ValueError(f"`sign` must be one of: {', '.join(taxonomy_classes('symptom'))}.")
        if symptom.fault and symptom.fault not in taxonomy_classes("fault"):
            raise ValueError(
                f"`fault` must be one of: {', '.join(taxonomy_classes('fault'))}, or empty."
            )

    return ask(
        run,
        model=model,
        name="symptom",
        prompt=prompt,
        answer=Symptom,
        check=check_classes,
    )


def relations_text() -> str:
    """The relations as a prompt lists them."""
    return "\n".join(f"{Relation[name]}: {words}" for name, words in field_texts(Relation).items())
