"""RE017 nothing-held-out

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

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.own._places import says
from reenact.rules.umlaut._data import saw_others

EVALUATES = (".evaluate(", ".predict(", ".eval()", "no_grad", "inference_mode", "test_loader", "val_loader")


class NothingHeldOut(Rule):
    code, name, family, fault = "RE017", "nothing-held-out", "reenact", Fault.VRM
    needs, severity, confidence = Needs.SOURCE, Severity.NOTE, 0.45
    why = "Without held-out data nobody can tell learning from remembering."

    def check(self, evidence: Evidence) -> Findings:
        param = evidence.hyperparameter(Kind.VALIDATION)
        if param is None or not param.absent or saw_others(evidence):
            return
        sure = 0.3 if says(evidence, *EVALUATES) else None
        saw = "no data is held out from training"
        values = (0.2,) if param.library == "keras" else ()
        yield self.finding(evidence, saw, kind=Kind.VALIDATION, values=values, confidence=sure)
