"""Hyperparameters of ready-made trainers: Lightning's Trainer, Hugging Face's TrainingArguments and model
configurations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.activations import activation_word
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.arguments import argument_drafts
from reenact.program.read.calls import argument, method_name, receiver
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope
from reenact.program.read.vocabulary import Slot

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
    site = Site(Style.FIXED, library, scope, call, reason=reason)
    if value is None:
        yield analysis.absent(Kind.VALIDATION, site, call)
    else:
        yield analysis.found_draft(Kind.VALIDATION, analysis.values.here(value, scope), site)
