"""RE011 evaluated-in-training-mode

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
from dataclasses import replace
from pathlib import PurePosixPath

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Place, Rule
from reenact.rules.own._lines import function_of, indexes, place_in
from reenact.rules.own._places import at_hyperparameter, has_modes, named_hyperparameter

STEPS = ("test_step", "predict_step", "test_on_batch")
"""What Keras calls to evaluate."""


class EvaluatedInTrainingMode(Rule):
    code, name, family, fault = "RE011", "evaluated-in-training-mode", "reenact", Fault.MOD
    needs = Needs.TRACE
    confidence = 0.85
    certainty = Certainty.STRONG
    why = "Dropout and batch norm must not behave as in training when a model is judged."

    def check(self, evidence: Evidence) -> Findings:
        for index, call in _asked_to_train(evidence):
            saw = f"{ast.unparse(call)[:60]} in a step that evaluates"
            yield self.finding(evidence, saw, place=place_in(index, call), certainty=Certainty.PROOF)
        if evidence.optimizers > 1 or not has_modes(evidence):
            return
        events = evidence.watched.happened("evaluation")
        # A target network or an average is asked in training steps, too: by whose mode is its maker's choice.
        judged = [one for one in events if one.facts.get("learns", True) or not evidence.copies]
        averaged = {one.step for one in judged if one.facts.get("again")}
        unread = _unread(evidence)
        judged = [one for one in judged if one.step not in averaged and _start(one.place) not in unread]
        passes = [bool(event.facts.get("training")) for event in judged]
        if not passes or sum(passes) < 0.5 * len(passes):
            return
        saw = f"{sum(passes)} of {len(passes)} passes without gradients ran in training mode"
        for index, node in _not_called(evidence):
            saw = f"{ast.unparse(node)} is not called; {saw}"
            yield self.finding(evidence, saw, place=place_in(index, node), certainty=Certainty.PROOF)
            return
        found = at_hyperparameter(
            self.finding(evidence, saw, kind=Kind.MODE),
            named_hyperparameter(evidence, Kind.MODE, "eval"),
            ("eval",),
        )
        places = (event.place for event in judged if event.facts.get("training"))
        seen = next((place for place in places if place is not None), None)
        yield replace(found, place=seen) if seen is not None else found


Start = tuple[PurePosixPath, int, int]


def _start(place: Place | None) -> Start | None:
    return (place.file, place.line, place.column) if place is not None else None


def _unread(evidence: Evidence) -> set[Start | None]:
    """Where calls begin whose output is not used."""
    return {
        (index.source.path, node.lineno, node.col_offset)
        for index in indexes(evidence)
        for node in ast.walk(index.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    }


def _not_called(evidence: Evidence) -> Iterator[tuple[FileIndex, ast.expr]]:
    """`model.eval` as a statement, without its parentheses."""
    for index in indexes(evidence):
        for node in ast.walk(index.tree):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Attribute)
                and node.value.attr == "eval"
            ):
                yield index, node.value


def _asked_to_train(evidence: Evidence) -> Iterator[tuple[FileIndex, ast.Call]]:
    """Calls with `training=True` in a step of Keras that evaluates or predicts."""
    for index in indexes(evidence) if has_modes(evidence) else ():
        for call in index.calls:
            asked = [word for word in call.keywords if word.arg == "training"]
            owner = function_of(index, call) if asked and ast.unparse(asked[0].value) == "True" else None
            if isinstance(owner, ast.FunctionDef) and owner.name in STEPS:
                yield index, call
