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
from reenact.faults.facts.flow import assigned, elements, stores
from reenact.faults.facts.lines import (
    calls,
    first_place,
    function_of,
    indexes,
    nodes,
    place_in,
)
from reenact.faults.facts.padding import (
    KEEP,
    LEAVE_OUT,
    inverted_masks,
    is_mask,
    knows_filler,
    padded_lengths,
    pads,
)
from reenact.faults.facts.parts import called, is_call, last_word, within
from reenact.faults.facts.series import learned
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex

MOVED = 1e-3
READ_ON = 0.1
"""Of its spread: what reads on through padding may have learned to move less in the end."""
ENCODERS = ("MultiheadAttention", "TransformerEncoder")
ATTENDING = (
    *ENCODERS,
    "TransformerEncoderLayer",
    "scaled_dot_product_attention",
    "softmax",
)
TRANSFORMERS = (
    *ATTENDING,
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
)
RECURRENT = ("GRU", "LSTM", "RNN")
MASKS = (
    *KEEP,
    *LEAVE_OUT,
    "attn_mask",
    "mask",
    "memory_mask",
    "src_mask",
    "tgt_mask",
)
"""What PyTorch, Keras and transformers call the argument for a mask."""
HIDES = ("masked_fill", "masked_fill_", "masked_select", "where", "nested_tensor")
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
    attends = any(layer.type in ATTENDING for layer in evidence.layers)
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
    compared: list[tuple[FileIndex, ast.expr]] = [*calls(evidence, "ne", "eq")]
    compared += [
        (index, node)
        for index, node in nodes(evidence, ast.Compare)
        if isinstance(node.ops[0], ast.NotEq | ast.Eq)
    ]
    padding = [one for one in compared if pads(function_of(*one))]
    masks = [one for one in compared if _makes_mask(*one)]
    return first_place(padding or masks)


def _makes_mask(index: FileIndex, node: ast.expr) -> bool:
    scope = function_of(index, node)
    return is_mask(scope, node) or any(
        is_mask(scope, target) for target, _ in assigned(index.statement(node))
    )


def _unmasked(evidence: Evidence) -> Place | None:
    """Where an encoder of PyTorch is called without a mask and its output averaged over tokens, in
    a program that pads; batches of rows of one length do not show it.
    """
    files = list(indexes(evidence))
    if not any(map(knows_filler, files)) or any(map(_masks, files)):
        return None
    return first_place(
        (index, call)
        for index in files
        for call in index.calls
        if called(call) in _made(index, ENCODERS)
        and not call.keywords
        and any(called(one) == "mean" and 0 <= one.lineno - call.lineno <= 4 for one in index.calls)
    )


def _masks(index: FileIndex) -> bool:
    return any(
        called(call) in HIDES or any(word.arg in MASKS for word in call.keywords)
        for call in index.calls
    )


def _made(index: FileIndex, classes: tuple[str, ...]) -> set[str]:
    """The attributes and variables that layers of these classes are kept as."""
    return {last_word(target) for target, value in stores(index.tree) if is_call(value, *classes)}


def _last_step(evidence: Evidence) -> Place | None:
    """Where the last step of what a recurrent layer gives is taken, in a program that packs no
    rows.
    """
    if any(calls(evidence, "pack_padded_sequence", "pack_sequence", "flip")):
        return None
    if any(node.attr == "padding_side" for _, node in nodes(evidence, ast.Attribute)):
        return None
    if any(word.arg == "padding_side" for _, word in nodes(evidence, ast.keyword)):
        return None
    return first_place(
        (index, node)
        for index, node in nodes(evidence, ast.Subscript)
        if _takes_last(node.slice)
        and any(
            called(value) in _made(index, RECURRENT) and same(elements(target)[0], node.value)
            for target, value in stores(function_of(index, node))
            if elements(target)
        )
    )


def _takes_last(key: ast.expr) -> bool:
    """`[:, -1]`, and whatever follows."""
    match key:
        case ast.Tuple(
            [
                ast.Slice(None, None, None),
                ast.UnaryOp(ast.USub(), ast.Constant(1)),
                *_,
            ]
        ):
            return True
    return False


def _pooled(evidence: Evidence, model: str) -> Place | None:
    """Where the model's `forward` calls its encoder, else where it pools."""
    for index, node in nodes(evidence, ast.ClassDef):
        if node.name != model:
            continue
        own = list(within(node, ast.Call))
        attending = _made(index, TRANSFORMERS) | {"scaled_dot_product_attention"}
        for wanted in (attending, POOLS, _made(index, RECURRENT)):
            asked = [call for call in own if called(call) in wanted]
            if asked:
                return place_in(index, max(asked, key=lambda call: call.lineno))
    return None
