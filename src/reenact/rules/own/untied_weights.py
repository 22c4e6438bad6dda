"""RE050 untied-weights

What
    The output layer begins with a copy of the embedding, not with the embedding itself.
Why
    Tied weights are one parameter. A copy, as `nn.Parameter(weight.clone())` makes one, goes its own way
    from the first step on, or stays behind where the optimizer does not know it.
Symptom
    More parameters than the paper has, and worse results.
Example
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(12, 16)
            self.body = nn.GRU(16, 16, batch_first=True)
            self.head = nn.Linear(16, 12, bias=False)
            self.head.weight = nn.Parameter(self.embed.weight.clone())

        def forward(self, tokens):
            return self.head(self.body(self.embed(tokens))[0])

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(80):
        text = (torch.randint(12, (16, 1)) + torch.arange(9)) % 12
        optimizer.zero_grad()
        scores = model(text[:, :-1])
        nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
Instead
    -         self.head.weight = nn.Parameter(self.embed.weight.clone())
    +         self.head.weight = self.embed.weight
Fix safety
    Unsafe: the model has fewer parameters.
Sources
    Press and Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017.
"""

import ast

from reenact.rules import Culprit, Evidence, Findings, LayerView, Needs
from reenact.rules.own._lines import first_place, nodes


class UntiedWeights(Culprit):
    code, name, family = "RE050", "untied-weights", "reenact"
    needs = Needs.GRAPH
    why = "A copy is trained by itself, or not at all; tied weights are one parameter."

    def check(self, evidence: Evidence) -> Findings:
        tables = [layer for layer in evidence.layers if layer.family == "embedding"]
        for head in (layer for layer in evidence.layers if layer.family == "dense"):
            table = next((one for one in tables if _copied(one, head)), None)
            if table is not None:
                saw = f"{head.name} begins with the values of {table.name}, in a parameter of its own"
                # The line that gives a layer another weight.
                lines = ((one, ast.unparse(one[1].targets[0])) for one in nodes(evidence, ast.Assign))
                place = first_place(one for one, target in lines if target.endswith(".weight"))
                yield self.finding(evidence, saw, layer=head, place=place)


def _copied(table: LayerView, head: LayerView) -> bool:
    """Two parameters that hold the same values."""
    one, other = table.kernel(), head.kernel()
    if one is None or other is None or one.shape != other.shape or not one.std:
        return False
    measured = ("mean", "std", "minimum", "maximum")
    return (one.path or one.name) != (other.path or other.name) and all(
        getattr(one, name) == getattr(other, name) for name in measured
    )
