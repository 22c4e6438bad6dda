"""SQ01 causal-mask-leak

What
    The model is to predict the next token, and its scores for a token change when later tokens change; or
    its decoder is given the very tokens that it has to predict.
Why
    It can read the answer in its input. In training it need not learn anything else; when it generates,
    there is no later token to read.
Symptom
    The loss falls below what the text allows, and what is generated is nonsense.
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
            return self.head(self.layer(self.embed(tokens)))

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
    -         return self.head(self.layer(self.embed(tokens)))
    +         mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
    +         return self.head(self.layer(self.embed(tokens), src_mask=mask))
Fix safety
    Unsafe: it changes what is trained. The attention is given a mask, its mask is turned round, or a
    convolution is padded on the left; a target that is an input is left to the author.
Sources
    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.3 (masking).
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.facts.lines import mover_place
from reenact.faults.fixes.attention import mask_later_tokens
from reenact.faults.output.reduction_over_wrong_dimension import softmax_over_queries
from reenact.probe.trace import Behaviour
from reenact.program.flow.uses import objects_of
from reenact.program.syntax.pieces import called, place_of
from reenact.program.training.made import mask_made

MOVED = 1e-3
FAULT = Fault(
    code="SQ01",
    name="causal-mask-leak",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE034",
    "causal-leak",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why=(
        "The model reads the token that it has to predict; when it generates, there is none to "
        "read."
    ),
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def causal_leak(detector: Detector, evidence: Evidence) -> Findings:
    """The model is to predict the next token, and its scores for a token change when later tokens
    change; or its decoder is given the very tokens that it has to predict.

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.3 (masking).
    """
    # Weights that sum to one over the queries leak as well, and the axis is what is wrong with
    # them.
    if softmax_over_queries(evidence) is not None:
        return
    leaks = evidence.experiments.moving("leak", MOVED)
    for tested in leaks:
        moved = f"by {tested.leak:.2g} of their spread{tested.when}"
        place = mask_made(evidence.files, mover_place(evidence, tested.leak_at))
        yield detector.finding(
            evidence,
            f"later tokens move the scores of earlier ones {moved}",
            fixes=mask_later_tokens(evidence, place),
            place=place,
        )
    given = next(
        (tested for tested in evidence.experiments.behaviour if tested.shift == 0),
        None,
    )
    if given is not None and not leaks:
        saw = f"an input of the model is the target itself, token for token{given.when}"
        yield detector.finding(
            evidence,
            saw,
            place=_model_call(evidence, given),
        )


def _model_call(evidence: Evidence, tested: Behaviour) -> Place | None:
    """Where the program calls the model in its training loop: before the first backward pass."""
    for index in evidence.files:
        backward = [call.lineno for call in index.calls if called(call) == "backward"]
        several = (call for call in index.calls if len(call.args) > 1)
        calls = [call for call in several if objects_of(call.func, tested.model)]
        before = [call for call in calls if any(0 <= line - call.lineno < 12 for line in backward)]
        if before:
            return place_of(before[-1])
    return None
