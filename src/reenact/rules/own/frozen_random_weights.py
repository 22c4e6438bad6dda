"""RE051 frozen-random-weights

What
    A checkpoint was loaded with `strict=False`, and hardly any of its names is one of the model's; or layers
    are frozen with the very weights that the library gave them.
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

import ast
import math
from collections.abc import Sequence
from statistics import median

from reenact.probe.trace import TRAINING
from reenact.program.source import words
from reenact.rules import Certainty, Culprit, Evidence, Findings, LayerView, Needs
from reenact.rules.own._lines import first_place, nodes
from reenact.rules.own._places import says

MOST = 0.9
FEW_WEIGHTS = 64
"""A kernel must have so many for its largest to lie near the bound that it was drawn from."""
ALIKE = 6
"""Kernels that must have one spread before it is no chance."""
ON_PURPOSE = ("reservoir", "random_feature", "RandomFeature", "random feature", "hashing", "random_proj")
FREEZES = words(".requires_grad=False .requires_grad_(False) .trainable=False .requires_grad_(mode=False)")


class FrozenRandomWeights(Culprit):
    code, name, family = "RE051", "frozen-random-weights", "reenact"
    needs, confidence, certainty = Needs.TRACE, 0.95, Certainty.PROOF
    why = "No weight was loaded: what looks pretrained is random."

    def check(self, evidence: Evidence) -> Findings:
        trace = evidence.watched
        for event in trace.happened("weights-loaded"):
            counts = (event.facts[name] for name in ("total", "missing", "unexpected"))
            total, missing, unexpected = (int(str(count)) for count in counts)
            if total and unexpected and missing >= MOST * total:
                lost = f"{missing} of {total} weights are not in the checkpoint"
                saw = f"{lost}, {unexpected} of its names fit nothing"
                yield self.finding(evidence, saw, place=event.place)
                return
        branches = nodes(evidence, ast.If)
        always = first_place((index, node.test) for index, node in branches if _always_freezes(node))
        if always is not None:
            saw = "the condition is a text and thus always true: every weight is frozen"
            yield self.finding(evidence, saw, place=always)
            return
        let_go = {facts.name.rpartition(".")[0] for facts in trace.parameter_facts if facts.graded}
        frozen = [layer for layer in evidence.layers if _frozen(layer) and layer.name not in let_go]
        alike = _of_one_spread(frozen)
        made = [layer for layer in frozen if alike or _as_made(layer)]
        random = [layer for layer in made if not _copied(layer, evidence.layers)]
        passed = {trace.layer_names[int(one)] for one in trace.layers.where(phase=TRAINING)["layer"]}
        used = [layer for layer in random if layer.name in passed]
        # Layers that learned something once would be among them.
        if used and len(random) == len(frozen) and not says(evidence, *ON_PURPOSE):
            named = ", ".join(layer.name for layer in used[:3])
            saw = f"{named}: frozen with the weights they were made with"
            place = first_place((index, node) for index, node in nodes(evidence, ast.stmt) if _freezes(node))
            yield self.finding(evidence, saw, layer=used[0], place=place, certainty=Certainty.STRONG)


def _frozen(layer: LayerView) -> bool:
    kernel = layer.kernel() if layer.family in ("dense", "conv") else None
    return kernel is not None and not kernel.trainable and math.prod(kernel.shape) >= FEW_WEIGHTS


def _as_made(layer: LayerView) -> bool:
    """Whether a kernel fills the very range that it was drawn from, where no training leaves it."""
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return False
    reach, count = max(-kernel.minimum, kernel.maximum), math.prod(kernel.shape)
    # Kaiming's bound, and Glorot's with the places of a filter last, as in torch, and first, as in Keras.
    last, first = math.prod(kernel.shape[2:]), math.prod(kernel.shape[:-2])
    sums = (last * (kernel.shape[0] + kernel.shape[1]), first * (kernel.shape[-2] + kernel.shape[-1]))
    bounds = (math.prod(kernel.shape[1:]) ** -0.5, *(math.sqrt(6 / one) for one in sums))
    flat = abs(kernel.std * math.sqrt(3) / reach - 1) < max(0.06, 0.9 * count**-0.5)
    return flat and any(min(0.97, 1 - 4 / count) * bound <= reach <= 1.0005 * bound for bound in bounds)


def _of_one_spread(layers: Sequence[LayerView]) -> bool:
    """Whether kernels of unlike layers lie around zero with one spread, as those of a transformer that was
    made from its configuration do: training would have taken them apart."""
    kernels = [kernel for layer in layers if (kernel := layer.kernel()) is not None and kernel.std]
    if len(kernels) < ALIKE or len({kernel.shape for kernel in kernels}) < 2:
        return False
    middle = median(kernel.std for kernel in kernels)
    return all(
        abs(kernel.std / middle - 1) < 0.05
        and abs(kernel.mean) < 4 * kernel.std / math.sqrt(math.prod(kernel.shape))
        and max(-kernel.minimum, kernel.maximum) < 6 * kernel.std
        for kernel in kernels
    )


def _copied(layer: LayerView, layers: tuple[LayerView, ...]) -> bool:
    """Whether another layer begins with the same values: a target network, or the encoder of a teacher."""
    own, others = layer.kernel(), (one.kernel() for one in layers if one is not layer)
    measured = [(one.mean, one.std, one.maximum) for one in (own, *others) if one is not None]
    return own is not None and measured[0] in measured[1:]


def _always_freezes(node: ast.If) -> bool:
    """`if "bias" or "norm" in name:` before what freezes."""
    match node.test:
        case ast.BoolOp(ast.Or(), values):
            constants = [one.value for one in values if isinstance(one, ast.Constant)]
            texts = [one for one in constants if isinstance(one, str) and one]
            lines = [ast.unparse(one).replace(" ", "") for one in node.body]
            return bool(texts) and any(line.endswith(FREEZES) for line in lines)
    return False


def _freezes(node: ast.stmt) -> bool:
    """Whether a line freezes."""
    plain = ast.unparse(node).replace(" ", "") if isinstance(node, ast.Assign | ast.Expr) else ""
    return plain.endswith(FREEZES)
