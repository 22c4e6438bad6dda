"""EV03 no-validation-data

What
    Nothing is held out: no validation data, no evaluation.
Why
    How good a model is on what it was trained on says little; without other data nobody sees it overfit,
    and nobody can choose settings.
Symptom
    A training curve and nothing to compare it with.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    -     nn.functional.cross_entropy(model(x), y).backward()
    +     nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
          optimizer.step()
    + with torch.no_grad():
    +     print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item())
Fix safety
    Unsafe: with `validation_split` fewer rows are left to train on.
Sources
    Humbatova et al., ICSE 2020 (missing validation data).
"""

import ast

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.input_values import saw_others, shared_rows
from reenact.program.syntax.lines import calls, nodes

EVALUATES = (
    "eval",
    "evaluate",
    "inference_mode",
    "no_grad",
    "predict",
    "score",
    "test_on_batch",
)
STEPS = ("validation_step", "test_step")
"""Methods by which Lightning and Keras evaluate."""
FAULT = Fault(
    code="EV03",
    name="no-validation-data",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE017",
    "nothing-held-out",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Without held-out data nobody can tell learning from remembering.",
    study=FaultType.VRM,
    severity=Severity.NOTE,
    confidence=0.45,
)
def nothing_held_out(detector: Detector, evidence: Evidence) -> Findings:
    """Nothing is held out: no validation data, no evaluation.

    Humbatova et al., ICSE 2020 (missing validation data).
    """
    param = evidence.hyperparameter(Kind.VALIDATION)
    if param is None or not param.absent or saw_others(evidence):
        return
    sure = 0.3 if _evaluates(evidence) else None
    saw = "no data is held out from training"
    values = (0.2,) if param.library == "keras" else ()
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.VALIDATION,
        values=values,
        confidence=sure,
    )


@FAULT.detector(
    "UM013",
    "no-validation",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Only rows that were not trained on tell what a model is worth.",
    study=FaultType.VRM,
    severity=Severity.NOTE,
    confidence=0.35,
)
def no_validation(detector: Detector, evidence: Evidence) -> Findings:
    """Nothing is held out: the program never measures the model on rows it was not trained on.

    {paper}. In the release this check is a stub; here a run that evaluates on anything, or a text
    that asks a model without training it, keeps it silent.
    """
    param = evidence.hyperparameter(Kind.VALIDATION)
    seen = saw_others(evidence) or bool(evidence.happened("evaluation"))
    if param is None or not param.absent or (seen and shared_rows(evidence.watched) != 1.0):
        return
    if evidence.trace is None and _evaluates(evidence):
        return
    saw = "no validation data, and no evaluation on other rows than those of the training"
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.VALIDATION,
        values=(0.2, 0.1),
    )


def _evaluates(evidence: Evidence) -> bool:
    """Whether the program asks its model for answers without training it."""
    if any(calls(evidence.files, *EVALUATES)):
        return True
    return any(function.name in STEPS for function in nodes(evidence.files, ast.FunctionDef))
