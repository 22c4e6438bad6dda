"""`reenact explain WORD`: what a rule, an ending, an exit code, a setting or a fault type means."""

from __future__ import annotations

import difflib
from enum import Enum
from textwrap import indent

import click

from reenact.cli.options import echo
from reenact.errors import InputError
from reenact.settings import Settings, field_texts
from reenact.types import ExitCode


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: a rule, an ending, an exit code, a setting, a fault type."""
    told = _rule_text(word)
    if told:
        echo(told)
        return
    words = known_words()
    found = words.get(word) or words.get(word.lower()) or words.get(word.upper())
    if found is None:
        close = difflib.get_close_matches(word, [*words, *_rule_names()], n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Known words: {', '.join(sorted(words))}."
        raise InputError(f"Nothing is known about {word!r}.", next_step=hint)
    echo(f"{word}: {found}")


def _rule_text(word: str) -> str:
    """The whole documentation of a rule, by code or name; empty when there is no such rule."""
    from reenact.rules.reading import reading
    from reenact.rules.registry import all_rules

    for rule in all_rules():
        if word.upper() == rule.code or word.lower() == rule.name:
            text = reading(rule)
            needs = " ".join(str(need.name).lower() for need in rule.needs)
            fault = f"{rule.fault.value}  " if rule.fault is not None else ""
            head = f"{text.title}\n\n  {rule.family}  {fault}{rule.severity}  needs {needs}  {rule.status}\n"
            parts = [f"{name}\n{indent(body, '    ')}\n" for name, body in text.sections.items()]
            return "\n".join([head, *parts]).rstrip()
    return ""


def _rule_names() -> list[str]:
    from reenact.rules.registry import all_rules

    return [word for rule in all_rules() for word in (rule.code, rule.name)]


def known_words() -> dict[str, str]:
    """Every word with its explanation, gathered from where it is defined."""
    from reenact.program.fault import Fault
    from reenact.sandbox.box import Ending

    codes = {code: f"exit code. {text}" for code, text in _members(ExitCode).items()}
    return {
        **codes,
        **_members(Ending),
        **_members(Fault),
        **field_texts(Settings),
        **_opinions(),
        **_of_bugs(),
    }


def _opinions() -> dict[str, str]:
    """Codes of findings that come from no rule: the learned detector and language models."""
    from reenact.diagnosis.learned.classes import BY_CODE
    from reenact.diagnosis.llm_detector.findings import CODE, WHY

    learned = {
        code: f"{one.name}. The learned detector finds that the trace looks like one of a wrong {one.word}."
        for code, one in BY_CODE.items()
    }
    return {**learned, CODE: WHY}


def _of_bugs() -> dict[str, str]:
    """What `reenact bug` says of runs, symptoms and reports."""
    from reenact.bug.reproduction import Verdict
    from reenact.bug.run.classify import RunOutcome
    from reenact.bug.symptom import Relation
    from reenact.report.views.bug import CODE, NAME

    told = {CODE: f"{NAME}. A script was run in the sandbox and the reported symptom came out of this line."}
    return {**told, **_members(Verdict), **_members(RunOutcome), **_members(Relation)}


def _members(owner: type[Enum]) -> dict[str, str]:
    return {str(owner[name].value): text for name, text in field_texts(owner).items()}
