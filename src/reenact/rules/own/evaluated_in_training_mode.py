"""RE011 evaluated-in-training-mode."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Fault, Finding, Kind, Needs, Rule
from reenact.rules.own._places import at_knob, has_modes, named_knob
from reenact.rules.own._series import optimizers


class EvaluatedInTrainingMode(Rule):
    """RE011 evaluated-in-training-mode

    What
        A model with dropout or batch norm is evaluated without `model.eval()`.
    Why
        Dropout then removes units at random and batch norm uses the statistics of the test batch: results are
        worse, differ from run to run and depend on the batch.
    Symptom
        Validation results that change when they are computed again.
    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(310, spread=2.0))
        loader = DataLoader(TensorDataset(x[:250], y[:250]), batch_size=250)
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
        optimizer = torch.optim.Adam(model[3].parameters(), lr=0.01)
        for epoch in range(12):
            for rows, classes in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(rows), classes).backward()
                optimizer.step()
            with torch.no_grad():
                print("val_accuracy", (model(x[250:]).argmax(1) == y[250:]).float().mean().item())
    Instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(310, spread=2.0))
        loader = DataLoader(TensorDataset(x[:250], y[:250]), batch_size=16, shuffle=True)
        norm, drop = nn.BatchNorm1d(16), nn.Dropout(0.1)
        model = nn.Sequential(nn.Linear(8, 16), norm, nn.ReLU(), drop, nn.Linear(16, 3))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for epoch in range(12):
            model.train()
            for rows, classes in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(rows), classes).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                print("val_accuracy", (model(x[250:]).argmax(1) == y[250:]).float().mean().item())
    Fix safety
        Safe for the training, if `model.train()` follows; measured results change, they were wrong.
    Sources
        Documentation of torch.nn.Module.eval.
    """

    code, name, family, fault = "RE011", "evaluated-in-training-mode", "reenact", Fault.MOD
    needs = Needs.TRACE
    confidence = 0.85
    why = "Dropout and batch norm must not behave as in training when a model is judged."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        assert evidence.trace is not None
        if optimizers(evidence) > 1 or not has_modes(evidence):
            return
        passes = [bool(event.facts.get("training")) for event in evidence.trace.happened("evaluation")]
        if not passes or sum(passes) < 0.5 * len(passes):
            return
        saw = f"{sum(passes)} of {len(passes)} passes without gradients ran in training mode"
        yield at_knob(
            self.finding(evidence, saw, kind=Kind.MODE), named_knob(evidence, Kind.MODE, "eval"), ("eval",)
        )
