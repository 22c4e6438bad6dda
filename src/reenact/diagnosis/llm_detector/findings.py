"""Ask a model several times and keep what can be checked; how many answers agree is the confidence."""

from __future__ import annotations

from collections import Counter

from reenact.asking import asked, paid
from reenact.diagnosis.llm_detector.opinion import Checked, Opinion, checked, request_for
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


def llm_findings(
    program: Program, model: Model, samples: int, run: Scope
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What a model thinks is wrong, surest first. What it says of lines, layers and faults that do not exist
    is dropped, and the notes that come along say so."""
    graph = static_graph(program)
    dropped: Counter[str] = Counter()
    agreeing: dict[tuple[str, str], list[Checked]] = {}
    for sample in range(samples):
        faults, why_not = _answer(program, graph, model, sample, run)
        dropped.update(why_not)
        for key, one in faults.items():
            agreeing.setdefault(key, []).append(one)
    found = [_finding(same, samples, graph) for same in agreeing.values()]
    notes = (f"The model's answer: {why}{f' ({n} times)' if n > 1 else ''}." for why, n in dropped.items())
    return tuple(sorted(found, key=lambda one: -one.confidence)), tuple(notes)


def _answer(
    program: Program, graph: StaticGraph, model: Model, sample: int, run: Scope
) -> tuple[dict[tuple[str, str], Checked], list[str]]:
    """What one answer says that can be checked, each thing once, and why the rest was dropped."""
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
        return {}, [f"one was of no use, {error.sentence[:200].rstrip('.')}"]
    faults: dict[tuple[str, str], Checked] = {}
    why_not: list[str] = []
    for named in answer.value.faults:
        one = checked(named, program, graph)
        if isinstance(one, str):
            why_not.append(one)
        else:
            faults.setdefault((one.fault.value, one.layer), one)
    return faults, why_not


def _finding(agreeing: list[Checked], samples: int, graph: StaticGraph) -> Finding:
    """The first wording, at the place that most answers name. The confidence is the share of answers that
    agree, with one more that does not: a single answer is never sure."""
    places = Counter(one.place for one in agreeing)
    place = places.most_common(1)[0][0]
    first = next(one for one in agreeing if one.place == place)
    names = [layer.name for layer in graph.layers if layer.family != "input"]
    suggestions = {one.patch.to_text(): one for same in agreeing for one in same.suggestions}
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
        hyperparameter=first.hyperparameter.id if first.hyperparameter is not None else None,
        suggestions=tuple(suggestions.values()),
    )
