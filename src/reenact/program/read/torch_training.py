"""Hyperparameters of a PyTorch training: optimiser and its settings, loss, scheduler, clipping, initialisers;
and of ready-made trainers: Lightning's Trainer, Hugging Face's TrainingArguments and model configurations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read import torch_words
from reenact.program.read.analysis import Draft, EditSite, ProgramAnalysis, Style, argument_drafts
from reenact.program.read.data import is_evaluation
from reenact.program.read.layers import activation_word
from reenact.program.read.model import Models
from reenact.program.read.scope import Scope, argument, method_name, receiver
from reenact.program.read.values import Callee, chosen_name
from reenact.program.read.vocabulary import OptimizerSpec, Slot, last_name

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
                site = EditSite(Style.NAME, "torch", scope, call, callee=callee)
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
    site = EditSite(style, "torch", scope, call, callee=callee)
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
                        kind, value, EditSite(Style.VALUE, "torch", scope, call, name)
                    )


def _loss(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, callee: Callee) -> Draft:
    style = Style.CHOICE if callee.chosen else Style.NAME
    site = EditSite(style, "torch", scope, call, callee=callee)
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
            Kind.GRADIENT_CLIP, value, EditSite(Style.ARGUMENT, "torch", scope, call, word)
        )


def _initialiser(
    analysis: ProgramAnalysis, models: Models, call: ast.Call, scope: Scope, callee: Callee, name: str
) -> Iterator[Draft]:
    target = argument(call, 0, "tensor")
    if name not in torch_words.INITIALIZERS or target is None:
        return
    parts = _reference(target)
    kind = Kind.BIAS_INIT if "bias" in parts[-2:] else Kind.WEIGHT_INIT
    site = EditSite(Style.NAME, "torch", scope, call, callee=callee)
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


LIGHTNING_SLOTS = (
    Slot(Kind.EPOCHS, ("max_epochs",), None, 1000),
    Slot(Kind.GRADIENT_CLIP, ("gradient_clip_val",)),
)
HUGGING_SLOTS = (
    Slot(Kind.EPOCHS, ("num_train_epochs",), None, 3.0),
    Slot(Kind.BATCH_SIZE, ("per_device_train_batch_size", "per_gpu_train_batch_size"), None, 8),
    Slot(Kind.LEARNING_RATE, ("learning_rate",), None, 5e-5),
    Slot(Kind.WEIGHT_DECAY, ("weight_decay",), None, 0.0),
    Slot(Kind.GRADIENT_CLIP, ("max_grad_norm",), None, 1.0),
    Slot(Kind.SCHEDULER, ("lr_scheduler_type",), None, "linear"),
    Slot(Kind.OPTIMIZER, ("optim",), None, "adamw_torch"),
)
CONFIG_SLOTS = (
    Slot(
        Kind.ACTIVATION,
        ("hidden_act", "activation_function", "hidden_activation", "activation"),
        reported=False,
    ),
    Slot(Kind.DROPOUT, ("hidden_dropout_prob", "resid_pdrop", "dropout", "hidden_dropout"), reported=False),
)
ARGUMENTS = frozenset(("TrainingArguments", "Seq2SeqTrainingArguments", "TFTrainingArguments"))


def read_trainers(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Drafts of what a ready-made trainer is told."""
    for call, scope, _ in analysis.calls():
        dotted = analysis.callees.dotted(call, scope)
        name = last_name(dotted)
        if dotted == "lightning.Trainer":
            yield from _slots(analysis, call, scope, LIGHTNING_SLOTS, "lightning")
        elif dotted.startswith("transformers.") and name in ARGUMENTS:
            yield from _slots(analysis, call, scope, HUGGING_SLOTS, "transformers")
        elif dotted.startswith("transformers.") and name.endswith("Config"):
            yield from _slots(analysis, call, scope, CONFIG_SLOTS, "transformers")
        elif dotted.startswith("transformers.") and name.endswith("Trainer"):
            yield from _evaluation_data(
                analysis, call, scope, argument(call, None, "eval_dataset"), "transformers"
            )
        elif method_name(call) == "fit" and _is_trainer(analysis, call, scope):
            yield from _lightning_fit(analysis, call, scope)


def _slots(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, slots: tuple[Slot, ...], library: str
) -> Iterator[Draft]:
    for slot in slots:
        for draft in argument_drafts(
            analysis,
            slot.kind,
            call,
            scope,
            library,
            slot.names,
            slot.position,
            slot.default,
            reported=slot.reported,
        ):
            if slot.kind is Kind.ACTIVATION and isinstance(draft.value, str):
                draft.value = activation_word(draft.value)
            yield draft


def _is_trainer(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> bool:
    base = receiver(call)
    made = analysis.callees.made(base, scope) if base is not None else []
    return any(item.callee.dotted == "lightning.Trainer" for item in made)


def _lightning_fit(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    data = argument(call, 2, "val_dataloaders")
    module = argument(call, 3, "datamodule")
    if data is not None or module is None:
        has_own = any(
            owner.bindings.get("val_dataloader")
            for index in analysis.sources.indexes.values()
            for owner in index.classes
        )
        if data is not None or not has_own:
            yield from _evaluation_data(analysis, call, scope, data, "lightning")


def _evaluation_data(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, value: ast.expr | None, library: str
) -> Iterator[Draft]:
    reason = "which data to hold out is for the program to say"
    site = EditSite(Style.FIXED, library, scope, call, reason=reason)
    if value is None:
        yield analysis.absent(Kind.VALIDATION, site, call)
    else:
        yield analysis.found_draft(Kind.VALIDATION, analysis.values.here(value, scope), site)
