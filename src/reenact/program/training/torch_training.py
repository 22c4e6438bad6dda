"""Hyperparameters of a PyTorch training: optimiser and its settings, loss, scheduler, clipping,
initialisers; and of ready-made trainers: Lightning's Trainer, Hugging Face's TrainingArguments and
model configurations.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace

from reenact.program.flow.constants import constant_of
from reenact.program.flow.library_names import last_name
from reenact.program.flow.values import Callee
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, entries, method_name
from reenact.program.syntax.scope import Scope, scope_of
from reenact.program.training import lexicon
from reenact.program.training.analysis import (
    CallSite,
    Draft,
    ProgramAnalysis,
    Style,
    of_layer,
)
from reenact.program.training.layers import activation_word
from reenact.program.training.model import Models
from reenact.program.training.purpose import Purpose, Purposes
from reenact.program.training.vocabulary import OptimizerSpec, Slot

OPTIMIZER_KINDS = {
    "lr": Kind.LEARNING_RATE,
    "momentum": Kind.MOMENTUM,
    "weight_decay": Kind.WEIGHT_DECAY,
}
CLIPPING = {
    "clip_grad_norm_": "max_norm",
    "clip_grad_norm": "max_norm",
    "clip_grad_value_": "clip_value",
}


def read_torch_training(purposes: Purposes, models: Models) -> Iterator[Draft]:
    """Drafts of everything that is written about a PyTorch training outside its loops and
    loaders.
    """
    analysis = purposes.analysis
    losses: list[tuple[CallSite, Draft]] = []
    for call in analysis.calls():
        for callee in analysis.callees.of(call):
            name = last_name(callee.dotted)
            at = CallSite(analysis, call, "torch", name)
            if callee.dotted == f"torch.optim.{name}" and name in lexicon.TORCH_OPTIMIZERS:
                yield from _optimizer(at, callee, lexicon.TORCH_OPTIMIZERS[name])
            elif (callee.dotted == f"torch.nn.{name}" and name in lexicon.TORCH_LOSS_CLASSES) or (
                callee.dotted == f"torch.nn.functional.{name}"
                and name in lexicon.TORCH_LOSS_FUNCTIONS
            ):
                losses.append((at, at.named(Kind.LOSS, callee)))
            elif (
                callee.dotted.startswith("torch.optim.lr_scheduler.")
                and name in lexicon.TORCH_SCHEDULERS
            ):
                yield at.named(Kind.SCHEDULER, callee, name)
            elif name in CLIPPING:
                yield from replace(at, owner="").given(
                    Kind.GRADIENT_CLIP,
                    1,
                    CLIPPING[name],
                )
            elif callee.dotted.startswith("torch.nn.init."):
                yield from _initialiser(at, models, callee)
            break
    # One that is only computed in an evaluation is a metric.
    of_training = [
        (at, draft) for at, draft in losses if purposes.of_loss(at.call) is not Purpose.EVALUATES
    ]
    for _, draft in of_training or losses:
        yield draft


def _optimizer(at: CallSite, callee: Callee, spec: OptimizerSpec) -> Iterator[Draft]:
    yield at.named(Kind.OPTIMIZER, callee)
    for name, kind in OPTIMIZER_KINDS.items():
        if spec.takes(name):
            yield from at.either(
                Slot(
                    kind,
                    (name,),
                    spec.position(name),
                    spec.default(name),
                )
            )
    # Parameter groups with settings of their own: `[{"params": ..., "lr": 0.1}]`.
    for group in getattr(at.argument(0, "params"), "elts", ()):
        for key, value in entries(group).items():
            if isinstance(key, str) and key in OPTIMIZER_KINDS:
                yield from at.analysis.value_drafts(
                    OPTIMIZER_KINDS[key], value, at.site(key, Style.VALUE)
                )


def _initialiser(at: CallSite, models: Models, callee: Callee) -> Iterator[Draft]:
    target = at.argument(0, "tensor")
    if at.owner not in lexicon.TORCH_INITIALIZERS or target is None:
        return
    parts = _reference(target)
    kind = Kind.BIAS_INIT if "bias" in parts[-2:] else Kind.WEIGHT_INIT
    extra = _initialised(models, parts, scope_of(at.call))
    yield at.analysis.name_draft(
        kind,
        callee,
        at.site(style=Style.NAME, callee=callee),
        at.owner,
        **extra,
    )


def _reference(node: ast.expr) -> list[str]:
    """`["self", "net", "0", "weight"]` of `self.net[0].weight`; an empty word for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
        else:
            number = constant_of(node.slice)
            if number is None:
                return [""]
            parts.insert(0, str(number.value))
        node = node.value
    if isinstance(node, ast.Name):
        return [node.id, *parts]
    return [""]


