"""OP12 parameters-not-trained

What
    Weights that could learn never do: the optimiser was not given them, no gradient ever reaches them, or
    they hang in a plain list where the model cannot find them.
Why
    They keep their random start, so the layer stays random. Weights that are
    frozen on purpose (requires_grad=False, trainable=False) are left alone unless they are all there is.
Symptom
    Training works with less than the model's strength; saving and loading loses the forgotten part.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    body, head = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 3)
    model = nn.Sequential(body, head)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(head.parameters(), lr=0.01)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: it changes what is trained.
Sources
    Documentation of torch.nn.ModuleList; Jiang et al., "TrainCheck", OSDI 2025 (optimiser built over
    other weights).
"""

import ast
import math
from collections.abc import Iterator, Sequence
from statistics import median

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    LayerView,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.facts.advice import for_stillness, other_activation, report
from reenact.faults.facts.lines import calls, first_place, nodes
from reenact.faults.facts.made import asked_for_at
from reenact.faults.facts.measured import (
    behind_weights,
    ends,
    first_found,
    first_hit,
    kernel_rows,
    loss_halved,
    output_rows,
    still,
)
from reenact.faults.facts.ratios import unmoved
from reenact.faults.facts.roles import LOSS_STEPS, losses, without_gradients
from reenact.probe.trace import TRAINING, ParameterFacts, Trace
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    around,
    called,
    calls_in,
    function_of,
    given_to,
    is_call,
    is_constant,
    is_method,
    owner_of,
    place_of,
    within,
)

