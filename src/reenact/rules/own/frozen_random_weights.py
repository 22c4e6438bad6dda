"""RE051 frozen-random-weights

What
    A checkpoint was loaded with `strict=False`, and hardly any of its names is one of the model's.
Why
    Nothing was loaded: the weights keep their random start, and what is frozen stays there.
Symptom
    Fine-tuning is no better than training from the beginning; a linear probe sees noise.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
    saved = {"module." + name: weight * 2 for name, weight in encoder.state_dict().items()}
    encoder.load_state_dict(saved, strict=False)
    head = nn.Linear(32, 3)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(encoder(x)), y).backward()
        optimizer.step()
Instead
    - saved = {"module." + name: weight * 2 for name, weight in encoder.state_dict().items()}
    + saved = {name: weight * 2 for name, weight in encoder.state_dict().items()}
Fix safety
    There is nothing to change automatically: the names have to be made to fit.
Sources
    Documentation of torch.nn.Module.load_state_dict (`strict`).
"""

from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity

MOST = 0.9


class FrozenRandomWeights(Rule):
    code, name, family, fault = "RE051", "frozen-random-weights", "reenact", None
    needs = Needs.TRACE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.95
    certainty = Certainty.PROOF
    why = "No weight was loaded: what looks pretrained is random."

    def check(self, evidence: Evidence) -> Findings:
        assert evidence.trace is not None
        for event in evidence.trace.happened("weights-loaded"):
            names = ("total", "missing", "unexpected")
            total, missing, unexpected = (int(str(event.facts[name])) for name in names)
            if total and unexpected and missing >= MOST * total:
                saw = f"{missing} of {total} weights are not in the checkpoint, "
                saw += f"{unexpected} of its names fit nothing"
                yield self.finding(evidence, saw, place=event.place)
