"""Hyperparameters of the data: batch size and order of loaders, splits for validation, scaling and
encoding.
"""

import ast
from collections.abc import Iterator

from reenact.program.flow.constants import read_through
from reenact.program.flow.ends import NOT_LITERAL, End, is_number, literal, spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.flow.values import Found
from reenact.program.hyperparameter import Kind, Written
from reenact.program.syntax.calls import argument, keyword, method_name
from reenact.program.syntax.scope import FileIndex, scope_of
from reenact.program.training.analysis import (
    CallSite,
    Draft,
    EditSite,
    ProgramAnalysis,
    Style,
)
from reenact.program.training.model import Models
from reenact.program.training.purpose import Purpose, Purposes
from reenact.program.training.vocabulary import Family, Slot

LOADERS = frozenset(
    {
        "torch.utils.data.DataLoader",
        "torch.utils.data.dataloader.DataLoader",
        "torch_geometric.loader.DataLoader",
    }
)
SAMPLERS = frozenset(("torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"))
GENERATORS = frozenset(("flow", "flow_from_directory", "flow_from_dataframe"))


def read_data(purposes: Purposes) -> Iterator[Draft]:
    """Drafts of loaders, samplers and splits."""
    analysis = purposes.analysis
    loaders: list[tuple[CallSite, Purpose]] = []
    loads = any(
        analysis.callees.dotted(call).startswith("tensorflow_datasets.")
        for call in analysis.calls("load", "as_dataset")
    )
    tensors = loads or bool(analysis.calls("from_tensor_slices"))
    for call in analysis.calls():
        dotted = analysis.callees.dotted(call)
        at = CallSite(analysis, call, "torch")
        if dotted in LOADERS:
            loaders.append((at, purposes.of_loader(call)))
        elif dotted in SAMPLERS:
            yield from at.given(Kind.BATCH_SIZE, 1, "batch_size")
        elif dotted.endswith("DistributedSampler"):
            yield from at.given(Kind.SHUFFLE, None, "shuffle")
        elif last_name(dotted) == "random_split" and dotted.startswith("torch."):
            yield from _split(at)
        elif method_name(call) in GENERATORS or (
            tensors and method_name(call) == "batch" and call.args
        ):
            batched = method_name(call) == "batch"
            at = CallSite(analysis, call, "keras")
            if purposes.of_loader(call) is not Purpose.EVALUATES:
                yield from at.given(
                    Kind.BATCH_SIZE,
                    0 if batched else None,
                    "batch_size",
                )
                yield from () if batched else at.given(Kind.SHUFFLE, None, "shuffle")
    for at in _of_training(loaders):
        batched = keyword(at.call, "batch_sampler") is not None
        sampled = batched or keyword(at.call, "sampler") is not None
        yield from at.either(
            Slot(
                Kind.BATCH_SIZE,
                ("batch_size",),
                1,
                1,
                reported=not batched,
            )
        )
        yield from at.either(
            Slot(
                Kind.SHUFFLE,
                ("shuffle",),
                2,
                False,
                reported=not sampled,
            )
        )


def _of_training(loaders: list[tuple[CallSite, Purpose]]) -> list[CallSite]:
    """Those that train; where none is seen to, those that may, and at the least the first."""
    for wanted in (Purpose.TRAINS, Purpose.UNKNOWN):
        found = [at for at, purpose in loaders if purpose is wanted]
        if found:
            return found
    return [at for at, _ in loaders[:1]]


def _split(at: CallSite) -> list[Draft]:
    """`random_split(data, [0.8, 0.2])`: the list, or the one number that its lengths come from."""
    lengths = at.argument(1, "lengths")
    end = at.analysis.follower.single(lengths) if lengths is not None else None
    computed = end is not None and end.literal() is NOT_LITERAL
    share = _share(at.analysis, end.node) if end is not None and computed else None
    if share is not None:
        return [
            at.analysis.found_draft(
                Kind.VALIDATION,
                share,
                at.site("lengths"),
            )
        ]
    return at.given(Kind.VALIDATION, 1, "lengths")


def _share(
    analysis: ProgramAnalysis,
    node: ast.AST,
    depth: int = 0,
) -> Found | None:
    """The fraction in `held = int(rows * fraction)`, when there is just one."""
    found: list[Found | None] = []
    for part in ast.walk(node):
        named = isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load)
        end = analysis.follower.single(part) if named else None
        if end is None or end.node is part:
            continue
        value = end.literal()
        if isinstance(value, float) and 0 < value < 1 and isinstance(part, ast.expr):
            found.append(analysis.values.found(end, part))
        elif value is NOT_LITERAL and depth < 4 and isinstance(end.node, ast.expr):
            found.append(_share(analysis, end.node, depth + 1))
    distinct = {item.spot: item for item in found if item is not None}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    return None


