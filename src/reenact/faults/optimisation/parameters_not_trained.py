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

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.advice import for_stillness, other_activation, report
from reenact.faults.facts.imbalances import imbalances
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
from reenact.faults.facts.untrained import (
    as_made,
    is_copied,
    is_fresh,
    is_frozen,
    not_given,
    of_one_spread,
    owns,
    without_gradient,
)
from reenact.faults.fixes.drafting import offered
from reenact.faults.fixes.gradients import clear_before_backward
from reenact.faults.fixes.parameters import (
    freeze_by_name,
    give_to_optimizer,
    join_graph,
    load_matching_names,
    register_modules,
)
from reenact.probe.trace import TRAINING
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import first_place, nodes
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.cut_off import (
    always_freezes,
    cut_at,
    detached_at,
    emptied,
    freezes,
    swapped_at,
)
from reenact.program.training.made import asked_for_at

NO_GRADIENT = "never reached by a gradient"
MOST = 0.9
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
            fixes=register_modules(evidence, place),
            place=place,
            certainty=Certainty.PROOF,
        )
    for call in emptied(evidence.files):
        saw = f"{excerpt(call)} is called between backward and step: the step sees no gradients"
        yield detector.finding(
            evidence,
            saw,
            fixes=clear_before_backward(evidence),
            place=place_of(call),
            certainty=Certainty.PROOF,
        )
        return
    trace = evidence.watched
    passed = {
        trace.layer_names[int(number)] for number in trace.layers.where(phase=TRAINING)["layer"]
    }
    unlearned = ("never given to an optimiser", not_given(evidence, trace))
    for reason, names in (unlearned, (NO_GRADIENT, without_gradient(trace))):
        layers = [one for one in evidence.layers if owns(one.name, names)]
        layer = layers[0] if layers else None
        if names:
            saw = f"{', '.join(names[:4])}: {reason}"
            made = evidence.optimizer.place if evidence.optimizer is not None else None
            place = asked_for_at(evidence.files, made)
            swapped = swapped_at(evidence.files, names[0]) if reason != NO_GRADIENT else None
            if swapped is not None or names[0] in evidence.copies:
                place = swapped or place
            elif layer is not None and layer.name in passed:
                # Training passes went through it: its output was then cut off from the loss.
                place = detached_at(evidence.files) or cut_at(evidence.files, names[0]) or place
            elif reason == NO_GRADIENT:
                # Where a model in training mode that has weights to learn is asked without
                # gradients.
                asked = [
                    one for one in evidence.happened("evaluation") if one.facts.get("training")
                ]
                places = [one.place for one in asked if one.facts.get("learns")]
                place = cut_at(evidence.files, names[0]) or next(filter(None, places), place)
            # What an optimizer has was not left alone on purpose: one layer as it was made is
            # enough.
            looked = layers if reason == NO_GRADIENT else layers[:1]
            sure = None if not looked or any(map(is_fresh, looked)) else 0.4
            reached = reason == NO_GRADIENT
            yield detector.finding(
                evidence,
                saw,
                layer=layer,
                fixes=join_graph(evidence, place) if reached else give_to_optimizer(evidence),
                place=place,
                confidence=sure,
            )


@FAULT.detector(
    "RE120",
    "weights-never-trained",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="The training is to learn these weights, and they stay as they were drawn.",
    severity=Severity.ERROR,
    confidence=0.8,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def account_of_parameters(detector: Detector, evidence: Evidence) -> Findings:
    """Weights that never move, by what was seen of each: whether gradients come, whether an
    optimizer has it, whether its values are as they were drawn.

    Documentation of torch.nn.Module.parameters.
    """
    given = give_to_optimizer(evidence)
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: offered(
            register_modules(evidence, place),
            join_graph(evidence, place),
            given,
        ),
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
            yield detector.finding(
                evidence,
                saw,
                fixes=load_matching_names(evidence, event.place),
                place=event.place,
            )
            return
    branches = nodes(evidence.files, ast.If)
    always = first_place(node.test for node in branches if always_freezes(node))
    if always is not None:
        saw = "the condition is a text and thus always true: every weight is frozen"
        yield detector.finding(
            evidence,
            saw,
            fixes=freeze_by_name(evidence, always),
            place=always,
        )
        return
    let_go = {facts.name.rpartition(".")[0] for facts in trace.parameter_facts if facts.graded}
    frozen = [layer for layer in evidence.layers if is_frozen(layer) and layer.name not in let_go]
    alike = of_one_spread(frozen)
    made = [layer for layer in frozen if alike or as_made(layer)]
    random = [layer for layer in made if not is_copied(layer, evidence.layers)]
    passed = {trace.layer_names[int(one)] for one in trace.layers.where(phase=TRAINING)["layer"]}
    used = [layer for layer in random if layer.name in passed]
    # Layers that learned something once would be among them.
    if used and len(random) == len(frozen):
        named = ", ".join(layer.name for layer in used[:3])
        saw = f"{named}: frozen with the weights they were made with"
        place = first_place(one for one in nodes(evidence.files, ast.stmt) if freezes(one))
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
