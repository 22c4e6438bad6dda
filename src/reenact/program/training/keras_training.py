"""Hyperparameters of a Keras training: compile, fit, optimisers, losses, schedules."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from reenact.program.flow.constants import constant_of
from reenact.program.flow.library_names import last_name
from reenact.program.flow.values import Callee
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import (
    argument,
    has_unpacking,
    keyword,
    method_name,
    receiver,
)
from reenact.program.syntax.index import dotted_text
from reenact.program.training import lexicon
from reenact.program.training.analysis import (
    UNKNOWN_OUTPUT,
    CallSite,
    Draft,
    EditSite,
    ProgramAnalysis,
    Style,
)
from reenact.program.training.vocabulary import OptimizerSpec, Slot

FIT_WORDS = frozenset(
    {
        "epochs",
        "nb_epoch",
        "batch_size",
        "validation_data",
        "validation_split",
        "callbacks",
        "verbose",
        "steps_per_epoch",
        "shuffle",
    }
)
SCHEDULES = lexicon.KERAS_SCHEDULE_CALLBACKS | lexicon.KERAS_SCHEDULES
RATE_WORDS = ("learning_rate", "lr")
SETTINGS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (Kind.MOMENTUM, ("momentum",)),
    (Kind.WEIGHT_DECAY, ("weight_decay",)),
    (Kind.GRADIENT_CLIP, ("clipnorm", "clipvalue", "global_clipnorm")),
)


def read_keras_training(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Drafts of everything that is written about a Keras training."""
    for call in analysis.calls():
        name = method_name(call)
        at = CallSite(analysis, call, "keras")
        if name == "compile" and _is_compile(call) and not analysis.sources.dotted(call.func):
            yield from _named_optimizer(at, at.argument(0, "optimizer"))
            yield from _loss(at, at.argument(1, "loss"))
        elif name in ("fit", "fit_generator") and _is_fit(at):
            yield from _fit(at, generator=name == "fit_generator")
        else:
            yield from _library(at)
    yield from _assigned_rates(analysis)


def _is_compile(call: ast.Call) -> bool:
    """Whether a model is compiled, and not a pattern or a template."""
    worded = keyword(call, "loss", "optimizer", "metrics") is not None
    return worded or (
        len(call.args) >= 2 and isinstance(call.args[0], ast.Constant | ast.Call | ast.Name)
    )


def _library(at: CallSite) -> Iterator[Draft]:
    for callee in at.analysis.callees.of(at.call)[:1]:
        home, _, name = callee.dotted.rpartition(".")
        optimizer = lexicon.KERAS_OPTIMIZER_OF_STRING.get(name.lower(), "")
        callback = home == "keras.callbacks" and name in lexicon.KERAS_SCHEDULE_CALLBACKS
        schedule = home == "keras.optimizers.schedules" and name in lexicon.KERAS_SCHEDULES
        if home == "keras.optimizers" and optimizer:
            yield from _optimizer(
                replace(at, owner=name), callee, lexicon.KERAS_OPTIMIZERS[optimizer]
            )
        elif callee.dotted == "keras.optimizers.get" and at.call.args:
            yield from at.value(
                Kind.OPTIMIZER,
                at.call.args[0],
            )
        elif home == "keras.losses" and name in lexicon.KERAS_LOSSES:
            compiled = [argument(call, 1, "loss") for call in at.analysis.calls("compile")]
            parts = [part for given in compiled for part in loss_parts(given)]
            # The output that a loss object is for, when it is made inside a call of `compile`.
            own = next(
                (output for part, output in parts if part is at.call),
                "",
            )
            yield at.named(Kind.LOSS, callee, output=own)
        elif callback or schedule:
            yield at.named(Kind.SCHEDULER, callee, name)


def _optimizer(at: CallSite, callee: Callee, spec: OptimizerSpec) -> Iterator[Draft]:
    yield at.named(Kind.OPTIMIZER, callee)
    made = at.analysis.callees.made(at.argument(0, *RATE_WORDS))
    schedules = [
        item for item in made if item.callee.dotted.startswith("keras.optimizers.schedules.")
    ]
    for item in schedules:
        yield from replace(at, call=item.call).given(
            Kind.LEARNING_RATE,
            0,
            "initial_learning_rate",
        )
    if not schedules:
        rate = RATE_WORDS[::-1] if keyword(at.call, "lr") is not None else RATE_WORDS
        yield from at.either(
            Slot(
                Kind.LEARNING_RATE,
                rate,
                0,
                spec.default("learning_rate"),
            )
        )
    for kind, names in SETTINGS:
        if any(spec.takes(name) for name in names):
            position = spec.position(names[0]) if kind is not Kind.GRADIENT_CLIP else None
            yield from at.either(
                Slot(
                    kind,
                    names,
                    position,
                    spec.default(names[0]),
                )
            )


def _named_optimizer(at: CallSite, value: ast.expr | None) -> Iterator[Draft]:
    """`optimizer="adam"`; an object is found where it is made."""
    for found in at.analysis.values.find(value):
        word = lexicon.KERAS_OPTIMIZER_OF_STRING.get(str(found.value).lower())
        if not isinstance(found.value, str) or not found.is_literal or word is None:
            continue
        yield at.analysis.found_draft(
            Kind.OPTIMIZER,
            found,
            at.site("optimizer"),
        )
        spec = lexicon.KERAS_OPTIMIZERS[word]
        own = replace(at, owner=word)
        for kind, names in ((Kind.LEARNING_RATE, RATE_WORDS), *SETTINGS):
            if spec.takes(names[0]):
                site = at.site(
                    names[0],
                    Style.SHORT_NAME,
                    found=found,
                )
                yield own.absent(
                    kind,
                    site,
                    spec.default(names[0]),
                )


