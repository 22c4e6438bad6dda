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
    Unsafe: it changes what is trained. The attention is given a mask where the function knows its padding,
    by a comparison or the embedding's `padding_idx`; a mask that is the wrong way round is turned.
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
from reenact.faults.facts.series import learned
from reenact.faults.fixes.attention import mask_padding
from reenact.probe.trace import Behaviour
from reenact.program.flow.constants import read_through
from reenact.program.flow.library_uses import has_keyword
from reenact.program.flow.uses import assigned, stores
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex, statement_of
from reenact.program.syntax.lines import calls, first_place, nodes
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    is_call,
    is_constant,
    is_minus,
    last_word,
    place_of,
)
from reenact.program.training.rows.padding import (
    KEEP,
    LEAVE_OUT,
    inverted_masks,
    is_mask,
    knows_filler,
    padded_lengths,
    pads,
)

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
    for node, saw in (*padded_lengths(evidence.files), *inverted_masks(evidence.files)):
        yield detector.finding(
            evidence,
            saw,
            fixes=mask_padding(evidence, place_of(node)),
            place=place_of(node),
        )
        return
    behaviour = evidence.experiments.behaviour
    if any(tested.mask_blind for tested in behaviour):
        saw = "the mask that the model is given is the same at padding as at tokens"
        yield detector.finding(evidence, saw, place=_compared(evidence), certainty=Certainty.PROOF)
        return
    attends = any(layer.type in ATTENDING for layer in evidence.layers)
    if attends:
        yield from _attended(detector, evidence)
    last = None
    if evidence.happened("padded") and not learned(evidence):
        last = _last_step(evidence)
    if last is not None:
        saw = "rows are padded to one length, and the last step of the recurrent layer is taken of all"
        yield detector.finding(evidence, saw, place=last, confidence=0.85)
    for tested in behaviour if last is None and not attends else ():
        if tested.at_end and (tested.padding or 0.0) > READ_ON:
            saw = _moved(tested, "padding behind a row moves its output", tested.padding)
            place = _last_step(evidence) or _pooled(evidence, tested.model)
            yield detector.finding(evidence, saw, place=place, confidence=0.8)


def _attended(detector: Detector, evidence: Evidence) -> Findings:
    """What was seen, or else is written, of a model that attends."""
    tried = evidence.experiments
    unmasked = None
    if all(tested.padding is None for tested in tried.behaviour):
        unmasked = _unmasked(evidence)
    if unmasked is not None:
        saw = "rows are padded, and neither attention nor the mean behind it is given a mask"
        yield detector.finding(
            evidence,
            saw,
            fixes=mask_padding(evidence, unmasked),
            place=unmasked,
            confidence=0.8,
        )
    cut = tried.moving("padding", MOVED)
    for tested in cut:
        saw = _moved(tested, "what stands at padding moves the output of a row", tested.padding)
        place = _pooled(evidence, tested.model)
        yield detector.finding(evidence, saw, fixes=mask_padding(evidence, place), place=place)
    added = evidence.happened("padded") and not cut
    for tested in tried.moving("padding_added", MOVED) if added else ():
        saw = _moved(tested, "padding behind a row moves its output", tested.padding_added)
        place = _pooled(evidence, tested.model)
        yield detector.finding(evidence, saw, fixes=mask_padding(evidence, place), place=place)


def _moved(tested: Behaviour, what: str, share: float | None) -> str:
    return f"{what} by {share:.2g} of its spread{tested.when}"


def _compared(evidence: Evidence) -> Place | None:
    """Where tokens are compared with one number: in a function that pads, else to make a mask."""
    compares = nodes(evidence.files, ast.Compare)
    equal = (one for one in compares if isinstance(one.ops[0], ast.NotEq | ast.Eq))
    compared: list[ast.expr] = [*calls(evidence.files, "ne", "eq"), *equal]
    padding = (one for one in compared if pads(function_of(one)))
    return first_place(padding) or first_place(one for one in compared if _makes_mask(one))


def _makes_mask(node: ast.expr) -> bool:
    stored = (target for target, _ in assigned(statement_of(node)))
    return any(is_mask(function_of(node), one) for one in (node, *stored))


def _unmasked(evidence: Evidence) -> Place | None:
    """Where an encoder of PyTorch is called without a mask and its output averaged over tokens, in
    a program that pads; batches of rows of one length do not show it.
    """
    hides = any(calls(evidence.files, *HIDES)) or has_keyword(evidence.files, *MASKS)
    if hides or not any(map(knows_filler, evidence.files)):
        return None
    return first_place(
        call
        for call in calls(evidence.files)
        if called(call) in _made(file_of(call), ENCODERS)
        and not call.keywords
        and any(0 <= one.lineno - call.lineno <= 4 for one in calls_in(file_of(call).tree, "mean"))
    )


def _made(index: FileIndex, classes: tuple[str, ...]) -> set[str]:
    """The attributes and variables that layers of these classes are kept as."""
    return {last_word(target) for target, value in stores(index.tree) if is_call(value, *classes)}


def _last_step(evidence: Evidence) -> Place | None:
    """Where the last step of what a recurrent layer gives is taken, in a program that packs no
    rows.
    """
    packs = any(calls(evidence.files, "pack_padded_sequence", "pack_sequence", "flip"))
    set_side = any(one.attr == "padding_side" for one in nodes(evidence.files, ast.Attribute))
    if packs or set_side or has_keyword(evidence.files, "padding_side"):
        return None
    cuts = (one for one in nodes(evidence.files, ast.Subscript) if _takes_last(one.slice))
    return first_place(one for one in cuts if _is_recurrent(one))


def _is_recurrent(node: ast.Subscript) -> bool:
    """Whether something is cut off what a recurrent layer gives."""
    layers = _made(file_of(node), RECURRENT)
    given = stores(function_of(node))
    outputs = [elements(target) for target, value in given if called(value) in layers]
    return any(same(parts[0], node.value) for parts in outputs if parts)


def _takes_last(key: ast.expr) -> bool:
    """`[:, -1]`, and whatever follows."""
    axes = elements(key)
    if len(axes) < 2 or not same(axes[0], ast.Slice()):
        return False
    step = read_through(axes[1])
    return is_minus(step) and is_constant(step.operand, 1)


def _pooled(evidence: Evidence, model: str) -> Place | None:
    """Where the model's `forward` calls its encoder, else where it pools."""
    for node in nodes(evidence.files, ast.ClassDef):
        index = file_of(node)
        attending = _made(index, TRANSFORMERS) | {"scaled_dot_product_attention"}
        for wanted in (attending, POOLS, _made(index, RECURRENT)) if node.name == model else ():
            asked = [call for call in calls_in(node) if called(call) in wanted]
            if asked:
                return place_of(max(asked, key=lambda call: call.lineno))
    return None
