"""Hyperparameters of a Keras training: compile, fit, optimisers, losses, schedules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read import keras_words
from reenact.program.read.analysis import (
    UNKNOWN_OUTPUT,
    Draft,
    EditSite,
    ProgramAnalysis,
    Style,
    argument_drafts,
)
from reenact.program.read.index import dotted_text
from reenact.program.read.scope import Scope, argument, has_unpacking, keyword, method_name, receiver
from reenact.program.read.values import Callee, chosen_name
from reenact.program.read.vocabulary import OptimizerSpec, last_name
from reenact.program.source import words

FIT_WORDS = frozenset(
    words(
        "epochs nb_epoch batch_size validation_data validation_split callbacks verbose steps_per_epoch "
        "shuffle"
    )
)
RATE_WORDS = ("learning_rate", "lr")
SETTINGS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (Kind.MOMENTUM, ("momentum",)),
    (Kind.WEIGHT_DECAY, ("weight_decay",)),
    (Kind.GRADIENT_CLIP, ("clipnorm", "clipvalue", "global_clipnorm")),
)


def read_keras_training(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Drafts of everything that is said about a Keras training."""
    for call, scope, _ in analysis.calls():
        name = method_name(call)
        if name == "compile" and _is_compile(analysis, call, scope):
            yield from _compile(analysis, call, scope)
        elif name in ("fit", "fit_generator") and _is_fit(analysis, call, scope):
            yield from _fit(analysis, call, scope, generator=name == "fit_generator")
        else:
            yield from _library(analysis, call, scope)
    yield from _assigned_rates(analysis)


