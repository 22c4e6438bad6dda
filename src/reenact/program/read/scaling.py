"""Scaling and encoding of the data, where it is written, and that it is nowhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind, Written
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.calls import argument, method_name
from reenact.program.read.ends import is_number, literal
from reenact.program.read.index import FileIndex
from reenact.program.read.model import Models
from reenact.program.read.names import last_name
from reenact.program.read.vocabulary import Family
from reenact.program.words import words

GREY_LEVELS = (255, 256, 127.5, 128)
SCALERS = words(
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer QuantileTransformer "
    "PowerTransformer scale minmax_scale normalize Normalize ToTensor Rescaling Normalization"
)
ENCODERS = ["to_categorical", "one_hot", "LabelEncoder", "LabelBinarizer", "OneHotEncoder", "get_dummies"]
HOMES = ("sklearn.", "keras.", "torchvision.", "torch.", "pandas.", "tensorflow.", "albumentations.")


def read_scaling(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """Drafts of scaling and encoding; one absent draft when inputs are never scaled."""
    found = [draft for index in analysis.sources.indexes.values() for draft in _divisions(analysis, index)]
    for call, scope, _ in analysis.calls():
        for callee in analysis.callees.of(call, scope):
            name = last_name(callee.dotted)
            if callee.dotted.startswith(HOMES) and (name in SCALERS or name in ENCODERS):
                reason = "how data is encoded depends on the data"
                style = Style.NAME if name in SCALERS[:3] else Style.FIXED
                site = Site(
                    style, "data", scope, call, callee=callee, reason="" if style is Style.NAME else reason
                )
                found.append(
                    analysis.name_draft(
                        Kind.PREPROCESSING, callee, site, name, layer="scale" if name in SCALERS else "encode"
                    )
                )
    if not any(draft.layer == "scale" for draft in found):
        found += list(_by_hand(analysis))
    symbols = any(layer.spec.family is Family.EMBEDDING for layer in models.layers)
    if not any(draft.layer == "scale" for draft in found) and not symbols:
        found += list(_unscaled(analysis))
    yield from found


def _divisions(analysis: ProgramAnalysis, index: FileIndex) -> Iterator[Draft]:
    """`x / 255`, `x /= 255`, `(x - 127.5) / 127.5`."""
    for node, scope in list(index.scopes.items()):
        divisor = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            divisor = node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            divisor = node.value
        if divisor is None or not is_number(literal(divisor)) or literal(divisor) not in GREY_LEVELS:
            continue
        site = Site(Style.VALUE, "data", scope, node=node)
        found = analysis.values.here(divisor, scope)
        draft = analysis.found_draft(Kind.PREPROCESSING, found, site, layer="scale")
        draft.written = Written.LITERAL
        yield draft


def _by_hand(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """`(x - x.mean(0)) / x.std(0)`, `x / x.max()`: told, not turned."""
    for call, scope, index in analysis.calls():
        word = _hand_word(call, index)
        if word:
            spot = analysis.spot(call, scope)
            site = Site(Style.FIXED, "data", scope, call, reason="the inputs are scaled by hand")
            yield Draft(
                Kind.PREPROCESSING,
                site,
                word,
                Written.LITERAL,
                spot,
                analysis.text(spot),
                layer="scale",
                uses=[spot],
            )
            return


def _hand_word(call: ast.Call, index: FileIndex) -> str:
    name = method_name(call)
    if name in ("std", "std_mean", "adapt"):
        return "standardize"
    parent = index.parents.get(call)
    divided = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is call
    if name == "ptp" or (name in ("max", "norm") and (divided or _named_maximum(parent))):
        return "scale"
    return ""


def _named_maximum(parent: ast.AST | None) -> bool:
    """`x_max = abs(x).max()`."""
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    return parent.targets[0].id.endswith(("_max", "_scale"))


def _unscaled(analysis: ProgramAnalysis) -> Iterator[Draft]:
    for call, scope, _ in analysis.calls():
        dotted = analysis.callees.dotted(call, scope)
        data = argument(call, 0, "x")
        fitted = method_name(call) == "fit" and any(
            part.arg in ("epochs", "nb_epoch", "batch_size") for part in call.keywords
        )
        listed = dotted.endswith("TensorDataset")
        if (fitted or listed) and data is not None:
            library = "keras" if fitted else "torch"
            site = Site(Style.ARGUMENT, library, scope, call, "x", node=data)
            if not isinstance(data, ast.Name):
                site = Site(Style.FIXED, library, scope, call, "x", reason="the inputs are not one variable")
            yield analysis.absent(Kind.PREPROCESSING, site, call, layer="scale")
            return
