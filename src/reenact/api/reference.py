"""`hyperparameters`, `list_rules`, `explain`: what a program sets, what the rules are, what a word means."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from textwrap import fill
from typing import TYPE_CHECKING

from reenact.api.session import File, program_of
from reenact.errors import InputError, UnreadableProgram
from reenact.result import Result, encoded
from reenact.settings import Settings, field_texts
from reenact.types import ExitCode, JsonValue

if TYPE_CHECKING:
    from reenact.program.hyperparameter import Hyperparameter
    from reenact.program.program import Program
    from reenact.program.static_graph import Framework, StaticGraph, StaticLayer
    from reenact.rules.rule import Rule


MOST_RULES = 8
"""Rules that a word is answered with."""


@dataclass(frozen=True, slots=True)
class Hyperparameters(Result):
    """A program as its text makes it."""

    program: Program
    graph: StaticGraph

    @property
    def framework(self) -> Framework:
        """torch, keras, ..."""
        return self.graph.framework

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Every hyperparameter, those that are left to the library too."""
        return self.graph.hyperparameters

    @property
    def layers(self) -> tuple[StaticLayer, ...]:
        """In the order of the text."""
        return self.graph.layers

    def to_dict(self) -> dict[str, JsonValue]:
        """Everything, places as a reader writes them."""
        program = self.program
        return {
            "program": list(program.launch.words),
            "framework": self.framework.value,
            "files": [str(file.path) for file in program.files],
            "unparsed": [{"file": str(file.path), "reason": file.unparsed} for file in program.unparsed],
            "knobs": [
                {**encoded(param), "where": program.where(param.place)}  # type: ignore[dict-item]
                for param in self.hyperparameters
            ],
            "layers": encoded(self.layers),
        }


def hyperparameters(program: File | Sequence[str], *arguments: str) -> Hyperparameters:
    """List the hyperparameters of a training program: kind, value, place and what else each could be.

    The program is read, never run.

    Example:
        for param in reenact.hyperparameters("train.py").hyperparameters:
            print(param.kind, param.value, param.place)

    Returns:
        The program as its text makes it: hyperparameters, layers, framework.
    """
    from reenact.program.static_graph import static_graph

    read = program_of(program, arguments)
    broken = read.unparsed
    if broken and broken[0].path == read.entry:
        raise UnreadableProgram(
            f"The program cannot be parsed: {broken[0].unparsed}. Received: {read.entry}.",
            next_step="Fix the source, or name another script.",
        )
    return Hyperparameters(read, static_graph(read))


def list_rules(*words: str) -> tuple[Rule, ...]:
    """All rules, or those whose code, prefix, name, family or tool is among `words`; where none is, those
    whose page speaks of one of them.

    Example:
        [rule.code for rule in reenact.list_rules("neuralint")]
    """
    from reenact.rules.registry import all_rules, check_words, chosen

    try:
        check_words(words)
    except InputError:
        if found := _speaking_of(words, all_rules()):
            return found
        raise
    return tuple(chosen(words) if words else all_rules())


def _speaking_of(words: Sequence[str], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules with such a word in their name, or else in their page."""
    from reenact.report.rule_pages import rule_text

    wanted = [_flat(word) for word in words if _flat(word)]
    named = tuple(rule for rule in rules if any(word in _flat(rule.name) for word in wanted))
    pages = ((rule, _flat(rule_text(rule).partition("\nExample")[0])) for rule in rules)
    return named or tuple(rule for rule, page in pages if any(word in page for word in wanted))


def _flat(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def explain(word: str, width: int = 100) -> str:
    """What a rule, an ending, an exit code, a setting, a fault type or a verdict means, in lines so wide."""
    from reenact.report.rule_pages import rule_text

    rules = {name: rule for rule in list_rules() for name in (rule.code, rule.name)}
    if rule := rules.get(word.upper()) or rules.get(word.lower()):
        return rule_text(rule, width)
    words = known_words()
    meaning = words.get(word) or words.get(word.lower()) or words.get(word.upper())
    if meaning is not None:
        return fill(f"{word}: {meaning}", width)
    close = difflib.get_close_matches(word, [*words, *rules], n=3)
    begun = tuple(rule for rule in list_rules() if rule.code.startswith(word.upper()))
    if found := begun or (() if close else _speaking_of([word], list_rules())):
        named = (f"  {rule.code} {rule.name}: {rule.why}" for rule in found[:MOST_RULES])
        listed = "\n".join(fill(one, width, subsequent_indent=" " * 8) for one in named)
        about = "that begin with" if begun else "that speak of"
        return f"Rules {about} {word!r}; `reenact explain CODE` shows one of them:\n{listed}"
    close = close or difflib.get_close_matches(word, _vocabulary(), n=1, cutoff=0.75)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`reenact rules` lists the rules."
    raise InputError(f"Nothing is known about {word!r}.", next_step=hint)


def _vocabulary() -> list[str]:
    """Every word of the pages of the rules, so that one that is misspelt is still understood."""
    from reenact.report.rule_pages import rule_text

    return sorted({word for rule in list_rules() for word in re.findall(r"\w{4,}", rule_text(rule))})


def known_words() -> dict[str, str]:
    """Every word with its explanation, gathered from where it is defined."""
    from reenact.bug.classify import RunOutcome
    from reenact.bug.reproduction import Verdict
    from reenact.bug.symptom import Relation
    from reenact.diagnosis.learned.findings import BY_CODE
    from reenact.diagnosis.llm_detector import CODE, WHY
    from reenact.program.fault import Fault
    from reenact.report.views import bug
    from reenact.sandbox.box import Ending

    learned = {
        code: f"{one.name}. The learned detector finds that the trace looks like one of a wrong {one.word}."
        for code, one in BY_CODE.items()
    }
    shown = f"{bug.NAME}. A script was run in the sandbox and the reported symptom came out of this line."
    return {
        **{code: f"exit code. {text}" for code, text in _members(ExitCode).items()},
        **_members(Ending),
        **_members(Fault),
        **field_texts(Settings),
        **learned,
        CODE: WHY,
        bug.CODE: shown,
        **_members(Verdict),
        **_members(RunOutcome),
        **_members(Relation),
    }


def _members(owner: type[Enum]) -> dict[str, str]:
    return {str(owner[name].value): text for name, text in field_texts(owner).items()}
