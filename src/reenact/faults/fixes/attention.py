"""Masks of attention: of later tokens, and of padding."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    fresh_name,
    in_front,
    nodes_at,
    offered,
    refused,
    replace,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.constants import constant_of
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import objects_of, stores, value_of
from reenact.program.syntax.calls import argument, has_unpacking, keyword
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    file_of,
    function_of,
    is_call,
    is_constant,
    is_minus,
    last_word,
    owner_of,
    within,
)
from reenact.program.syntax.scope import bindings_of
from reenact.program.syntax.source import Span
from reenact.program.syntax.targets import How

MASKS = {
    "TransformerEncoderLayer": (1, "src_mask"),
    "TransformerEncoder": (1, "mask"),
    "TransformerDecoderLayer": (2, "tgt_mask"),
    "TransformerDecoder": (2, "tgt_mask"),
    "Transformer": (3, "tgt_mask"),
    "MultiheadAttention": (5, "attn_mask"),
}
"""Modules of PyTorch, with the place and the name of their mask of later tokens."""
PADDING = {
    "TransformerEncoderLayer": "src_key_padding_mask",
    "TransformerEncoder": "src_key_padding_mask",
    "TransformerDecoderLayer": "tgt_key_padding_mask",
    "TransformerDecoder": "tgt_key_padding_mask",
    "Transformer": "src_key_padding_mask",
    "MultiheadAttention": "key_padding_mask",
}
LAYERS = {
    "TransformerEncoder": ("TransformerEncoderLayer",),
    "TransformerDecoder": ("TransformerDecoderLayer",),
}
SOFTMAXES = ("softmax", "log_softmax")


def mask_later_tokens(evidence: Evidence, place: Place | None) -> Fixes:
    """A mask of later tokens for the attention of a model that predicts the next one."""
    written = offered(*(_other_half(evidence, one) for one in _masks(evidence, place)))
    if written:
        return written
    found: list[Fixes] = []
    for call in _attending(evidence, place):
        found.append(_masked(evidence, call))
    found += [_padded_left(evidence, one) for one in _convolutions(evidence)]
    return offered(*found, refused("No attention that could be given a mask is called here."))


def _attending(evidence: Evidence, place: Place | None) -> list[ast.Call]:
    """Calls of attention: at the place first, then the others of the classes of the program."""
    here = list(nodes_at(evidence, place, ast.Call))
    others = [call for index in evidence.files for call in index.calls]
    return [one for one in dict.fromkeys([*here, *others]) if _attends(one)]


def _attends(call: ast.Call) -> bool:
    if is_call(call, "scaled_dot_product_attention") or _maker(call) is not None:
        return True
    return is_call(call, *SOFTMAXES) and _is_of_scores(call)


def _maker(call: ast.Call) -> ast.Call | None:
    """The call that makes the module of PyTorch or Keras that is called here."""
    for made in objects_of(call.func, *MASKS, "MultiHeadAttention"):
        return made
    return None


def _is_of_scores(call: ast.Call) -> bool:
    """Whether a softmax is of scores: a product of queries and keys."""
    scores = _scores_of(call)
    made = value_of(scores) if scores is not None else None
    products = ("matmul", "bmm", "einsum")
    if made is None:
        return False
    multiplied = any(isinstance(one.op, ast.MatMult) for one in within(made, ast.BinOp))
    return multiplied or bool(calls_in(made, *products))


def _scores_of(call: ast.Call) -> ast.expr | None:
    owner = owner_of(call)
    if call.args and (owner is None or _is_library(owner)):
        return call.args[0]
    return owner


def _is_library(node: ast.expr) -> bool:
    """Whether a function of a module is called, and no method of a tensor."""
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    return any(one.how is How.IMPORT for one in bindings_of(base))


def _masked(evidence: Evidence, call: ast.Call) -> Fixes:
    if has_unpacking(call):
        return refused("The attention is called with unpacked arguments.")
    if is_call(call, "scaled_dot_product_attention"):
        return _by_flag(evidence, call, "is_causal", 5, 3, "attn_mask")
    if is_call(call, *SOFTMAXES):
        return _scores_masked(evidence, call)
    made = _maker(call)
    if made is None:
        return ()
    name = called(made)
    if name == "MultiHeadAttention":
        return _by_flag(evidence, call, "use_causal_mask", None, None, "attention_mask")
    place, word = MASKS[name]
    if argument(call, place, word) is not None or not call.args:
        return ()
    tokens = call.args[1] if name == "Transformer" and len(call.args) > 1 else call.args[0]
    axis = 1 if _batch_first(made) else 0
    return edit(
        evidence,
        f"give {excerpt(call.func)} a mask of later tokens",
        _with_mask,
        call,
        word,
        tokens,
        axis,
    )


def _by_flag(
    evidence: Evidence,
    call: ast.Call,
    flag: str,
    place: int | None,
    mask_place: int | None,
    mask: str,
) -> Fixes:
    given = argument(call, place, flag)
    if given is not None and not is_constant(constant_of(given), False):
        return ()
    if argument(call, mask_place, mask) is not None:
        return refused(f"The attention has an {mask} already, which {flag} excludes.")
    return edit(
        evidence,
        f"let {called(call)} see no later tokens",
        SourceEditor.set_argument,
        call,
        flag,
        "True",
    )


def _batch_first(made: ast.Call) -> bool:
    """Whether a module takes the batch for the first axis: of a stack that of its layer."""
    layers = LAYERS.get(called(made))
    if layers and made.args:
        for one in (made.args[0], value_of(made.args[0]), *objects_of(made.args[0], *layers)):
            if is_call(one, *layers):
                return is_constant(constant_of(keyword(one, "batch_first")), True)
    return is_constant(constant_of(keyword(made, "batch_first")), True)


def _with_mask(
    editor: SourceEditor, call: ast.Call, word: str, tokens: ast.expr, axis: int
) -> None:
    """A mask in front of the statement, of the length of what attends; the rows may be computed in
    the call, so the length is that of the tensor that they are computed from.
    """
    source = _named(tokens, call)
    if source is None:
        raise NotChangeable("What attends has no name by which its length could be asked for.")
    made = editor.name_for("torch.nn.Transformer", call)
    text = editor.text(source)
    name = fresh_name(call, "mask")
    line = f"{text}.shape[{axis}], device={text}.device"
    editor.before(statement_of(call), f"{name} = {made}.generate_square_subsequent_mask({line})")
    editor.set_argument(call, word, name)


def _named(tokens: ast.expr, call: ast.Call) -> ast.expr | None:
    """The variable that tokens are, or the first that they are computed from by layers."""
    if isinstance(tokens, ast.Name | ast.Attribute):
        return tokens
    given = getattr(getattr(function_of(call), "args", None), "args", [])
    known = {one.arg for one in given[1:]}
    known |= {last_word(target) for target, _ in stores(function_of(call))}
    return next((one for one in within(tokens, ast.Name) if one.id in known), None)


def _scores_masked(evidence: Evidence, call: ast.Call) -> Fixes:
    scores = _scores_of(call)
    if scores is None:
        return ()
    made = value_of(scores)
    masked = [*calls_in(function_of(call), "masked_fill", "masked_fill_")]
    if any(one in within(made, ast.Call) for one in masked):
        return ()
    return edit(
        evidence,
        "hide the scores of later tokens before the softmax",
        _hide_later,
        call,
        scores,
    )


def _hide_later(editor: SourceEditor, call: ast.Call, scores: ast.expr) -> None:
    text = editor.text(scores)
    if not isinstance(scores, ast.Name | ast.Attribute):
        raise NotChangeable("The scores have no name by which their size could be asked for.")
    torch = editor.name_for("torch.ones", call)
    mask = f"{torch}({text}.shape[-2:], device={text}.device).triu(1).bool()"
    editor.replace(
        spot_of(scores),
        f'{text}.masked_fill({mask}, float("-inf"))',
    )


def _masks(evidence: Evidence, place: Place | None) -> list[ast.Call]:
    """Calls that make a mask of later tokens: at the place, else anywhere."""
    here = [one for one in nodes_at(evidence, place, ast.Call) if is_call(one, "tril", "triu")]
    everywhere = [call for index in evidence.files for call in calls_in(index.tree, "tril", "triu")]
    return here or everywhere


def _other_half(evidence: Evidence, call: ast.Call) -> Fixes:
    """The mask is of the other half, or leaves the diagonal out or in, or is turned round."""
    name = called(call)
    other = "triu" if name == "tril" else "tril"
    given = (
        argument(call, 1, "diagonal") if _is_library_call(call) else argument(call, 0, "diagonal")
    )
    return offered(
        *(_diagonal(evidence, call, given, number) for number in _diagonals(name, given)),
        edit(evidence, f"make the mask by {other}", _renamed, call, other),
        *_hidden_where(evidence, call),
    )


def _is_library_call(call: ast.Call) -> bool:
    owner = owner_of(call)
    return owner is not None and _is_library(owner)


def _diagonals(name: str, given: ast.expr | None) -> list[int]:
    """The diagonals to try: whoever keeps the lower half keeps the diagonal, whoever hides the upper
    half keeps it too.
    """
    known = _number(given)
    wanted = [0, -1] if name == "tril" else [1, 0]
    return [one for one in wanted if one != (known if known is not None else 0)]


def _number(node: ast.expr | None) -> int | None:
    if node is None:
        return 0
    if is_minus(node):
        inner = constant_of(node.operand)
        return -inner.value if inner is not None and isinstance(inner.value, int) else None
    known = constant_of(node)
    return known.value if known is not None and isinstance(known.value, int) else None


def _diagonal(evidence: Evidence, call: ast.Call, given: ast.expr | None, number: int) -> Fixes:
    does = "hide the later tokens alone" if number else "let each token attend to itself"
    if given is not None:
        return edit(evidence, does, replace, given, str(number))
    return edit(evidence, does, SourceEditor.set_argument, call, "diagonal", str(number))


def _renamed(editor: SourceEditor, call: ast.Call, name: str) -> None:
    spot = spot_of(call.func)
    editor.replace(Span(spot.end - len(called(call)), spot.end, spot.file), name)


def _hidden_where(evidence: Evidence, call: ast.Call) -> list[Fixes]:
    """`masked_fill(mask == 0, ...)` and `masked_fill(mask, ...)` turned round."""
    fills = calls_in(file_of(call).tree, "masked_fill", "masked_fill_")
    found = []
    for fill in fills:
        condition = fill.args[0] if fill.args else None
        if isinstance(condition, ast.Compare) and isinstance(condition.ops[0], ast.Eq | ast.NotEq):
            found.append(edit(evidence, "hide what the mask hides", _other_comparison, condition))
        elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Invert):
            found.append(
                edit(
                    evidence,
                    "hide what the mask hides",
                    in_front,
                    condition,
                    condition.operand,
                    "",
                )
            )
        elif isinstance(condition, ast.Name | ast.Attribute):
            found.append(
                edit(evidence, "hide what the mask keeps", SourceEditor.wrap, condition, "~", "")
            )
    return found


def _other_comparison(editor: SourceEditor, node: ast.Compare) -> None:
    """`==` becomes `!=`, and the other way round."""
    index = file_of(node)
    start, end = spot_of(node.left).end, spot_of(node.comparators[0]).start
    text = index.text[start:end]
    other = text.replace("==", "!=") if "==" in text else text.replace("!=", "==")
    editor.replace(Span(start, end, index.path), other)


def _convolutions(evidence: Evidence) -> list[ast.Call]:
    """Convolutions over a sequence that are padded on both sides."""
    found = [call for index in evidence.files for call in calls_in(index.tree, "Conv1d", "Conv1D")]
    return [one for one in found if keyword(one, "padding") is not None]


def _padded_left(evidence: Evidence, made: ast.Call) -> Fixes:
    """Keras pads on the left by itself; in PyTorch the input is padded before each call."""
    padding = keyword(made, "padding")
    if padding is None:
        return ()
    if called(made) == "Conv1D":
        if is_constant(constant_of(padding), "causal"):
            return ()
        return edit(evidence, "pad the convolution on the left", replace, padding, '"causal"')
    calls = [
        call
        for call in file_of(made).calls
        if any(one is made for one in objects_of(call.func, "Conv1d")) and call.args
    ]
    size = argument(made, 2, "kernel_size")
    if not calls or size is None or is_constant(constant_of(padding), 0):
        return ()
    return edit(evidence, "pad the convolution on the left", _pad_left, made, padding, size, calls)


def _pad_left(
    editor: SourceEditor,
    made: ast.Call,
    padding: ast.expr,
    size: ast.expr,
    calls: list[ast.Call],
) -> None:
    number = constant_of(size)
    if number is None or not isinstance(number.value, int):
        raise NotChangeable("The size of the convolution is not a number of the text.")
    step = keyword(made, "dilation")
    wide = constant_of(step) if step is not None else None
    if step is not None and (wide is None or not isinstance(wide.value, int)):
        raise NotChangeable("The dilation of the convolution is not a number of the text.")
    factor = wide.value if wide is not None and isinstance(wide.value, int) else 1
    left = (number.value - 1) * factor
    editor.replace(spot_of(padding), "0")
    for call in calls:
        name = editor.name_for("torch.nn.functional.pad", call)
        editor.wrap(call.args[0], f"{name}(", f", ({left}, 0))")


def mask_padding(evidence: Evidence, place: Place | None) -> Fixes:
    """A mask of padding for the attention, or one that is turned round; a mean over tokens alone."""
    turned = offered(*(_turned_mask(evidence, one) for one in nodes_at(evidence, place, ast.expr)))
    if turned:
        return turned
    found: list[Fixes] = []
    for call in _attending(evidence, place):
        made = _maker(call)
        if made is None or called(made) not in PADDING:
            continue
        word = PADDING[called(made)]
        if keyword(call, word) is None:
            found.append(_hide_padding(evidence, call, word))
    return offered(*found, refused("Where the padding is known is not seen in this function."))


def _turned_mask(evidence: Evidence, node: ast.expr) -> Fixes:
    """A comparison with the number of padding that is the wrong way round."""
    parent = file_of(node).parents.get(node)
    given = isinstance(parent, ast.keyword | ast.Call | ast.Assign)
    if not given:
        return ()
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return edit(evidence, "turn the mask round", _other_comparison, node)
    inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    if inverted and isinstance(node, ast.UnaryOp):
        return edit(evidence, "turn the mask round", in_front, node, node.operand, "")
    return ()


def _hide_padding(evidence: Evidence, call: ast.Call, word: str) -> Fixes:
    """The tokens are an argument of this function, and padding the number that rows are filled with."""
    padding = _padding_known(call)
    if padding is None:
        return ()
    pooled = _pooled(call)
    return offered(
        edit(
            evidence,
            "hide the padding from the attention, and leave it out of the mean",
            _hide_and_pool,
            call,
            word,
            padding,
            pooled,
        ),
    )


def _padding_known(call: ast.Call) -> str | None:
    """How this function can say where padding is, True there: a mask that it has made, or its tokens
    compared with the number of padding of the embedding.
    """
    function = function_of(call)
    for target, value in stores(function):
        compared = isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq)
        if compared and isinstance(target, ast.Name) and value.lineno < call.lineno:
            return target.id
    given = getattr(getattr(function, "args", None), "args", [])[1:]
    index = file_of(call)
    number = None
    for made in calls_in(index.tree, "Embedding"):
        number = keyword(made, "padding_idx") or number
    known = constant_of(number) if number is not None else None
    embedded = [
        one.args[0]
        for one in within(function, ast.Call)
        if one.args and objects_of(one.func, "Embedding")
    ]
    for tokens in embedded:
        named = isinstance(tokens, ast.Name) and tokens.id in {one.arg for one in given}
        if named and known is not None and isinstance(known.value, int):
            return f"({code_of(tokens)} == {known.value})"
    return None


def _pooled(call: ast.Call) -> ast.Call | None:
    """The mean over tokens of what the attention gives, in the same function."""
    statement = statement_of(call)
    targets = [target for target, value in stores(statement) if call in within(value, ast.Call)]
    for one in calls_in(function_of(call), "mean"):
        owner = owner_of(one)
        over = argument(one, 0, "dim")
        if not is_constant(constant_of(over), 1):
            continue
        if owner is call or any(same(owner, target) for target in targets):
            return one
    return None


def _hide_and_pool(
    editor: SourceEditor, call: ast.Call, word: str, padding: str, pooled: ast.Call | None
) -> None:
    editor.set_argument(call, word, padding)
    owner = owner_of(pooled) if pooled is not None else None
    if pooled is None or owner is None:
        return
    if owner is call:
        raise NotChangeable("The mean is taken of the call itself; give its result a name first.")
    text = editor.text(owner)
    hidden = f"{text}.masked_fill({padding}[..., None], 0).sum(1)"
    mean = f"{hidden} / (~{padding}).sum(1, keepdim=True).clamp(min=1)"
    parent = file_of(pooled).parents.get(pooled)
    bare = isinstance(parent, ast.Assign | ast.Return | ast.Call | ast.keyword)
    editor.replace(spot_of(pooled), mean if bare else f"({mean})")
