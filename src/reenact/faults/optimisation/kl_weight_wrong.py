"""OP15 kl-weight-wrong

What
    A reconstruction loss that is a mean over all values is added to a KL divergence that is a sum over the
    whole batch; or over each row, and what is learned does not depend on the inputs.
Why
    The divergence then weighs rows times values more than in the bound that both come from. The encoder
    gives up: every row gets the same code.
Symptom
    The divergence falls to zero at once; the decoder gives the mean of the data for every code.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x = torch.from_numpy(blobs()[0])
    encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        mean, log_var = encoder(x).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        reconstruction = nn.functional.mse_loss(decoder(code), x)
        divergence = -0.5 * torch.sum(1 + log_var - mean**2 - log_var.exp())
        loss = reconstruction + divergence
        loss.backward()
        optimizer.step()
Instead
    -     reconstruction = nn.functional.mse_loss(decoder(code), x)
    +     reconstruction = nn.functional.mse_loss(decoder(code), x, reduction="sum")
Fix safety
    Changes the training: sum both, or divide the divergence by the rows and by the values of a row.
Sources
    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Bowman et al.,
    "Generating sentences from a continuous space", CoNLL 2016, section 3.1 (collapse of the posterior).
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
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.losses import reduce_alike
from reenact.faults.layers.input_ignored import ignores_inputs
from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import stores, value_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    elements,
    function_of,
    given_to,
    is_call,
    is_constant,
    is_sum,
    keyword,
    owner_of,
    place_of,
    within,
)
from reenact.program.training.divergence import divergences

COLLAPSED = 0.05
"""Distance from zero below which a mean or a log variance tells no row apart, beside noise of
size 1.
"""
LATE = 3
"""Sampled steps at the end that count."""
MEANS = frozenset(
    {
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "cross_entropy",
        "huber_loss",
        "gaussian_nll_loss",
    }
)
FAULT = Fault(
    code="OP15",
    name="kl-weight-wrong",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE054",
    "kl-weight",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why=(
        "The divergence outweighs the reconstruction by rows times values: every row gets the same "
        "code."
    ),
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def kl_weight(detector: Detector, evidence: Evidence) -> Findings:
    """A reconstruction loss that is a mean over all values is added to a KL divergence that is a
    sum over the whole batch; or over each row, and what is learned does not depend on the inputs.

    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Bowman et al.,
    "Generating sentences from a continuous space", CoNLL 2016, section 3.1 (collapse of the
    posterior).
    """
    blind = ignores_inputs(evidence) or _one_code(evidence)
    for index in evidence.files:
        for one in divergences(index):
            summed = ""
            if one.summed:
                summed = "the batch"
            elif one.by_row and blind:
                summed = "each row"
            if one.positive and summed and not one.weighted and _is_added(evidence, one.node):
                saw = (
                    f"the divergence is a sum over {summed}, the reconstruction a mean over all "
                    f"values"
                )
                saw += f"; {blind}" if blind else ""
                yield detector.finding(
                    evidence,
                    saw,
                    fixes=reduce_alike(evidence, place_of(one.node)),
                    place=place_of(one.node),
                )


def _one_code(evidence: Evidence) -> str:
    """What was seen of an inner layer whose whole output has come to zero: a code that is noise."""
    inner = [layer.name for layer in evidence.weighted if layer.role != "output"]
    for name in inner if evidence.trace is not None else ():
        ends = (
            evidence.watched.layer(name, end).known.values[-LATE:] for end in ("minimum", "maximum")
        )
        least, most = ends
        if len(least) == len(most) == LATE and max(-min(least), max(most)) < COLLAPSED:
            return f"{name} ends between {min(least):.2g} and {max(most):.2g} for every row"
    return ""


def _is_added(evidence: Evidence, divergence: ast.expr) -> bool:
    """Whether it stands beside a mean in a sum, with nothing that weighs either; or is returned
    beside one, and both are added where the function is called.
    """
    owner = function_of(divergence)
    name = getattr(owner, "name", "")
    for node in all_parts(owner):
        pair = [node.left, node.right] if is_sum(node, ast.Add) else []
        answers = elements(node.value) if isinstance(node, ast.Return) else []
        values = [value_of(one) for one in pair or answers]
        beside = divergence in values and any(map(_is_mean, values))
        if beside and (pair or any(_adds(other, name) for other in evidence.files)):
            return True
        if isinstance(node, ast.Call) and _is_added_inside(evidence, node, divergence):
            return True
    return False


def _is_added_inside(evidence: Evidence, call: ast.Call, divergence: ast.expr) -> bool:
    """Whether a function of the program that is given both adds them as they came."""
    values = [value_of(argument) for argument in call.args]
    if divergence not in values or not any(map(_is_mean, values)):
        return False
    for index in evidence.files:
        for function in within(index.tree, ast.FunctionDef):
            names = [argument.arg for argument in function.args.args]
            if function.name != called(call) or len(names) != len(values):
                continue
            given = dict(zip(names, values, strict=True))
            for node in within(function, ast.BinOp):
                sides = [given.get(side.id) for side in _names(node)]
                if is_sum(node, ast.Add) and divergence in sides and any(map(_is_mean, sides)):
                    return True
    return False


def _names(node: ast.BinOp) -> list[ast.Name]:
    return [side for side in (node.left, node.right) if isinstance(side, ast.Name)]


def _adds(index: FileIndex, function: str) -> bool:
    """Whether what a function returns is taken apart and added as it is."""
    made = [target for target, value in stores(index.tree) if is_call(value, function)]
    taken = [one for target in made for one in elements(target)]
    return any(
        all(any(same(side, one) for one in taken) for side in (node.left, node.right))
        for node in within(index.tree, ast.BinOp)
        if is_sum(node, ast.Add)
    )


def _is_mean(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if called(value) == "mean":
        return not given_to(value) and called(owner_of(value)) != "sum"
    # `size_average=False` is an older word for a sum.
    reduction = keyword(value, "reduction")
    averaged = reduction is None or is_constant(constant_of(reduction), "mean")
    summed = is_constant(constant_of(keyword(value, "size_average")), False)
    return called(value) in MEANS and averaged and not summed


@FAULT.detector(
    "RE103",
    "terms-reduced-unlike",
    "reenact",
    needs=Needs.TRACE | Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="The term that is summed drives the encoder alone: every row gets the same code.",
    is_root_cause=True,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def terms_reduced_unlike(detector: Detector, evidence: Evidence) -> Findings:
    """By the graph of the loss: a mean over all numbers is added to a sum, which gives nearly all of
    the gradient of what both reach and falls to nothing.

    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Bowman et al.,
    "Generating sentences from a continuous space", CoNLL 2016, section 3.1.
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: reduce_alike(evidence, place),
    )
