"""Hyperparameters of a PyTorch training: optimiser and its settings, loss, scheduler, clipping,
initialisers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read import torch_words
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.arguments import argument_drafts
from reenact.program.read.callees import Callee, chosen_name
from reenact.program.read.calls import argument
from reenact.program.read.evaluation import is_evaluation
from reenact.program.read.model import Models
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope
from reenact.program.read.vocabulary import OptimizerSpec

OPTIMIZER_KINDS = (
    (Kind.LEARNING_RATE, "lr"),
    (Kind.MOMENTUM, "momentum"),
    (Kind.WEIGHT_DECAY, "weight_decay"),
)
CLIPPING = {
    "clip_grad_norm_": "max_norm",
    "clip_grad_norm": "max_norm",
    "clip_grad_value_": "clip_value",
}


def read_torch_training(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """Drafts of everything that is said about a PyTorch training outside its loops and loaders."""
    losses: list[tuple[ast.Call, Scope, Draft]] = []
    for call, scope, _ in analysis.calls():
        for callee in analysis.callees.of(call, scope):
            name = last_name(callee.dotted)
            if callee.dotted == f"torch.optim.{name}" and name in torch_words.OPTIMIZERS:
                yield from _optimizer(analysis, call, scope, callee, torch_words.OPTIMIZERS[name])
            elif _is_loss(callee.dotted, name):
                losses.append((call, scope, _loss(analysis, call, scope, callee)))
            elif callee.dotted.startswith("torch.optim.lr_scheduler.") and name in torch_words.SCHEDULERS:
                site = Site(Style.NAME, "torch", scope, call, callee=callee)
                yield analysis.name_draft(Kind.SCHEDULER, callee, site, name)
            elif name in CLIPPING:
                yield from _clip(analysis, call, scope, name)
            elif callee.dotted.startswith("torch.nn.init."):
                yield from _initialiser(analysis, models, call, scope, callee, name)
            break
    yield from _training_losses(analysis, losses)


def _is_loss(dotted: str, name: str) -> bool:
    return (dotted == f"torch.nn.{name}" and name in torch_words.LOSS_CLASSES) or (
        dotted == f"torch.nn.functional.{name}" and name in torch_words.LOSS_FUNCTIONS
    )


def _optimizer(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, callee: Callee, spec: OptimizerSpec
) -> Iterator[Draft]:
    style = Style.CHOICE if callee.chosen else Style.NAME
    site = Site(style, "torch", scope, call, callee=callee)
    yield analysis.name_draft(Kind.OPTIMIZER, callee, site, chosen_name(callee))
    owner = last_name(callee.dotted)
    for kind, name in OPTIMIZER_KINDS:
        if spec.takes(name):
            place, default = spec.position(name), spec.default(name)
            yield from argument_drafts(
                analysis, kind, call, scope, "torch", (name,), place, default, owner=owner
            )
    yield from _groups(analysis, call, scope)


def _groups(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    """Parameter groups with settings of their own: `[{"params": ..., "lr": 0.1}]`."""
    groups = argument(call, 0, "params")
    if not isinstance(groups, ast.List | ast.Tuple):
        return
    for group in groups.elts:
        if not isinstance(group, ast.Dict):
            continue
        for key, value in zip(group.keys, group.values, strict=True):
            for kind, name in OPTIMIZER_KINDS:
                if isinstance(key, ast.Constant) and key.value == name:
                    yield from analysis.value_drafts(
                        kind, value, Site(Style.VALUE, "torch", scope, call, name)
                    )


def _loss(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, callee: Callee) -> Draft:
    style = Style.CHOICE if callee.chosen else Style.NAME
    site = Site(style, "torch", scope, call, callee=callee)
    return analysis.name_draft(Kind.LOSS, callee, site, chosen_name(callee))


def _training_losses(
    analysis: ProgramAnalysis, losses: list[tuple[ast.Call, Scope, Draft]]
) -> Iterator[Draft]:
    """Losses that train; one that is only computed in an evaluation is a metric."""
    training = [item for item in losses if not is_evaluation(analysis, item[0], item[1])]
    for _, _, draft in training or losses:
        yield draft


def _clip(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, name: str) -> Iterator[Draft]:
    word = CLIPPING[name]
    value = argument(call, 1, word)
    if value is not None:
        yield from analysis.value_drafts(
            Kind.GRADIENT_CLIP, value, Site(Style.ARGUMENT, "torch", scope, call, word)
        )


def _initialiser(
    analysis: ProgramAnalysis, models: Models, call: ast.Call, scope: Scope, callee: Callee, name: str
) -> Iterator[Draft]:
    target = argument(call, 0, "tensor")
    if name not in torch_words.INITIALIZERS or target is None:
        return
    parts = _reference(target)
    kind = Kind.BIAS_INIT if "bias" in parts[-2:] else Kind.WEIGHT_INIT
    site = Site(Style.NAME, "torch", scope, call, callee=callee)
    yield analysis.name_draft(kind, callee, site, name, **_initialised(models, parts, scope))


def _reference(node: ast.expr) -> list[str]:
    """`["self", "net", "0", "weight"]` of `self.net[0].weight`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        elif isinstance(node.slice, ast.Constant):
            parts.append(str(node.slice.value))
        else:
            return [""]
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else [""]


def _initialised(models: Models, parts: list[str], scope: Scope) -> dict[str, object]:
    """The layer whose tensor is initialised, where the reference names one."""
    owner = scope.enclosing_class()
    path = ".".join(part for part in parts[1:] if part not in ("weight", "bias", "data"))
    model = owner.name if parts[0] == "self" and owner is not None else parts[0]
    for layer in models.layers:
        if layer.model == model and layer.path == path and layer.scope.file == scope.file:
            role = "output" if layer.output else "hidden"
            return {"model": model, "layer": path, "layer_type": layer.name, "role": role}
    return {"model": owner.name if owner is not None else ""}
