"""Ask a model several times and keep what can be checked; how many answers agree is the confidence."""

from __future__ import annotations

from collections import Counter

from reenact.asking import asked, paid
from reenact.diagnosis.opinion.answer import Opinion, request_for
from reenact.diagnosis.opinion.check import Checked, checked
from reenact.errors import AnswerUnusable
from reenact.journal import Kind
from reenact.journal.scope import Scope
from reenact.llm.ask import Answer, Model
from reenact.program.program import Program
from reenact.program.static_graph import StaticGraph, static_graph
from reenact.rules.finding import Finding, Severity

CODE, NAME, FAMILY = "MD001", "model-opinion", "model"
WHY = "A model read the program and says so; nothing was measured."
SAMPLES = 5


def model_opinion(
    program: Program, model: Model, samples: int, run: Scope, notes: list[str] | None = None
) -> tuple[Finding, ...]:
    """What a model thinks is wrong, surest first. What it says of lines, layers and faults that do not exist
    is dropped, and `notes` says so."""
    graph = static_graph(program)
    remarks: list[str] = []
    heard: dict[tuple[str, str], list[Checked]] = {}
    for sample in range(samples):
        opinion = _ask(program, graph, model, sample, run, remarks)
        for key, one in _distinct(opinion, program, graph, remarks).items():
            heard.setdefault(key, []).append(one)
    found = [_finding(agreeing, samples, graph) for agreeing in heard.values()]
    if notes is not None:
        counted = Counter(remarks)
        notes += [
            f"The model's answer: {text}{f' ({n} times)' if n > 1 else ''}." for text, n in counted.items()
        ]
    return tuple(sorted(found, key=lambda one: -one.confidence))


def _ask(
    program: Program, graph: StaticGraph, model: Model, sample: int, run: Scope, remarks: list[str]
) -> Opinion:
    request = request_for(program, graph, run.path("opinion", sample=sample), sample)
    try:
        answer = run.step(
            "opinion",
            lambda: model.ask(request),
            kind=Kind.LLM,
            inputs=asked(request, model),
            returns=Answer[Opinion],
            cost=paid,
            final=(AnswerUnusable,),
            sample=sample,
            shared=True,
        )
    except AnswerUnusable as error:
        remarks.append(f"one was of no use, {error.sentence[:200].rstrip('.')}")
        return Opinion(faults=[])
    return answer.value


def _distinct(
    opinion: Opinion, program: Program, graph: StaticGraph, remarks: list[str]
) -> dict[tuple[str, str], Checked]:
    """What one answer says, each thing once."""
    found: dict[tuple[str, str], Checked] = {}
    for said in opinion.faults:
        one = checked(said, program, graph)
        if isinstance(one, str):
            remarks.append(one)
        else:
            found.setdefault((one.fault.value, one.layer), one)
    return found


def _finding(agreeing: list[Checked], samples: int, graph: StaticGraph) -> Finding:
    """The first wording, at the place that most answers name. The confidence is the share of answers that
    agree, with one more that does not: a single answer is never sure."""
    places = Counter(one.place for one in agreeing)
    place = places.most_common(1)[0][0]
    first = next(one for one in agreeing if one.place == place)
    names = [layer.name for layer in graph.layers if layer.family != "input"]
    suggestions = {one.patch.to_text(): one for said in agreeing for one in said.suggestions}
    return Finding(
        code=CODE,
        name=NAME,
        family=FAMILY,
        fault=first.fault,
        severity=Severity.WARNING,
        saw=f"{len(agreeing)} of {samples} answers: {first.reason}",
        why=WHY,
        confidence=len(agreeing) / (samples + 1),
        place=place,
        layer=first.layer,
        layer_index=names.index(first.layer) if first.layer in names else None,
        knob=first.knob.id if first.knob is not None else None,
        suggestions=tuple(suggestions.values()),
    )