def _initialised(
    models: Models,
    parts: list[str],
    scope: Scope,
) -> dict[str, str]:
    """The layer whose tensor is initialised, where the reference names one."""
    owner = scope.enclosing_class()
    path = ".".join(part for part in parts[1:] if part not in ("weight", "bias", "data"))
    model = owner.name if parts[0] == "self" and owner is not None else parts[0]
    for layer in models.layers:
        if layer.model == model and layer.path == path and layer.scope.file == scope.file:
            return {**of_layer(layer), "role": "output" if layer.output else "hidden"}
    return {"model": owner.name if owner is not None else ""}


LIGHTNING_SLOTS = (
    Slot(Kind.EPOCHS, ("max_epochs",), None, 1000),
    Slot(Kind.GRADIENT_CLIP, ("gradient_clip_val",)),
)
HUGGING_SLOTS = (
    Slot(Kind.EPOCHS, ("num_train_epochs",), None, 3.0),
    Slot(
        Kind.BATCH_SIZE,
        ("per_device_train_batch_size", "per_gpu_train_batch_size"),
        None,
        8,
    ),
    Slot(Kind.LEARNING_RATE, ("learning_rate",), None, 5e-5),
    Slot(Kind.WEIGHT_DECAY, ("weight_decay",), None, 0.0),
    Slot(Kind.GRADIENT_CLIP, ("max_grad_norm",), None, 1.0),
    Slot(Kind.SCHEDULER, ("lr_scheduler_type",), None, "linear"),
    Slot(Kind.OPTIMIZER, ("optim",), None, "adamw_torch"),
)
CONFIG_ACTIVATIONS = (
    "hidden_act",
    "activation_function",
    "hidden_activation",
    "activation",
)
CONFIG_SLOTS = (
    Slot(Kind.ACTIVATION, CONFIG_ACTIVATIONS, reported=False),
    Slot(
        Kind.DROPOUT,
        (
            "hidden_dropout_prob",
            "resid_pdrop",
            "dropout",
            "hidden_dropout",
        ),
        reported=False,
    ),
)
ARGUMENTS = frozenset(("TrainingArguments", "Seq2SeqTrainingArguments", "TFTrainingArguments"))


def read_trainers(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Drafts of what a ready-made trainer is given."""
    for call in analysis.calls():
        dotted = analysis.callees.dotted(call)
        name = last_name(dotted)
        lightning = CallSite(analysis, call, "lightning")
        hugging = CallSite(analysis, call, "transformers")
        if dotted == "lightning.Trainer":
            yield from _slots(lightning, LIGHTNING_SLOTS)
        elif dotted.startswith("transformers.") and name in ARGUMENTS:
            yield from _slots(hugging, HUGGING_SLOTS)
        elif dotted.startswith("transformers.") and name.endswith("Config"):
            yield from _slots(hugging, CONFIG_SLOTS)
        elif dotted.startswith("transformers.") and name.endswith("Trainer"):
            yield _evaluation_data(hugging, argument(call, None, "eval_dataset"))
        elif method_name(call) == "fit" and lightning.made("lightning.Trainer"):
            yield from _lightning_fit(lightning)


def _slots(
    at: CallSite,
    slots: tuple[Slot, ...],
) -> Iterator[Draft]:
    for slot in slots:
        for draft in at.either(slot):
            if slot.kind is Kind.ACTIVATION and isinstance(draft.param.value, str):
                draft.change(value=activation_word(draft.param.value))
            yield draft


def _lightning_fit(at: CallSite) -> Iterator[Draft]:
    data = at.argument(2, "val_dataloaders")
    classes = [owner for index in at.analysis.sources.indexes.values() for owner in index.classes]
    own = at.argument(3, "datamodule") is not None or any(
        "val_dataloader" in one.bindings for one in classes
    )
    if data is not None or not own:
        yield _evaluation_data(at, data)


def _evaluation_data(at: CallSite, value: ast.expr | None) -> Draft:
    site = at.site(style=Style.FIXED, reason="which data to hold out is for the program to say")
    if value is None:
        return at.absent(Kind.VALIDATION, site)
    return at.analysis.found_draft(
        Kind.VALIDATION,
        at.analysis.values.here(value),
        site,
    )
