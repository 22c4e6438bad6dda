"""NL011 missing-flatten

What
    A dense layer follows a convolution or pooling layer, and nothing flattens or pools the map between
    them.
Why
    A dense layer works along the last axis only: it is applied at every place of the map, and the output
    keeps the map.
Symptom
    A shape error in the dense layer or in the loss; or, with broadcasting, a loss over the wrong pairs.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import images

    x, y = map(torch.from_numpy, images())
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Linear(144, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Linear(144, 3))
    + model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
Fix safety
    Unsafe: the dense layer gets another number of inputs, which torch needs to know.
Sources
    {paper}, f011 of the release. A model whose labels have a value for each place of the map is left alone.
"""

from dataclasses import replace

from reenact.program.change import Insert
from reenact.program.patch import Patch
from reenact.program.static_graph import StaticLayer
from reenact.rules import Evidence, Fault, Finding, Findings, Kind, Needs, Rule
from reenact.rules.finding import Certainty, Severity, Suggestion
from reenact.rules.neuralint._shape import map_given, per_place, ranked, view_of


class MissingFlatten(Rule):
    code, name, family, fault = "NL011", "missing-flatten", "neuralint", Fault.LRM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.8, Certainty.STRONG
    why = "A dense layer over a map gives one answer for every place in it."

    def check(self, evidence: Evidence) -> Findings:
        if per_place(evidence):
            return
        mapped = False
        for layer, _, given in ranked(evidence):
            if layer.family == "dense" and mapped and given is not None and given > 2:
                yield self._one(evidence, layer, given)
                return
            if layer.family != "activation":
                mapped = layer.family in ("conv", "pool") or (mapped and layer.family in ("dropout", "norm"))
        crash = evidence.crash
        if crash is not None and crash.layer in ("Linear", "Dense") and crash.layer_inputs:
            shape, place = crash.layer_inputs[0].shape, crash.layer_place or crash.place
            if len(shape) > 3:
                yield self.finding(evidence, f"{crash.layer} was given a map of shape {shape}", place=place)

    def _one(self, evidence: Evidence, layer: StaticLayer, given: int) -> Finding:
        view = view_of(evidence, layer)
        param = evidence.hyperparameter(Kind.LAYER, view) if view is not None else None
        suggestions: tuple[Suggestion, ...] = ()
        if param is not None and layer.library == "keras":
            change = Insert(param.id, "Flatten", before=True)
            suggestions = (Suggestion(Patch((change,)), param.id, None, "Flatten"),)
        certain = self.certainty
        confidence = self.confidence if given > 3 else 0.5
        saw = f"{layer.type} {layer.name} is given a map of rank {given}"
        crash, at_end = evidence.crash, map_given(evidence)
        if crash is not None and not crash.layer and at_end is not None:
            confidence, certain, saw = 0.95, Certainty.PROOF, f"{saw}; {at_end[1]}"
        found = self.finding(evidence, saw, layer=view, place=layer.place, suggestions=suggestions)
        return replace(found, confidence=confidence, certainty=certain)