GREY_LEVELS = (255, 256, 127.5, 128)
SCALERS = (
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "Normalizer",
    "QuantileTransformer",
    "PowerTransformer",
    "scale",
    "minmax_scale",
    "normalize",
    "Normalize",
    "ToTensor",
    "Rescaling",
    "Normalization",
)
ENCODERS = [
    "to_categorical",
    "one_hot",
    "LabelEncoder",
    "LabelBinarizer",
    "OneHotEncoder",
    "get_dummies",
]
HOMES = (
    "sklearn.",
    "keras.",
    "torchvision.",
    "torch.",
    "pandas.",
    "tensorflow.",
    "albumentations.",
)


def read_scaling(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """Drafts of scaling and encoding; one absent draft when inputs are never scaled."""
    found = [
        draft
        for index in analysis.sources.indexes.values()
        for draft in _divisions(analysis, index)
    ]
    for call in analysis.calls():
        for callee in analysis.callees.of(call):
            name = last_name(callee.dotted)
            if callee.dotted.startswith(HOMES) and (name in SCALERS or name in ENCODERS):
                style = Style.NAME if name in SCALERS[:3] else Style.FIXED
                reason = "" if style is Style.NAME else "how data is encoded depends on the data"
                site = EditSite(
                    style,
                    "data",
                    call,
                    callee=callee,
                    reason=reason,
                )
                layer = "scale" if name in SCALERS else "encode"
                found.append(
                    analysis.name_draft(
                        Kind.PREPROCESSING,
                        callee,
                        site,
                        name,
                        layer=layer,
                    )
                )
    symbols = any(layer.spec.family is Family.EMBEDDING for layer in models.layers)
    if not any(draft.param.id.layer == "scale" for draft in found):
        found += list(_by_hand(analysis)) or ([] if symbols else list(_unscaled(analysis)))
    yield from found


def _divisions(analysis: ProgramAnalysis, index: FileIndex) -> Iterator[Draft]:
    """`x / 255`, `x /= 255`, `(x - 127.5) / 127.5`."""
    for node in index.nodes:
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            divisor = node.right if isinstance(node, ast.BinOp) else node.value
            written = read_through(divisor)
            if is_number(literal(written)) and literal(written) in GREY_LEVELS:
                site = EditSite(Style.VALUE, "data", node=node)
                way = Written.LITERAL if written is divisor else Written.CONSTANT
                found = analysis.values.found(End(written, way), divisor)
                yield analysis.found_draft(Kind.PREPROCESSING, found, site, layer="scale")


def _by_hand(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """`(x - x.mean(0)) / x.std(0)`, `x / x.max()`: reported, not changed."""
    words = ((call, _hand_word(call)) for call in analysis.calls())
    for call, word in [(call, word) for call, word in words if word][:1]:
        site = EditSite(Style.FIXED, "data", call, reason="the inputs are scaled by hand")
        yield analysis.spot_draft(
            Kind.PREPROCESSING,
            site,
            word,
            spot_of(call),
            layer="scale",
        )


def _hand_word(call: ast.Call) -> str:
    name = method_name(call)
    if name in ("std", "std_mean", "adapt"):
        return "standardize"
    parent = scope_of(call).index.parents.get(call)
    divided = (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is call
    )
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    # `most = abs(x).max()` is there to divide by, where something is divided by it.
    later = isinstance(target, ast.Name) and _divides(target)
    if name == "ptp" or (name in ("max", "norm") and (divided or later)):
        return "scale"
    return ""


def _divides(name: ast.Name) -> bool:
    """Whether something is divided by what is bound to a name."""
    index = scope_of(name).index
    parents = [(read, index.parents.get(read)) for read in index.reads(name.id)]
    return any(
        (isinstance(parent, ast.BinOp) and parent.right is read and isinstance(parent.op, ast.Div))
        or (isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Div))
        for read, parent in parents
    )


def _unscaled(analysis: ProgramAnalysis) -> Iterator[Draft]:
    for call in analysis.calls():
        data = argument(call, 0, "x")
        fitted = (
            method_name(call) == "fit"
            and keyword(call, "epochs", "nb_epoch", "batch_size") is not None
        )
        if (fitted or analysis.callees.dotted(call).endswith("TensorDataset")) and data is not None:
            at = CallSite(analysis, call, "keras" if fitted else "torch")
            site = at.site("x", node=data)
            if not isinstance(data, ast.Name):
                site = at.site("x", Style.FIXED, reason="the inputs are not one variable")
            yield analysis.absent(Kind.PREPROCESSING, site, call, layer="scale")
            return
