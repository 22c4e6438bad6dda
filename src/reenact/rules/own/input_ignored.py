"""RE064 input-ignored

What
    A model is given several inputs, and one of them does not matter: its rows can be exchanged, and every
    output stays as it is.
Why
    What that input says cannot be learned. Most often `forward` computes something from it and then goes on
    with another variable; after a training, a branch may also have died.
Symptom
    Training works, no better than without the input.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.image, self.text = nn.Linear(6, 16), nn.Linear(4, 16)
            self.head = nn.Linear(32, 2)

        def forward(self, image, text):
            seen, read = self.image(image).relu(), self.text(text).relu()
            return self.head(torch.cat([seen, seen], 1))

    torch.manual_seed(0)
    x = torch.randn(96, 10)
    y = (x[:, 0] + x[:, 6] > 0).long()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(20):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows[:, :6], rows[:, 6:]), labels).backward()
            optimizer.step()
Instead
    -         return self.head(torch.cat([seen, seen], 1))
    +         return self.head(torch.cat([seen, read], 1))
Fix safety
    There is nothing to change automatically: where the input belongs is known to the author alone.
Sources
    Breiman, "Random Forests", 2001, section 10 (importance by permuted inputs).
"""

import ast

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.own._lines import first_place, nodes


class InputIgnored(Rule):
    code, name, family, fault = "RE064", "input-ignored", "reenact", None
    needs, confidence = Needs.EXPERIMENTS, 0.6
    is_root_cause = True
    why = "What an input says cannot be learned when no output depends on it."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.optimizers > 1:
            # What a model is given may matter to another one's loss.
            return
        tried = reversed(evidence.experiments.behaviour)
        by_model = {(tested.model, name): tested for tested in tried for name in tested.ignored_inputs}
        for (model, name), tested in by_model.items():
            saw = f"no output of {model} depends on its input {name}{tested.when}"
            owners = [one for one in nodes(evidence, ast.ClassDef) if one[1].name == model]
            inside = [(index, node) for index, owner in owners for node in owner.body]
            place = first_place(one for one in inside if getattr(one[1], "name", "") == "forward")
            yield self.finding(evidence, saw, place=place)
