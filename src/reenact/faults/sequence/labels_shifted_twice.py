"""SQ05 labels-shifted-twice

What
    The target of a token is the token after the next one.
Why
    Labels were moved by one place where the data is made, and the model moves them once more. Models of
    Hugging Face shift labels themselves: they are to be given the input tokens.
Symptom
    The loss falls, and generated text skips every other token.
Example
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(12, 16)
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.head = nn.Linear(16, 12)

        def forward(self, tokens):
            mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
            return self.head(self.layer(self.embed(tokens), src_mask=mask))

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(80):
        text = (torch.randint(12, (16, 1)) + torch.arange(9)) % 12
        optimizer.zero_grad()
        scores = model(text[:, :-2])
        nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 2:].flatten()).backward()
        optimizer.step()
Instead
    -     scores = model(text[:, :-2])
    -     nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 2:].flatten()).backward()
    +     scores = model(text[:, :-1])
    +     nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten()).backward()
Fix safety
    Unsafe: it changes what is trained, to what was meant. One of the two shifts goes, or a shift by two
    becomes one by one.
Sources
    Documentation of transformers.GPT2LMHeadModel (`labels` are shifted inside the model).
"""

import ast

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.fixes.sequence import shift_once
from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import names_that_reach, stores
from reenact.program.syntax.pieces import (
    all_parts,
    given_as,
    is_call,
    is_constant,
    names,
    place_of,
)
from reenact.program.training.roles import targets

FAULT = Fault(
    code="SQ05",
    name="labels-shifted-twice",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE037",
    "labels-shifted-twice",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="The model learns to name the token after the next one.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def labels_shifted_twice(detector: Detector, evidence: Evidence) -> Findings:
    """The target of a token is the token after the next one.

    Documentation of transformers.GPT2LMHeadModel (`labels` are shifted inside the model).
    """
    if any(tested.shift == 2 for tested in evidence.experiments.behaviour):
        saw = "the target of each token is the token two places on"
        yield detector.finding(
            evidence,
            saw,
            fixes=shift_once(evidence),
            place=_shift(evidence) or evidence.place_of(Kind.LOSS),
        )


def _shift(evidence: Evidence) -> Place | None:
    """Where a slice or a roll is taken for labels."""
    for index in evidence.files:
        ends = [*targets(index), *given_as(index.calls, "labels")]
        reached = names_that_reach(index, ends)
        made = [value for target, value in stores(index.tree) if reached & names(target)]
        for node in (part for value in (*made, *ends) for part in all_parts(value)):
            if is_call(node, "roll") or (isinstance(node, ast.Subscript) and _is_later(node.slice)):
                return place_of(node)
    return None


def _is_later(key: ast.expr) -> bool:
    """`[1:]` or `[:, 2:]`."""
    last = key.elts[-1] if isinstance(key, ast.Tuple) and key.elts else key
    match last:
        case ast.Slice(begin, None, None):
            return is_constant(constant_of(begin), 1, 2)
    return False
