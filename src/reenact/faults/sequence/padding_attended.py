"""SQ03 padding-attended

What
    The output for a padded row changes when padding at its end is cut off. Or a recurrent model that does
    not learn is asked for the last step of rows that were padded and not packed; or the text takes lengths
    or a mask of rows that are padded already, so that all count as full, or gives a mask the wrong way round.
Why
    Attention or a mean takes the padding for text. How much of it there is depends on the longest row of
    the batch, so the answer for a row does too.
Symptom
    Other results with another batch size; worse results for short rows.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(20, 16)
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.head = nn.Linear(16, 2)

        def forward(self, tokens):
            padding = tokens == 0
            hidden = self.layer(self.embed(tokens))
            return self.head(hidden.mean(1))

    torch.manual_seed(0)
    x = torch.randint(1, 20, (160, 12))
    x[torch.arange(12) >= torch.randint(3, 11, (160, 1))] = 0
    y = (x[:, 0] > 9).long()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(12):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
Instead
    -         hidden = self.layer(self.embed(tokens))
    -         return self.head(hidden.mean(1))
    +         hidden = self.layer(self.embed(tokens), src_key_padding_mask=padding)
    +         return self.head(hidden.masked_fill(padding[..., None], 0).sum(1) / (~padding).sum(1, True))
Fix safety
    There is nothing to change automatically: the mask has to be made where padding is known.
Sources
    Documentation of torch.nn.MultiheadAttention (`key_padding_mask`).
"""

import ast
import re

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
from reenact.faults.facts.flow import stores
from reenact.faults.facts.lines import (
    calls,
    first_place,
    function_of,
    indexes,
    nodes,
    place_in,
)
from reenact.faults.facts.padding import inverted_masks, padded_lengths
from reenact.faults.facts.parts import called, within
from reenact.faults.facts.places import says
from reenact.faults.facts.series import learned
from reenact.program.syntax.index import FileIndex

