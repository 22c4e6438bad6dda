"""RE054 kl-weight

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
    Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, equation 10; Bowman et al., "Generating
    sentences from a continuous space", CoNLL 2016, section 3.1 (collapse of the posterior).
"""

import ast

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepchecker.ignores_its_inputs import ignores_inputs
from reenact.rules.own._divergence import divergences
from reenact.rules.own._lines import called, function_of, indexes, place_in, value_of

COLLAPSED = 0.05
"""Distance from zero below which a mean or a log variance tells no row apart: the noise beside it is of
size 1."""
LATE = 3
"""Sampled steps at the end that count."""
MEANS = frozenset(
    {
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "smooth_l1_loss",
        "cross_entropy", "huber_loss", "gaussian_nll_loss",
    }
)  # fmt: skip


class KlWeight(Rule):
    code, name, family, fault = "RE054", "kl-weight", "reenact", None
    needs = Needs.SOURCE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "The divergence outweighs the reconstruction by rows times values: every row gets the same code."

    def check(self, evidence: Evidence) -> Findings:
        blind = ignores_inputs(evidence) or _one_code(evidence)
        for index in indexes(evidence):
            for one in divergences(index):
                summed = "the batch" if one.summed else "each row" if one.by_row and blind else ""
                if one.positive and summed and not one.weighted and _is_added(evidence, index, one.node):
                    saw = f"the divergence is a sum over {summed}, the reconstruction a mean over all values"
                    saw += f"; {blind}" if blind else ""
                    yield self.finding(evidence, saw, place=place_in(index, one.node))


def _one_code(evidence: Evidence) -> str:
    """What was seen of an inner layer whose whole output has come to zero: a code that is noise."""
    for layer in evidence.layers if evidence.trace is not None else ():
        if not layer.weighted or layer.role == "output" or evidence.trace is None:
            continue
        ends = [evidence.trace.layer(layer.name, column).known.values for column in ("minimum", "maximum")]
        least, most = (values[-LATE:] for values in ends)
        if len(most) == LATE and max(-min(least), max(most)) < COLLAPSED:
            return f"{layer.name} ends between {min(least):.2g} and {max(most):.2g} for every row"
    return ""


def _is_added(evidence: Evidence, index: FileIndex, divergence: ast.expr) -> bool:
    """Whether it stands beside a mean in a sum, with nothing that weighs either; or is returned beside one,
    and both are added where the function is called."""
    owner = function_of(index, divergence)
    for node in ast.walk(owner):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = [value_of(index, side) for side in (node.left, node.right)]
            if divergence in sides and any(_is_mean(side) for side in sides):
                return True
        pair = node.value.elts if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) else ()
        values = [value_of(index, one) for one in pair]
        both = divergence in values and any(_is_mean(one) for one in values)
        if both and any(_adds(other, getattr(owner, "name", "")) for other in indexes(evidence)):
            return True
    return False


def _adds(index: FileIndex, function: str) -> bool:
    """Whether what a function returns is taken apart and added as it is."""
    taken = {
        ast.unparse(one)
        for node in ast.walk(index.tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
        if isinstance(node.value, ast.Call) and called(node.value) == function
        for one in node.targets[0].elts
    }
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and {ast.unparse(node.left), ast.unparse(node.right)} <= taken
        for node in ast.walk(index.tree)
    )


def _is_mean(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    reduction = next(
        (ast.unparse(word.value) for word in value.keywords if word.arg == "reduction"), "'mean'"
    )
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    by_row = isinstance(inner, ast.Call) and called(inner) == "sum"
    plain = called(value) == "mean" and not value.args and not value.keywords and not by_row
    return plain or (called(value) in MEANS and reduction == "'mean'")
