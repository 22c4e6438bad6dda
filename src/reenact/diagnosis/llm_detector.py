"""Ask a model several times and keep what can be checked; how many answers agree is the confidence.

Nothing of it was executed: what comes of it are opinions, until a training confirms one.

The program is quoted data, the answer a typed list of faults. Of an opinion can be checked that its
line, its layer and its kind of fault exist, and that its value is harmless.

A value proposed by a model is taken over only as a number, a truth value where one is in force, or
one of the alternatives that the program itself offers for that hyperparameter. What a model claims
besides is code of its own: it runs in the sandbox only (`proposals`).
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeAlias

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.diagnosis.proposals.context import NOTHING, WITHOUT
from reenact.diagnosis.proposals.proposed import Proposed, rules_of_checks
from reenact.errors import AnswerUnusable, PatchRefused
from reenact.faults.agreement import firsts
from reenact.faults.detector import suggest
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Observation, Observes, Severity, Suggestion
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import Program
from reenact.program.static_graph import StaticGraph, static_graph
from reenact.program.syntax.source import Language
from reenact.program.training.static_layer import StaticLayer
from reenact.settings import field_texts
from reenact.types import JsonValue, Place

NOBODY = "nothing in particular"
TRUTHS = (Kind.SHUFFLE, Kind.ZERO_GRAD)
"""Kinds of hyperparameters that are true or false."""


class Suspicion(BaseModel):
    """One fault, as the model sees it. Nothing of it is believed before it was checked."""

    fault: str = Field(description="Code of the fault type, from the list.")
    layer: str = Field(
        default="",
        description="Name of the layer from the list; empty for the training.",
    )
    file: str = Field(default="", description="Name of the file; empty for the first one.")
    line: int = Field(description="Number of the line at fault, as it stands before the bar.")
    old: str = Field(default="", description="The value in force, as the source writes it.")
    new: str = Field(default="", description="The value that mends it.")
    reason: str = Field(description="Why, in one sentence.")


class Opinion(BaseModel):
    """All that the model sees, the surest first; empty when it sees nothing."""

    faults: list[Suspicion] = Field(max_length=12)
    claims: list[Proposed] = Field(default_factory=list, max_length=3)


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """What a model answers about a program, and what was dropped of it."""

    findings: tuple[Finding, ...]
    """Settings that it doubts: opinions, the surest first."""
    claims: tuple[Proposed, ...]
    """What it claims besides, what several answers have first."""
    notes: tuple[str, ...]


def numbered(program: Program) -> str:
    """Every Python file with its lines numbered, the entry first."""
    parts = []
    for file in program.files:
        if file.language not in (Language.PYTHON, Language.NOTEBOOK):
            continue
        text = program.script() if file is program.entry_file else file.text
        lines = (f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), start=1))
        parts.append("\n".join([f"file {file.path}", *lines]))
    return "\n\n".join(parts)


def checked(named: Suspicion, program: Program, graph: StaticGraph) -> Observation | str:
    """The suspicion in the program's own terms, or a sentence that says why it is dropped."""
    fault = fault_named(named.fault)
    if fault is None:
        return f"it named a fault type that is not known ({_short(named.fault)})"
    file = named.file.strip() or str(program.entry)
    place = Place(PurePosixPath(file), named.line)
    if program.file(file) is None or named.line < 1 or not program.line(place).strip():
        return f"it named a line that is not in the program ({_short(file)}:{named.line})"
    wanted = named.layer.strip().strip("`'\"")
    layer = next(
        (one for one in graph.layers if wanted and one.name == wanted),
        None,
    )
    if named.layer.strip() and layer is None:
        return f"it named a layer that is not in the program ({_short(named.layer)})"
    param = _hyperparameter(fault, place, layer, graph)
    name = ""
    if layer is not None:
        name = layer.name
    elif param is not None:
        name = param.id.layer
    names = [one.name for one in graph.layers if one.family != "input"]
    index = names.index(name) if name in names else None
    opinion = Observation(
        code=CODE,
        name=NAME,
        family=FAMILY,
        fault=fault,
        severity=Severity.WARNING,
        saw=_short(named.reason, 240),
        why=WHY,
        confidence=0.0,
        place=place,
        layer=name,
        layer_index=index,
        observes=Observes.OPINION,
        is_calibrated=True,
    )
    if param is None:
        return opinion
    suggestions = tuple(_suggestions(param, named.new, program))
    return replace(
        opinion,
        place=_exactly(param, place),
        hyperparameter=param.id,
        suggestions=suggestions,
    )


def fault_named(word: str) -> FaultType | None:
    """A fault by its code, or by the words that explain it."""
    wanted = _plain(word)
    for name, text in field_texts(FaultType).items():
        if wanted in (
            _plain(name),
            _plain(text),
            _plain(f"{name}: {text}"),
        ):
            return FaultType[name]
    return None


def _hyperparameter(
    fault: FaultType, place: Place, layer: StaticLayer | None, graph: StaticGraph
) -> Hyperparameter | None:
    """The hyperparameter of the right kind on that line; of a layer that was named its own,
    wherever that is written. A line is believed as it was named: none is looked for elsewhere.
    """
    fitting = [param for param in graph.hyperparameters if param.kind in fault.traits.kinds]
    if layer is not None:
        fitting = [param for param in fitting if param.id.layer == layer.name]
    here = next((param for param in fitting if _spot(param, place) is not None), None)
    if here is None and layer is not None and len(fitting) == 1:
        return fitting[0]
    return here


