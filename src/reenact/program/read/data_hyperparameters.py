"""Hyperparameters of the data: batch size and order of loaders, splits for validation, scaling and
encoding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.arguments import argument_drafts
from reenact.program.read.calls import argument, keyword, method_name
from reenact.program.read.ends import NOT_LITERAL
from reenact.program.read.evaluation import is_evaluation, speaks_of_evaluation
from reenact.program.read.index import FileIndex, dotted_text
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope

LOADERS = frozenset(
    (
        "torch.utils.data.DataLoader",
        "torch.utils.data.dataloader.DataLoader",
        "torch_geometric.loader.DataLoader",
    )
)
SAMPLERS = frozenset(("torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"))
GENERATORS = frozenset(("flow", "flow_from_directory", "flow_from_dataframe"))


def read_data(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Drafts of loaders, samplers and splits."""
    loaders: list[tuple[ast.Call, Scope, FileIndex]] = []
    for call, scope, index in analysis.calls():
        dotted = analysis.callees.dotted(call, scope)
        if dotted in LOADERS:
            loaders.append((call, scope, index))
        elif dotted in SAMPLERS:
            yield from _value(analysis, Kind.BATCH_SIZE, call, scope, 1, "batch_size")
        elif dotted.endswith("DistributedSampler"):
            yield from _value(analysis, Kind.SHUFFLE, call, scope, None, "shuffle")
        elif last_name(dotted) == "random_split" and dotted.startswith("torch."):
            yield from _split(analysis, call, scope)
        elif method_name(call) in GENERATORS or _is_tf_batch(analysis, call):
            yield from _generator(analysis, call, scope, index)
    training = [item for item in loaders if not evaluates(analysis, *item)]
    for call, scope, _ in training or loaders[:1]:
        yield from _loader(analysis, call, scope)


def evaluates(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, index: FileIndex) -> bool:
    """A loader for validation or test, by the names around it."""
    function = scope.enclosing_function()
    names = [_target_name(index, call), dotted_text(call.args[0]) if call.args else "", _keyword_name(call)]
    if speaks_of_evaluation(*names):
        return True
    if function is not None and not any(names) and speaks_of_evaluation(function.name):
        return True
    if (
        function is not None
        and speaks_of_evaluation(function.name)
        and "train" not in " ".join(names).lower()
    ):
        return True
    return is_evaluation(analysis, call, scope) and not any("train" in name.lower() for name in names)


def _target_name(index: FileIndex, call: ast.Call) -> str:
    statement = index.statement(call)
    if not isinstance(statement, ast.Assign):
        return ""
    target = statement.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        for name, value in zip(target.elts, statement.value.elts, strict=False):
            if value is call:
                return dotted_text(name)
    return dotted_text(target)


def _keyword_name(call: ast.Call) -> str:
    value = keyword(call, "dataset")
    return dotted_text(value) if value is not None else ""


def _loader(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    batched = keyword(call, "batch_sampler") is not None
    sampled = batched or keyword(call, "sampler") is not None
    yield from argument_drafts(
        analysis, Kind.BATCH_SIZE, call, scope, "torch", ("batch_size",), 1, 1, reported=not batched
    )
    yield from argument_drafts(
        analysis, Kind.SHUFFLE, call, scope, "torch", ("shuffle",), 2, False, reported=not sampled
    )


def _value(
    analysis: ProgramAnalysis, kind: Kind, call: ast.Call, scope: Scope, position: int | None, name: str
) -> Iterator[Draft]:
    value = argument(call, position, name)
    if value is not None:
        yield from analysis.value_drafts(kind, value, Site(Style.ARGUMENT, "torch", scope, call, name))


def _split(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    """`random_split(data, [0.8, 0.2])`: the list, or the one number that its lengths come from."""
    lengths = argument(call, 1, "lengths")
    if lengths is None:
        return
    site = Site(Style.ARGUMENT, "torch", scope, call, "lengths")
    end = analysis.follower.single(lengths, scope)
    share = (
        None if end is None or end.literal() is not NOT_LITERAL else _share(analysis, end.node, end.scope, 0)
    )
    if share is not None:
        yield analysis.found_draft(Kind.VALIDATION, share, site)
        return
    yield from analysis.value_drafts(Kind.VALIDATION, lengths, site)


def _share(analysis: ProgramAnalysis, node: ast.AST, scope: Scope, depth: int):  # type: ignore[no-untyped-def]
    """The fraction in `held = int(rows * fraction)`, when there is just one."""
    found = []
    for part in ast.walk(node):
        if not isinstance(part, ast.Name | ast.Attribute) or not isinstance(part.ctx, ast.Load):
            continue
        end = analysis.follower.single(part, scope)
        if end is None or end.node is part:
            continue
        value = end.literal()
        if isinstance(value, float) and 0 < value < 1:
            found.append(analysis.values.found(end, part, scope))
        elif value is NOT_LITERAL and depth < 4:
            inner = _share(analysis, end.node, end.scope, depth + 1)
            found += [inner] if inner is not None else []
    distinct = {item.spot: item for item in found}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _is_tf_batch(analysis: ProgramAnalysis, call: ast.Call) -> bool:
    """`dataset.batch(32)` in a program that uses TensorFlow's datasets."""
    if method_name(call) != "batch" or not call.args:
        return False
    return any(
        "from_tensor_slices" in index.text or "tensorflow_datasets" in index.text
        for index in analysis.sources.indexes.values()
    )


def _generator(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, index: FileIndex) -> Iterator[Draft]:
    if speaks_of_evaluation(_target_name(index, call)):
        return
    batched = method_name(call) == "batch"
    size = argument(call, 0, "batch_size") if batched else keyword(call, "batch_size")
    if size is not None:
        yield from analysis.value_drafts(
            Kind.BATCH_SIZE, size, Site(Style.ARGUMENT, "keras", scope, call, "batch_size")
        )
    order = None if batched else keyword(call, "shuffle")
    if order is not None:
        yield from analysis.value_drafts(
            Kind.SHUFFLE, order, Site(Style.ARGUMENT, "keras", scope, call, "shuffle")
        )