PASSES = ("forward", "call", *LOSS_STEPS)
"""Functions that a framework calls for a step."""
NO_GRADIENT = "never reached by a gradient"
FEW = 3
"""Looked-at steps without a gradient that are no accident."""
MOST = 0.9
FEW_WEIGHTS = 64
"""A kernel must have so many for its largest to lie near the bound that it was drawn from."""
ALIKE = 6
"""Kernels that must have one spread before it is no chance."""
NETWORK = 3
"""Frozen layers from which on they are a network; fewer may be random features."""
FAULT = Fault(
    code="OP12",
    name="parameters-not-trained",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE013",
    "frozen-or-forgotten-weights",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.GRADIENTS,
    why="These weights are never trained: the layer stays as it was made.",
    severity=Severity.ERROR,
    confidence=0.8,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def frozen_or_forgotten_weights(detector: Detector, evidence: Evidence) -> Findings:
    """Weights that could learn never do: the optimiser was not given them, no gradient ever reaches
    them, or they hang in a plain list where the model cannot find them.

    Documentation of torch.nn.ModuleList; Jiang et al., "TrainCheck", OSDI 2025 (optimiser built
    over other weights).
    """
    assert evidence.graph is not None
    if evidence.graph.unregistered:
        saw = (
            f"the model's parameters() does not reach {', '.join(evidence.graph.unregistered[:4])}"
        )
        first = next(
            (one for one in evidence.layers if one.name == evidence.graph.unregistered[0]),
            None,
        )
        place = evidence.graph.unregistered_at
        yield detector.finding(
            evidence,
            saw,
            layer=first,
            place=place,
            certainty=Certainty.PROOF,
        )
    for call in _emptied(evidence):
        saw = f"{excerpt(call)} is called between backward and step: the step sees no gradients"
        yield detector.finding(evidence, saw, place=place_of(call), certainty=Certainty.PROOF)
        return
    trace = evidence.watched
    passed = {
        trace.layer_names[int(number)] for number in trace.layers.where(phase=TRAINING)["layer"]
    }
    unlearned = ("never given to an optimiser", _not_given(evidence, trace))
    for reason, names in (unlearned, (NO_GRADIENT, _without_gradient(trace))):
        layers = [one for one in evidence.layers if _owns(one.name, names)]
        layer = layers[0] if layers else None
        if names:
            saw = f"{', '.join(names[:4])}: {reason}"
            made = evidence.optimizer.place if evidence.optimizer is not None else None
            place = asked_for_at(evidence, made)
            swapped = _swapped_at(evidence, names[0]) if reason != NO_GRADIENT else None
            if swapped is not None or names[0] in evidence.copies:
                place = swapped or place
            elif layer is not None and layer.name in passed:
                # Training passes went through it: its output was then cut off from the loss.
                place = _detached_at(evidence) or _cut_at(evidence, names[0]) or place
            elif reason == NO_GRADIENT:
                # Where a model in training mode that has weights to learn is asked without
                # gradients.
                asked = [
                    one for one in evidence.happened("evaluation") if one.facts.get("training")
                ]
                places = [one.place for one in asked if one.facts.get("learns")]
                place = _cut_at(evidence, names[0]) or next(filter(None, places), place)
            # What an optimizer has was not left alone on purpose: one layer as it was made is
            # enough.
            looked = layers if reason == NO_GRADIENT else layers[:1]
            sure = None if not looked or any(map(_fresh, looked)) else 0.4
            yield detector.finding(
                evidence,
                saw,
                layer=layer,
                place=place,
                confidence=sure,
            )


@FAULT.detector(
    "RE051",
    "frozen-random-weights",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="No weight was loaded: what looks pretrained is random.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def frozen_random_weights(detector: Detector, evidence: Evidence) -> Findings:
    """A checkpoint was loaded with `strict=False`, and hardly any of its names is one of the
    model's; or layers are frozen with the very weights that the library gave them.

    Documentation of torch.nn.Module.load_state_dict (`strict`).
    """
    trace = evidence.watched
    for event in trace.happened("weights-loaded"):
        total = int(str(event.facts["total"]))
        missing = int(str(event.facts["missing"]))
        unexpected = int(str(event.facts["unexpected"]))
        if total and unexpected and missing >= MOST * total:
            lost = f"{missing} of {total} weights are not in the checkpoint"
            saw = f"{lost}, {unexpected} of its names fit nothing"
            yield detector.finding(evidence, saw, place=event.place)
            return
    branches = nodes(evidence, ast.If)
    always = first_place(node.test for node in branches if _always_freezes(node))
    if always is not None:
        saw = "the condition is a text and thus always true: every weight is frozen"
        yield detector.finding(evidence, saw, place=always)
        return
    let_go = {facts.name.rpartition(".")[0] for facts in trace.parameter_facts if facts.graded}
    frozen = [layer for layer in evidence.layers if _frozen(layer) and layer.name not in let_go]
    alike = _of_one_spread(frozen)
    made = [layer for layer in frozen if alike or _as_made(layer)]
    random = [layer for layer in made if not _copied(layer, evidence.layers)]
    passed = {trace.layer_names[int(one)] for one in trace.layers.where(phase=TRAINING)["layer"]}
    used = [layer for layer in random if layer.name in passed]
    # Layers that learned something once would be among them.
    if used and len(random) == len(frozen):
        named = ", ".join(layer.name for layer in used[:3])
        saw = f"{named}: frozen with the weights they were made with"
        place = first_place(one for one in nodes(evidence, ast.stmt) if _freezes(one))
        # A projection is also drawn at random to be left so; a whole network is not.
        whole = len(used) >= NETWORK or any(layer.family == "conv" for layer in used)
        yield detector.finding(
            evidence,
            saw,
            layer=used[0],
            place=place,
            confidence=None if whole else 0.5,
            certainty=Certainty.STRONG if whole else Certainty.HINT,
        )


@FAULT.detector(
    "TC007",
    "untrained-weights",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="They keep their random start.",
    confidence=0.75,
)
def untrained_weights(detector: Detector, evidence: Evidence) -> Findings:
    """Weights that can learn never change.

    {paper}, ratio of updates to weights, exactly zero.
    """
    names = unmoved(evidence)
    if names:
        yield detector.finding(
            evidence,
            f"{', '.join(names[:4])} never changed",
        )


@FAULT.detector(
    "DL005",
    "unchanged-weights",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Weights that do not move do not learn.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def unchanged_weights(detector: Detector, evidence: Evidence) -> Findings:
    """The weights of a layer have the same mean, deviation and largest value in the last five steps
    looked at, or more, and the loss has not fallen to half. The tool looks at every batch, this
    rule at every sampled step.

    {paper}. Fifth symptom. The release looks at layers named `dense` and at means alone; here at
    every layer with weights to learn. Frozen layers do not count.
    """
    if not loss_halved(evidence):
        symptom = (
            "weights unchanged",
            detector.confidence,
            still(kernel_rows, "weights"),
        )
        yield from first_found(detector, evidence, reversed(evidence.weighted), symptom)


@FAULT.detector(
    "DD005",
    "unchanged-tensor",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Nothing that stands still learns.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def unchanged_tensor(detector: Detector, evidence: Evidence) -> Findings:
    """The output, the weights or the weight gradient of a layer are the same at the ends of the
    last five epochs, or more, and the loss has not fallen to half.

    {paper}. Symptom "unchanged tensor". The release compares means alone, and any five epochs.
    """
    if loss_halved(evidence):
        return
    output = (
        "output unchanged",
        detector.confidence,
        still(ends(output_rows), "output"),
    )
    forward = first_hit(evidence, behind_weights(evidence), output)
    if forward is not None and forward.layer.role == "output":
        yield report(
            detector,
            evidence,
            forward.saw,
            other_activation(evidence, forward.layer),
            forward.step,
        )
        return
    weights = ("weights unchanged", 0.85, still(ends(kernel_rows), "weights"))
    gradient = ("weight gradient unchanged", 0.85, still(ends(kernel_rows), "gradient"))
    hit = forward or first_hit(
        evidence,
        reversed(evidence.weighted),
        weights,
        gradient,
    )
    if hit is not None:
        yield report(
            detector,
            evidence,
            hit.saw,
            for_stillness(evidence, hit.step),
            hit.step,
        )


def _emptied(evidence: Evidence) -> Iterator[ast.Call]:
    """Calls of `zero_grad` between the `backward` and the `step` of one optimizer, in one loop."""
    wanted = ("backward", "zero_grad", "step")
    for loop in (one for index in evidence.files for one in index.loops):
        made = calls_in(loop, *wanted)
        made.sort(key=lambda call: (call.lineno, call.col_offset))
        for before, call, then in zip(made, made[1:], made[2:], strict=False):
            mine = any(same(owner_of(call), one) for one in (owner_of(then), *then.args))
            if tuple(map(called, (before, call, then))) == wanted and mine:
                yield call


def _cut_at(evidence: Evidence, weight: str) -> Place | None:
    """Where a training passes a part of a model without gradients: a function or a block that says
    so. Functions that only generate or evaluate say so rightly.
    """
    part = weight.partition(".")[0]
    ends = {called(one) for index in evidence.files for one in losses(index)}
    functions = nodes(evidence, ast.FunctionDef)
    ways = [one for one in functions if one.name in (*PASSES, *ends)]
    passed = {*PASSES, *(called(call) for way in ways for call in calls_in(way))}
    for node in nodes(evidence, ast.stmt):
        stated = without_gradients(node)
        owner = node if isinstance(node, ast.FunctionDef) else function_of(node)
        if stated and getattr(owner, "name", "") in passed:
            used = any(one.attr == part for one in within(node, ast.Attribute))
            if used or _leaves(node, owner if owner in ways else node):
                return place_of(stated[0])
    return None


def _detached_at(evidence: Evidence) -> Place | None:
    """Where the way of a training leaves its gradients behind; what is only counted or printed
    may.
    """
    for call in calls(evidence, "detach"):
        counted = any(is_call(one, "item", "append", "float") for one in around(call))
        if not counted and not isinstance(statement_of(call), ast.AugAssign | ast.Expr):
            return place_of(call)
    return None


def _leaves(block: ast.AST, function: ast.AST) -> bool:
    """Whether a block computes something again that the function reads behind it."""
    last = (block.end_lineno or 0) if isinstance(block, ast.With) else 0
    again = {one.id for one in within(block, ast.Name) if isinstance(one.ctx, ast.Store)}
    return any(one.id in again and one.lineno > last > 0 for one in within(function, ast.Name))


def _owns(layer: str, names: list[str]) -> bool:
    return any(name.replace("/", ".").rpartition(".")[0].endswith(layer) for name in names)


def _fresh(layer: LayerView) -> bool:
    """Whether its weights look drawn from a uniform distribution, as libraries start them. Weights
    that were learned elsewhere do not, and are often left alone on purpose.
    """
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return True
    return 0.85 < (kernel.maximum - kernel.minimum) / (kernel.std * math.sqrt(12)) < 1.15


def _not_given(evidence: Evidence, trace: Trace) -> list[str]:
    """Weights that can learn and that no optimizer has, where some other weight has one. Not those
    of a target network or an average, which are copies of weights that learn; nor of a model that
    is asked and not taught, to which no gradient comes back.
    """
    names = []
    for number, facts in enumerate(trace.parameter_facts):
        rows = trace.parameters.where(parameter=number)
        asked_only = len(rows) > 0 and not rows["grad_present"].any() and not facts.graded
        copied = facts.name in evidence.copies and not _replaced(trace, facts)
        # What is frozen at first and let go later gets its gradients then.
        forgotten = (facts.trainable or facts.graded) and not facts.in_optimizer and not copied
        if forgotten and not asked_only and not _only_made(evidence, trace, facts.name):
            names.append(facts.name)
    if not any(facts.in_optimizer for facts in trace.parameter_facts):
        return []
    return list(dict.fromkeys(names))


def _replaced(trace: Trace, facts: ParameterFacts) -> bool:
    """Whether a weight took the place of one of its name that an optimizer goes on to hold:
    gradients come to the new one, and no longer to the old one. A target network leaves the weights
    that learn as they are.
    """
    numbered = [pair for pair in enumerate(trace.parameter_facts) if pair[1].in_optimizer]
    same = [
        number
        for number, other in numbered
        if (other.name, other.shape) == (facts.name, facts.shape)
    ]
    held = [trace.parameters.where(parameter=number)["grad_present"] for number in same]
    return facts.graded and any(
        len(seen) > FEW and seen.any() and not seen[-FEW:].any() for seen in held
    )


def _swapped_at(evidence: Evidence, weight: str) -> Place | None:
    """Where a part of a model is replaced from outside of it: `model.head = ...`."""
    part = weight.rpartition(".")[0].rpartition(".")[2]
    return first_place(
        node
        for node in nodes(evidence, ast.Assign)
        if _puts(node.targets[0], part) and not is_method(function_of(node))
    )


def _puts(target: ast.expr, part: str) -> bool:
    match target:
        case ast.Attribute(attr=name):
            return name == part
        case ast.Subscript(slice=ast.Constant(value=key)):
            return str(key) == part
    return False


def _only_made(evidence: Evidence, trace: Trace, weight: str) -> bool:
    """Whether a weight of Keras belongs to a layer that no training passed through: a model that
    was made to be looked at, and made again to be trained.
    """
    trained = {int(layer) for layer in trace.layers.where(phase=0)["layer"]}
    if evidence.framework != "keras" or not trained:
        return False
    return not any(_owns(trace.layer_names[layer], [weight]) for layer in trained)


def _without_gradient(trace: Trace) -> list[str]:
    given = [
        pair
        for pair in enumerate(trace.parameter_facts)
        if pair[1].trainable and pair[1].in_optimizer
    ]
    seen = [
        (
            facts.name,
            trace.parameters.where(parameter=at)["grad_present"],
        )
        for at, facts in given
    ]
    return list(
        dict.fromkeys(name for name, graded in seen if len(graded) > 2 and not graded.any())
    )


def _frozen(layer: LayerView) -> bool:
    kernel = layer.kernel() if layer.family in ("dense", "conv") else None
    return kernel is not None and not kernel.trainable and math.prod(kernel.shape) >= FEW_WEIGHTS


def _as_made(layer: LayerView) -> bool:
    """Whether a kernel fills the very range that it was drawn from, where no training leaves it."""
    kernel = layer.kernel()
    if kernel is None or not kernel.std:
        return False
    reach = max(-kernel.minimum, kernel.maximum)
    count = math.prod(kernel.shape)
    # Kaiming's bound, and Glorot's with the places of a filter last, as in torch, and first, as in
    # Keras.
    last = math.prod(kernel.shape[2:])
    first = math.prod(kernel.shape[:-2])
    sums = (
        last * (kernel.shape[0] + kernel.shape[1]),
        first * (kernel.shape[-2] + kernel.shape[-1]),
    )
    bounds = (
        math.prod(kernel.shape[1:]) ** -0.5,
        *(math.sqrt(6 / one) for one in sums),
    )
    flat = abs(kernel.std * math.sqrt(3) / reach - 1) < max(0.06, 0.9 * count**-0.5)
    return flat and any(
        min(0.97, 1 - 4 / count) * bound <= reach <= 1.0005 * bound for bound in bounds
    )


def _of_one_spread(layers: Sequence[LayerView]) -> bool:
    """Whether kernels of unlike layers lie around zero with one spread, as those of a transformer
    that was made from its configuration do: training would have taken them apart.
    """
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
    """Whether another layer begins with the same values: a target network, or the encoder of a
    teacher.
    """
    own = layer.kernel()
    others = (one.kernel() for one in layers if one is not layer)
    measured = [(one.mean, one.std, one.maximum) for one in (own, *others) if one is not None]
    return own is not None and measured[0] in measured[1:]


def _always_freezes(node: ast.If) -> bool:
    """`if "bias" or "norm" in name:` before what freezes."""
    either = node.test.values if isinstance(node.test, ast.BoolOp) else []
    texts = [one for one in either if isinstance(one, ast.Constant) and one.value]
    always = isinstance(getattr(node.test, "op", None), ast.Or) and bool(texts)
    return always and any(map(_freezes, node.body))


def _freezes(node: ast.stmt) -> bool:
    """Whether a line freezes."""
    match node:
        case ast.Assign([*_, ast.Attribute(attr="requires_grad" | "trainable")], value):
            return is_constant(value, False)
        case ast.Expr(ast.Call() as call):
            off = any(is_constant(one, False) for one in given_to(call))
            return called(call) == "requires_grad_" and off
    return False
