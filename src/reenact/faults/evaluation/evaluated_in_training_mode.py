"""EV01 evaluated-in-training-mode

What
    A model with dropout or batch norm is evaluated without `model.eval()`. Left alone: the same rows passed
    several times to average over dropout, and passes whose output is not used (batch norm that updates its
    statistics).
Why
    Dropout then removes units at random and batch norm uses the statistics of the test batch: results are
    worse, differ from run to run and depend on the batch.
Symptom
    Validation results that change when they are computed again.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item())
Instead
          optimizer.step()
    + model.eval()
Fix safety
    Safe for the training, if `model.train()` follows; measured results change, they were wrong.
Sources
    Documentation of torch.nn.Module.eval.
"""

import ast
from collections.abc import Iterator

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.places import at_named, has_modes
from reenact.faults.fixes.modes import evaluate
from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import objects_of
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import calls, nodes
from reenact.program.syntax.pieces import (
    function_of,
    is_call,
    is_constant,
    keyword,
    place_of,
)

NORMALISES = ("BatchNormalization",)
"""Layers of Keras that nobody asks for in training mode on purpose, as dropout is to be sampled."""
STEPS = ("test_step", "predict_step", "test_on_batch")
"""What Keras calls to evaluate."""
FAULT = Fault(
    code="EV01",
    name="evaluated-in-training-mode",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE011",
    "evaluated-in-training-mode",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="Dropout and batch norm must not behave as in training when a model is judged.",
    study=FaultType.MOD,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def evaluated_in_training_mode(detector: Detector, evidence: Evidence) -> Findings:
    """A model with dropout or batch norm is evaluated without `model.eval()`. Left alone: the same
    rows passed several times to average over dropout, and passes whose output is not used (batch
    norm that updates its statistics).

    Documentation of torch.nn.Module.eval.
    """
    for call in _asked_to_train(evidence) if has_modes(evidence) else ():
        function = getattr(function_of(call), "name", "")
        saw = f"{excerpt(call)} in {function}, which evaluates too"
        yield detector.finding(
            evidence,
            saw,
            fixes=evaluate(evidence, place_of(call)),
            place=place_of(call),
            certainty=Certainty.PROOF,
        )
    if evidence.optimizers > 1 or not has_modes(evidence):
        return
    events = evidence.watched.happened("evaluation")
    # A target network or an average is asked in training steps, too: by whose mode is its maker's
    # choice.
    judged = [one for one in events if one.facts.get("learns", True) or not evidence.copies]
    averaged = {one.step for one in judged if one.facts.get("again")}
    lines = list(nodes(evidence.files, ast.Expr))
    # Where a call begins whose output is not used.
    unread = {str(place_of(one)) for one in lines if is_call(one.value)}
    judged = [one for one in judged if one.step not in averaged and str(one.place) not in unread]
    passes = [bool(event.facts.get("training")) for event in judged]
    if not passes or sum(passes) < 0.5 * len(passes):
        return
    saw = f"{sum(passes)} of {len(passes)} passes without gradients ran in training mode"
    for line in lines:
        # `model.eval` as a statement, without its parentheses.
        if isinstance(line.value, ast.Attribute) and line.value.attr == "eval":
            saw = f"{excerpt(line)} is not called; {saw}"
            yield detector.finding(
                evidence,
                saw,
                fixes=evaluate(evidence, place_of(line)),
                place=place_of(line),
                certainty=Certainty.PROOF,
            )
            return
    places = [event.place for event in judged if event.facts.get("training")]
    first = next(filter(None, places), None)
    found = at_named(
        evidence,
        detector.finding(evidence, saw, kind=Kind.MODE, fixes=evaluate(evidence, first)),
        Kind.MODE,
        "eval",
        ("eval",),
    )
    yield found.refined(place=first or found.place)


@FAULT.detector(
    "RE124",
    "judged-in-training-mode",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.OUTPUTS,
    why="Dropout and batch norm must not behave as in training when a model is judged.",
    study=FaultType.MOD,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def judged_in_training_mode(detector: Detector, evidence: Evidence) -> Findings:
    """The one model that learns is asked between the steps with dropout on, about other rows each
    time.

    Documentation of torch.nn.Module.eval.
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: evaluate(evidence, place),
    )


def _asked_to_train(evidence: Evidence) -> Iterator[ast.Call]:
    """Calls with `training=True` in a step of Keras that evaluates or predicts, or in the pass of a
    model itself, of a layer that takes statistics of its batch.
    """
    for call in calls(evidence.files):
        if is_constant(constant_of(keyword(call, "training")), True):
            name = getattr(function_of(call), "name", "")
            if name in STEPS or (name == "call" and objects_of(call.func, *NORMALISES)):
                yield call
