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
from reenact.rules import Certainty, Evidence, Findings, LayerView, Needs, Place, Rule, Severity
from reenact.rules.own._lines import indexes, place_in
from reenact.rules.own._places import says

MOST = 0.9
FEW_WEIGHTS = 256
"""A kernel must have so many for its largest to lie at the bound that it was drawn from."""
ALIKE = 6
"""Kernels that must have one spread before it is no chance."""
ON_PURPOSE = ("reservoir", "random_feature", "RandomFeature", "random feature", "hashing", "random_proj")


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
                return
        always = _always_frozen(evidence)
        if always is not None:
            saw = "the condition is a text and thus always true: every weight is frozen"
            yield self.finding(evidence, saw, place=always)
            return
        frozen = [layer for layer in evidence.layers if _frozen(layer)]
        alike = _of_one_spread(frozen)
        random = [
            layer for layer in frozen if (alike or _as_made(layer)) and not _copied(layer, evidence.layers)
        ]
        passed = {int(number) for number in evidence.trace.layers.where(phase=TRAINING)["layer"]}
        called = {evidence.trace.layer_names[number] for number in passed}
        used = [layer for layer in random if layer.name in called]
        # Layers that learned something once would be among them.
        if used and len(random) == len(frozen) and not says(evidence, *ON_PURPOSE):
            saw = (
                f"{', '.join(layer.name for layer in used[:3])}: frozen with the weights they were made with"
            )
            place = _frozen_at(evidence)
            yield self.finding(evidence, saw, layer=used[0], place=place, certainty=Certainty.STRONG)


def _frozen(layer: LayerView) -> bool:
    kernel = layer.kernel()
    return (
        layer.family in ("dense", "convolution")
        and kernel is not None
        and not kernel.trainable
        and math.prod(kernel.shape) >= FEW_WEIGHTS
    )


def _as_made(layer: LayerView) -> bool:
    """Whether a kernel fills the range that PyTorch or Keras draws it from, up to its bounds and no farther:
    no training leaves it there."""
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return False
    one, other = math.prod(kernel.shape[1:]), math.prod(kernel.shape[:-1])
    reach = max(-kernel.minimum, kernel.maximum)
    bounds = (one**-0.5, math.sqrt(6 / (kernel.shape[-1] + other)))
    flat = abs(kernel.std * math.sqrt(3) / reach - 1) < 0.06
    return flat and any(0.97 * bound <= reach <= 1.0005 * bound for bound in bounds)


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
    own = layer.kernel()
    others = (one.kernel() for one in layers if one is not layer)
    return any(
        own is not None
        and one is not None
        and (one.mean, one.std, one.maximum) == (own.mean, own.std, own.maximum)
        for one in others
    )


def _always_frozen(evidence: Evidence) -> Place | None:
    """`if "bias" or "norm" in name:` before what freezes."""
    for index in indexes(evidence):
        for node in ast.walk(index.tree):
            if not isinstance(node, ast.If) or not isinstance(node.test, ast.BoolOp):
                continue
            text = isinstance(node.test.op, ast.Or) and any(
                isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value
                for one in node.test.values
            )
            if text and any(ast.unparse(one).replace(" ", "").endswith(FREEZES) for one in node.body):
                return place_in(index, node.test)
    return None


def _frozen_at(evidence: Evidence) -> Place | None:
    """The line that freezes."""
    for index in indexes(evidence):
        for node in ast.walk(index.tree):
            text = ast.unparse(node) if isinstance(node, ast.Assign | ast.Expr) else ""
            plain = text.replace(" ", "")
            if isinstance(node, ast.Assign | ast.Expr) and plain.endswith(FREEZES):
                return place_in(index, node)
    return None


FREEZES = (
    ".requires_grad=False",
    ".requires_grad_(False)",
    ".trainable=False",
    ".requires_grad_(mode=False)",
)