def _library(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    for callee in analysis.callees.of(call, scope):
        name = last_name(callee.dotted)
        optimizer = keras_words.OPTIMIZER_OF_STRING.get(name.lower(), "")
        if callee.dotted == f"keras.optimizers.{name}" and optimizer:
            yield from _optimizer(analysis, call, scope, callee, keras_words.OPTIMIZERS[optimizer])
        elif callee.dotted == "keras.optimizers.get" and call.args:
            yield from analysis.value_drafts(
                Kind.OPTIMIZER, call.args[0], EditSite(Style.ARGUMENT, "keras", scope, call)
            )
        elif callee.dotted == f"keras.losses.{name}" and name in keras_words.LOSSES:
            style = Style.CHOICE if callee.chosen else Style.NAME
            site = EditSite(style, "keras", scope, call, callee=callee, output=_output_of(analysis, call))
            yield analysis.name_draft(Kind.LOSS, callee, site, chosen_name(callee))
        elif (callee.dotted == f"keras.callbacks.{name}" and name in keras_words.SCHEDULE_CALLBACKS) or (
            callee.dotted == f"keras.optimizers.schedules.{name}" and name in keras_words.SCHEDULES
        ):
            site = EditSite(Style.NAME, "keras", scope, call, callee=callee)
            yield analysis.name_draft(Kind.SCHEDULER, callee, site, name)
        return


def _optimizer(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, callee: Callee, spec: OptimizerSpec
) -> Iterator[Draft]:
    style = Style.CHOICE if callee.chosen else Style.NAME
    yield analysis.name_draft(
        Kind.OPTIMIZER, callee, EditSite(style, "keras", scope, call, callee=callee), chosen_name(callee)
    )
    owner = last_name(callee.dotted)
    yield from _rate(analysis, call, scope, spec, owner)
    for kind, names in SETTINGS:
        if any(spec.takes(name) for name in names):
            place = spec.position(names[0]) if kind is not Kind.GRADIENT_CLIP else None
            default = spec.default(names[0])
            yield from argument_drafts(
                analysis, kind, call, scope, "keras", names, place, default, owner=owner
            )


def _rate(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, spec: OptimizerSpec, owner: str
) -> Iterator[Draft]:
    value = argument(call, 0, *RATE_WORDS)
    schedules = [
        item
        for item in (analysis.callees.made(value, scope) if value is not None else ())
        if item.callee.dotted.startswith("keras.optimizers.schedules.")
    ]
    for item in schedules:
        first = argument(item.call, 0, "initial_learning_rate")
        if first is not None:
            own = EditSite(Style.ARGUMENT, "keras", item.scope, item.call, "initial_learning_rate")
            yield from analysis.value_drafts(Kind.LEARNING_RATE, first, own, layer_type=owner)
    if not schedules:
        old = keyword(call, "lr") is not None
        names = RATE_WORDS[::-1] if old else RATE_WORDS
        default = spec.default("learning_rate")
        yield from argument_drafts(
            analysis, Kind.LEARNING_RATE, call, scope, "keras", names, 0, default, owner=owner
        )


def _is_compile(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> bool:
    if analysis.sources.dotted(call.func, scope):
        return False
    if keyword(call, "loss", "optimizer", "metrics") is not None:
        return True
    return len(call.args) >= 2 and isinstance(call.args[0], ast.Constant | ast.Call | ast.Name)


def _compile(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> Iterator[Draft]:
    optimizer = argument(call, 0, "optimizer")
    if optimizer is not None:
        yield from _named_optimizer(analysis, call, scope, optimizer)
    loss = argument(call, 1, "loss")
    if loss is not None:
        yield from _loss(analysis, call, scope, loss)


def _named_optimizer(
    analysis: ProgramAnalysis, call: ast.Call, scope: Scope, value: ast.expr
) -> Iterator[Draft]:
    """`optimizer="adam"`; an object is found where it is made."""
    for found in analysis.values.find(value, scope):
        word = keras_words.OPTIMIZER_OF_STRING.get(str(found.value).lower())
        if not isinstance(found.value, str) or not found.is_literal or word is None:
            continue
        yield analysis.found_draft(
            Kind.OPTIMIZER, found, EditSite(Style.ARGUMENT, "keras", scope, call, "optimizer")
        )
        spec = keras_words.OPTIMIZERS[word]
        short = EditSite(Style.SHORT_NAME, "keras", scope, call, "learning_rate", found=found)
        rate = spec.default("learning_rate")
        yield analysis.absent(Kind.LEARNING_RATE, short, call, default=rate, layer_type=word)
        for kind, names in SETTINGS:
            if spec.takes(names[0]):
                own = EditSite(Style.SHORT_NAME, "keras", scope, call, names[0], found=found)
                yield analysis.absent(kind, own, call, default=spec.default(names[0]), layer_type=word)


def _loss(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, value: ast.expr) -> Iterator[Draft]:
    for part, output in loss_parts(value):
        named = [
            item for item in analysis.callees.named(part, scope) if item.dotted.startswith("keras.losses.")
        ]
        if named:
            site = EditSite(Style.NAME, "keras", scope, call, "loss", callee=named[0], output=output)
            yield analysis.name_draft(Kind.LOSS, named[0], site, last_name(named[0].dotted))
            continue
        site = EditSite(Style.ARGUMENT, "keras", scope, call, "loss", output=output)
        for found in analysis.values.find(part, scope):
            if found.is_literal and isinstance(found.value, str):
                yield analysis.found_draft(Kind.LOSS, found, site)


def loss_parts(value: ast.expr) -> list[tuple[ast.expr, str]]:
    """The losses in what `compile` is given, each with the output it is for where there are several."""
    if isinstance(value, ast.Dict):
        return [
            (part, str(key.value) if isinstance(key, ast.Constant) else UNKNOWN_OUTPUT)
            for key, part in zip(value.keys, value.values, strict=True)
        ]
    if isinstance(value, ast.List | ast.Tuple):
        return [(part, UNKNOWN_OUTPUT if len(value.elts) > 1 else "") for part in value.elts]
    return [(value, "")]


def _output_of(analysis: ProgramAnalysis, loss: ast.Call) -> str:
    """The output that a loss object is for, when it is made inside a call of `compile`."""
    for call, _, _ in analysis.calls():
        given = argument(call, 1, "loss") if method_name(call) == "compile" else None
        for part, output in loss_parts(given) if given is not None else ():
            if part is loss:
                return output
    return ""


def _is_fit(analysis: ProgramAnalysis, call: ast.Call, scope: Scope) -> bool:
    base = receiver(call)
    if base is None:
        return False
    made = [item.callee.dotted for item in analysis.callees.made(base, scope)]
    if any(dotted.startswith("sklearn.") or dotted.endswith("Trainer") for dotted in made):
        return False
    if any(part.arg in FIT_WORDS for part in call.keywords):
        return True
    owner = analysis.sources.owner(base, scope)
    if owner is not None:
        return analysis.sources.inherits(owner, keras_words.MODEL_BASES)
    compiled = {
        dotted_text(other.func.value)
        for other, _, _ in analysis.calls()
        if isinstance(other.func, ast.Attribute) and other.func.attr == "compile"
    }
    return dotted_text(base) in compiled or any(dotted.startswith("keras.models.") for dotted in made)


def _fit(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, *, generator: bool) -> Iterator[Draft]:
    epochs = argument(call, 2 if generator else 3, "epochs", "nb_epoch")
    known = not has_unpacking(call)
    site = EditSite(Style.ARGUMENT, "keras", scope, call, "epochs")
    if epochs is not None:
        yield from analysis.value_drafts(Kind.EPOCHS, epochs, site)
    elif known:
        yield analysis.absent(Kind.EPOCHS, site, call, default=1)
    size = None if generator else argument(call, 2, "batch_size")
    site = EditSite(Style.ARGUMENT, "keras", scope, call, "batch_size")
    if size is not None:
        yield from analysis.value_drafts(Kind.BATCH_SIZE, size, site)
    elif known and len(call.args) + (keyword(call, "y") is not None) >= 2 and not generator:
        yield analysis.absent(Kind.BATCH_SIZE, site, call, default=32)
    order = argument(call, 8, "shuffle")
    if order is not None:
        yield from analysis.value_drafts(
            Kind.SHUFFLE, order, EditSite(Style.ARGUMENT, "keras", scope, call, "shuffle")
        )
    yield from _validation(analysis, call, scope, known)
    yield from _no_schedule(analysis, call, scope, known)


def _validation(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, known: bool) -> Iterator[Draft]:
    share = argument(call, 6, "validation_split")
    data = argument(call, 7, "validation_data")
    if share is not None:
        site = EditSite(Style.ARGUMENT, "keras", scope, call, "validation_split")
        yield from analysis.value_drafts(Kind.VALIDATION, share, site)
    if data is not None:
        found = analysis.values.here(data, scope)
        reason = "the validation data is chosen by the program"
        site = EditSite(Style.FIXED, "keras", scope, call, "validation_data", reason=reason)
        yield analysis.found_draft(Kind.VALIDATION, found, site)
    elif share is None and known:
        site = EditSite(Style.ARGUMENT, "keras", scope, call, "validation_split")
        yield analysis.absent(Kind.VALIDATION, site, call)


def _no_schedule(analysis: ProgramAnalysis, call: ast.Call, scope: Scope, known: bool) -> Iterator[Draft]:
    written = any(
        last_name(callee.dotted) in keras_words.SCHEDULE_CALLBACKS | keras_words.SCHEDULES
        for other, where, _ in analysis.calls()
        for callee in analysis.callees.of(other, where)
    )
    callbacks = argument(call, 5, "callbacks")
    plain = callbacks is None or isinstance(callbacks, ast.List)
    if known and not written and plain:
        yield analysis.absent(
            Kind.SCHEDULER, EditSite(Style.ARGUMENT, "keras", scope, call, "callbacks"), call
        )


def _assigned_rates(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """`model.optimizer.learning_rate = 0.1`, `K.set_value(model.optimizer.lr, 0.1)`."""
    for index in analysis.sources.indexes.values():
        for name in RATE_WORDS:
            for store in index.stores.get(name, ()):
                last = store.base.rpartition(".")[2].lower()
                if not last.startswith("opt") or store.pick:
                    continue
                yield from analysis.value_drafts(
                    Kind.LEARNING_RATE, store.value, EditSite(Style.VALUE, "keras", store.scope)
                )
    for call, scope, _ in analysis.calls():
        setter = (
            analysis.sources.dotted(call.func, scope) == "keras.backend.set_value" and len(call.args) == 2
        )
        if setter and dotted_text(call.args[0]).rpartition(".")[2] in RATE_WORDS:
            site = EditSite(Style.VALUE, "keras", scope, call)
            yield from analysis.value_drafts(Kind.LEARNING_RATE, call.args[1], site)