MOVED = 1e-3
READ_ON = 0.1
"""Of its spread: what reads on through padding may have learned to move less in the end."""
ATTENDING = (
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "scaled_dot_product_attention",
    "softmax",
)
ATTENDS = re.compile(rf"Transformer|(?:{'|'.join(ATTENDING)})$")
PADS = re.compile(r"pad_sequence|\bPAD\b|pad_token|padding_value|<pad>|\[PAD\]|padding_idx")
ENCODERS = re.compile(r"self\.(\w+) = nn\.(?:TransformerEncoder|MultiheadAttention)")
RECURRENT = re.compile(r"self\.(\w+) = (?:nn\.|torch\.nn\.)?(?:GRU|LSTM|RNN)\(")
MASKS = re.compile(r"mask|keep|valid|attn|\bpad", re.IGNORECASE)
POOLS = ("mean", "sum", "max", "amax")
FAULT = Fault(
    code="SQ03",
    name="padding-attended",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE036",
    "padding-attended",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why=(
        "How much padding a row has depends on its batch, and the answer for the row then does too."
    ),
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def padding_attended(detector: Detector, evidence: Evidence) -> Findings:
    """The output for a padded row changes when padding at its end is cut off. Or a recurrent model
    that does not learn is asked for the last step of rows that were padded and not packed; or the
    text takes lengths or a mask of rows that are padded already, so that all count as full, or
    gives a mask the wrong way round.

    Documentation of torch.nn.MultiheadAttention (`key_padding_mask`).
    """
    files = list(indexes(evidence))
    for written, saw in (
        *padded_lengths(files),
        *inverted_masks(files),
    ):
        yield detector.finding(evidence, saw, place=written)
        return
    if any(tested.mask_blind for tested in evidence.experiments.behaviour):
        saw = "the mask that the model is given is the same at padding as at tokens"
        yield detector.finding(
            evidence,
            saw,
            place=_compared(evidence),
            certainty=Certainty.PROOF,
        )
        return
    padded = bool(evidence.happened("padded"))
    attends = any(layer.type.startswith(ATTENDING) for layer in evidence.layers)
    tests = [tested.padding for tested in evidence.experiments.behaviour]
    place = (
        _unmasked(evidence) if attends and not any(moved is not None for moved in tests) else None
    )
    if place is not None:
        saw = "rows are padded, and neither attention nor the mean behind it is given a mask"
        yield detector.finding(evidence, saw, place=place, confidence=0.8)
    last = _last_step(evidence) if padded and not learned(evidence) else None
    if last is not None:
        saw = (
            "rows are padded to one length, and the last step of the recurrent layer is taken of "
            "all"
        )
        yield detector.finding(evidence, saw, place=last, confidence=0.85)
    cut = evidence.experiments.moving("padding", MOVED) if attends else ()
    ended = [
        one for one in evidence.experiments.behaviour if one.at_end and not attends and last is None
    ]
    for tested in (one for one in ended if (one.padding or 0.0) > READ_ON):
        saw = (
            f"padding behind a row moves its output by {tested.padding:.2g} of its "
            f"spread{tested.when}"
        )
        place = _last_step(evidence) or _pooled(evidence, tested.model)
        yield detector.finding(evidence, saw, place=place, confidence=0.8)
    added = padded and attends and not cut
    for tested in cut or (evidence.experiments.moving("padding_added", MOVED) if added else ()):
        what, moved = "padding behind a row moves its output", tested.padding_added
        if cut:
            what, moved = (
                "what stands at padding moves the output of a row",
                tested.padding,
            )
        saw = f"{what} by {moved:.2g} of its spread{tested.when}"
        yield detector.finding(
            evidence,
            saw,
            place=_pooled(evidence, tested.model),
        )


def _compared(evidence: Evidence) -> Place | None:
    """Where tokens are compared with one number: in a function that pads, else to make a mask."""
    compares = list(nodes(evidence, ast.Compare))
    found: list[tuple[FileIndex, ast.expr]] = [*calls(evidence, "ne", "eq")]
    found += [
        (index, node) for index, node in compares if isinstance(node.ops[0], ast.NotEq | ast.Eq)
    ]
    pads = [one for one in found if PADS.search(ast.unparse(function_of(*one)))]
    masks = [(i, node) for i, node in found if MASKS.search(i.text.splitlines()[node.lineno - 1])]
    return first_place(pads or masks)


def _unmasked(evidence: Evidence) -> Place | None:
    """Where an encoder of PyTorch is called without a mask and its output averaged over tokens, in
    a program that pads; batches of rows of one length do not show it.
    """
    files = list(indexes(evidence))
    if not any(PADS.search(one.text) for one in files) or any(
        "mask" in one.text.lower() for one in files
    ):
        return None
    return first_place(
        (index, call)
        for index in files
        for call in index.calls
        if called(call) in ENCODERS.findall(index.text)
        and not call.keywords
        and any(called(one) == "mean" and 0 <= one.lineno - call.lineno <= 4 for one in index.calls)
    )


def _last_step(evidence: Evidence) -> Place | None:
    """Where the last step of what a recurrent layer gives is taken, in a program that packs no
    rows.
    """
    if says(evidence, "pack_padded", "pack_sequence", "padding_side", "flip"):
        return None
    return first_place(
        (index, node)
        for index, node in nodes(evidence, ast.Subscript)
        if re.match(r"\(?:, -1\b", ast.unparse(node.slice))
        and any(
            called(value) in RECURRENT.findall(index.text)
            for target, value in stores(function_of(index, node))
            if isinstance(target, ast.Tuple)
            and ast.unparse(target.elts[0]) == ast.unparse(node.value)
        )
    )


def _pooled(evidence: Evidence, model: str) -> Place | None:
    """Where the model's `forward` calls its encoder, else where it pools."""
    for index, node in (
        (file, one) for file, one in nodes(evidence, ast.ClassDef) if one.name == model
    ):
        made = [one for one in within(node, ast.Assign) if ATTENDS.match(called(one.value))]
        parts = {
            target.attr
            for one in made
            for target in one.targets
            if isinstance(target, ast.Attribute)
        }
        own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        attending = {"encoder", "layer", "transformer", "attn", "blocks", *parts}
        for wanted in (attending, POOLS, RECURRENT.findall(index.text)):
            found = [call for call in index.calls if call.lineno in own and called(call) in wanted]
            if found:
                return place_in(index, found[-1])
    return None
