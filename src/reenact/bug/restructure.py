"""Report -> restructured report -> symptom: two questions to the model, nothing of the answers believed."""

from __future__ import annotations

from reenact.asking import ask
from reenact.bug.report import BugReport, Installed
from reenact.bug.symptom import Relation, Symptom
from reenact.bug.taxonomy import classes, listing
from reenact.errors import AnswerUnusable
from reenact.intake.report import RawReport
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.settings import field_texts


def restructured(raw: RawReport, model: Model, run: Scope) -> BugReport | None:
    """The report in order; none when the model cannot do it: then the raw one is used."""
    prompt = load_prompt("reenact.bug", "prompts/restructure.md").fill(report=raw.text())
    try:
        return ask(run, model, "restructure", prompt, BugReport)
    except AnswerUnusable:
        return None


def symptom_in(text: str, model: Model, run: Scope) -> Symptom:
    """What must be seen. Raises AnswerUnusable: without it nothing can be shown."""
    prompt = load_prompt("reenact.bug", "prompts/symptom.md").fill(
        report=text,
        faults=listing("fault"),
        symptoms=listing("symptom"),
        relations="\n".join(f"{Relation[name]}: {words}" for name, words in field_texts(Relation).items()),
    )
    return ask(run, model, "symptom", prompt, Symptom, check=_known)


def installed(report: BugReport | None) -> tuple[Installed, ...]:
    """The packages that the report names."""
    return tuple(report.environment) if report is not None else ()


def _known(symptom: Symptom) -> None:
    if symptom.sign not in classes("symptom"):
        raise ValueError(f"`sign` must be one of: {', '.join(classes('symptom'))}.")
    if symptom.fault and symptom.fault not in classes("fault"):
        raise ValueError(f"`fault` must be one of: {', '.join(classes('fault'))}, or empty.")