def _spot(param: Hyperparameter, place: Place) -> Place | None:
    """Where on that line it is written or used; none where it is neither."""
    for spot in (param.place, *param.uses):
        last = max(spot.line, spot.end_line)
        if spot.file == place.file and spot.line <= place.line <= last:
            return spot
    return None


def _exactly(param: Hyperparameter, place: Place) -> Place:
    """The place with its columns, where the hyperparameter begins on that line."""
    spot = _spot(param, place)
    return spot if spot is not None and spot.line == place.line else place


def _suggestions(param: Hyperparameter, new: str, program: Program) -> Iterator[Suggestion]:
    value = _value(param, new)
    if value is None:
        return
    for suggestion in suggest(param, (value,)):
        try:
            suggestion.patch.apply(program)
        except PatchRefused:
            continue
        yield suggestion


def _value(param: Hyperparameter, text: str) -> JsonValue:
    """A number, a truth value where one is in force, or one of the hyperparameter's own
    alternatives; none for anything else.
    """
    spelled = {_plain(one): one for one in param.alternatives if isinstance(one, str)}
    word = text.strip().strip("`'\"")
    if _plain(word) in spelled:
        return spelled[_plain(word)]
    try:
        read = ast.literal_eval(word) if len(word) < 40 else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    # To Python True is a number as well.
    if isinstance(read, bool) or _is_truth(param):
        return read if isinstance(read, bool) and _is_truth(param) else None
    if isinstance(read, int | float) and abs(read) < 1e12:
        return read
    return None


def _is_truth(param: Hyperparameter) -> bool:
    """Whether its value is true or false."""
    return param.kind in TRUTHS or isinstance(param.in_force, bool)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _short(text: str, most: int = 60) -> str:
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return f"{flat[: most - 1]}…"


CODE = "MD001"
NAME = "model-opinion"
FAMILY = "model"
WHY = "A model that read the program thinks so; nothing was executed for that."


def answers_of(
    program: Program,
    model: Model,
    samples: int,
    run: Scope,
    facts: str = NOTHING,
    suspect: str = "",
) -> ModelAnswers:
    """What a model thinks is wrong. What it says of lines, layers and faults that do not exist is
    dropped, and the notes say so. The first sample does without the facts of the watched run, where
    there are several: they must not lead all of them the same way.
    """
    graph = static_graph(program)
    faults = "\n".join(
        f"{FaultType[name].value}: {text}" for name, text in field_texts(FaultType).items()
    )
    layers = "\n".join(
        f"{layer.name}: {layer.type}, line {layer.place.line}" for layer in graph.layers
    )
    template = load_prompt("reenact.diagnosis", "prompts/opinion.md")
    claims: dict[tuple[str, int], list[Proposed]] = {}
    dropped: Counter[str] = Counter()
    agreeing: dict[_Key, list[Observation]] = {}
    for sample in range(samples):
        try:
            prompt = template.fill(
                faults=faults,
                layers=layers or "none could be read",
                program=numbered(program),
                facts=WITHOUT if samples > 1 and sample == 0 else facts,
                suspect=suspect or NOBODY,
                check=rules_of_checks(),
            )
            opinion = ask(run, model, "opinion", prompt, Opinion, sample=sample)
        except AnswerUnusable as error:
            dropped[f"one was of no use, {error.sentence[:200].rstrip('.')}"] += 1
            continue
        for one in opinion.claims:
            claims.setdefault((one.file or str(program.entry), one.line), []).append(one)
        found = [checked(named, program, graph) for named in opinion.faults]
        dropped.update(one for one in found if isinstance(one, str))
        # Each thing counts once an answer, in its first words.
        kept = firsts(
            (one for one in found if isinstance(one, Observation)),
            lambda one: _key(one, program),
        )
        for observed in kept:
            agreeing.setdefault(_key(observed, program), []).append(observed)
    together = [_together(same, samples) for same in agreeing.values()]
    notes = (
        f"The model's answer: {why}{f' ({n} times)' if n > 1 else ''}."
        for why, n in dropped.items()
    )
    return ModelAnswers(
        tuple(sorted(together, key=lambda one: -one.confidence)),
        tuple(one[0] for one in sorted(claims.values(), key=len, reverse=True)),
        tuple(notes),
    )


_Key: TypeAlias = tuple[FaultType | None, Place | None, str]


def _key(opinion: Observation, program: Program) -> _Key:
    """What an opinion is about: the fault, the statement that it names, and its layer."""
    fault = opinion.fault.counted_as if opinion.fault is not None else None
    where = program.statement(opinion.place) if opinion.place is not None else None
    return fault, where, opinion.layer


def _together(agreeing: list[Observation], samples: int) -> Finding:
    """The first wording, at the place that most answers name. The confidence is the share of
    answers that agree, with one more that does not: a single answer is never sure.
    """
    place = Counter(one.place for one in agreeing).most_common(1)[0][0]
    first = next(one for one in agreeing if one.place == place)
    turned = (one.hyperparameter for one in agreeing)
    suggestions = {one.patch.to_text(): one for same in agreeing for one in same.suggestions}
    saw = f"{len(agreeing)} of {samples} answers: {first.saw}"
    sure = len(agreeing) / (samples + 1)
    return finding_of(
        replace(
            first,
            saw=saw,
            confidence=sure,
            hyperparameter=next(filter(None, turned), None),
            suggestions=tuple(suggestions.values()),
        )
    )