def _loss(at: CallSite, value: ast.expr | None) -> Iterator[Draft]:
    for part, output in loss_parts(value):
        callees = at.analysis.callees.named(part)
        for callee in [one for one in callees if one.dotted.startswith("keras.losses.")][:1]:
            site = at.site(
                "loss",
                Style.NAME,
                callee=callee,
                output=output,
            )
            yield at.analysis.name_draft(
                Kind.LOSS,
                callee,
                site,
                last_name(callee.dotted),
            )
            break
        else:
            for found in at.analysis.values.find(part):
                if found.is_literal and isinstance(found.value, str):
                    yield at.analysis.found_draft(
                        Kind.LOSS,
                        found,
                        at.site("loss", output=output),
                    )


def loss_parts(value: ast.expr | None) -> list[tuple[ast.expr, str]]:
    """The losses in what `compile` is given, each with the output it is for where there are
    several.
    """
    if isinstance(value, ast.Dict):
        keys = map(constant_of, value.keys)
        names = [str(key.value) if key is not None else UNKNOWN_OUTPUT for key in keys]
        return list(zip(value.values, names, strict=True))
    if isinstance(value, ast.List | ast.Tuple):
        return [
            (
                part,
                UNKNOWN_OUTPUT if len(value.elts) > 1 else "",
            )
            for part in value.elts
        ]
    return [(value, "")] if value is not None else []


def _is_fit(at: CallSite) -> bool:
    base = receiver(at.call)
    sources = at.analysis.sources
    made = [item.callee.dotted for item in at.analysis.callees.made(base)]
    if base is None or any(one.startswith("sklearn.") or one.endswith("Trainer") for one in made):
        return False
    if any(part.arg in FIT_WORDS for part in at.call.keywords):
        return True
    owner = sources.owner(base)
    if owner is not None:
        return sources.inherits(owner, lexicon.KERAS_MODEL_BASES)
    compiled = {dotted_text(receiver(other)) for other in at.analysis.calls("compile")}
    return dotted_text(base) in compiled or any(
        dotted.startswith("keras.models.") for dotted in made
    )


def _fit(at: CallSite, *, generator: bool) -> Iterator[Draft]:
    yield from at.either(
        Slot(
            Kind.EPOCHS,
            ("epochs", "nb_epoch"),
            2 if generator else 3,
            1,
        )
    )
    if not generator:
        both = len(at.call.args) + (keyword(at.call, "y") is not None) >= 2
        yield from at.either(
            Slot(
                Kind.BATCH_SIZE,
                ("batch_size",),
                2,
                32,
                reported=both,
            )
        )
    yield from at.given(Kind.SHUFFLE, 8, "shuffle")
    data = at.argument(7, "validation_data")
    yield from at.either(
        Slot(
            Kind.VALIDATION,
            ("validation_split",),
            6,
            reported=data is None,
        )
    )
    if data is not None:
        site = at.site(
            "validation_data",
            Style.FIXED,
            reason="the validation data is chosen by the program",
        )
        yield at.analysis.found_draft(
            Kind.VALIDATION,
            at.analysis.values.here(data),
            site,
        )
    callbacks = at.argument(5, "callbacks")
    free = callbacks is None or isinstance(callbacks, ast.List)
    called = (
        last_name(one.dotted)
        for call in at.analysis.calls()
        for one in at.analysis.callees.of(call)
    )
    if free and not has_unpacking(at.call) and not any(name in SCHEDULES for name in called):
        yield at.absent(Kind.SCHEDULER, at.site("callbacks"))


def _is_optimizer(analysis: ProgramAnalysis, target: ast.AST) -> bool:
    """Whether what is set belongs to an optimizer: `model.optimizer.lr`, or one that was made."""
    if not isinstance(target, ast.Attribute):
        return False
    base = target.value
    made = [item.callee.dotted for item in analysis.callees.made(base)]
    is_of_model = isinstance(base, ast.Attribute) and base.attr == "optimizer"
    return is_of_model or any(".optimizers." in dotted for dotted in made)


def _assigned_rates(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """`model.optimizer.learning_rate = 0.1`, `K.set_value(model.optimizer.lr, 0.1)`."""
    indexes = analysis.sources.indexes.values()
    for store in [
        one for index in indexes for name in RATE_WORDS for one in index.stores.get(name, ())
    ]:
        if not store.pick and _is_optimizer(analysis, store.node):
            site = EditSite(Style.VALUE, "keras", node=store.node)
            yield from analysis.value_drafts(Kind.LEARNING_RATE, store.value, site)
    for call in analysis.calls():
        setter = analysis.sources.dotted(call.func) == "keras.backend.set_value"
        if (
            setter
            and len(call.args) == 2
            and dotted_text(call.args[0]).rpartition(".")[2] in RATE_WORDS
        ):
            site = EditSite(Style.VALUE, "keras", call)
            yield from analysis.value_drafts(
                Kind.LEARNING_RATE,
                call.args[1],
                site,
            )
