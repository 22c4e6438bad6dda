"""Hyperparameters of layers: widths, sizes, rates, activations, initialisers, regularisers,
normalisation.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reenact.program.flow.ends import name_spot, spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.flow.values import chosen_name
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, has_unpacking
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.scope import scope_of
from reenact.program.training.analysis import (
    Draft,
    EditSite,
    ProgramAnalysis,
    Style,
    of_layer,
)
from reenact.program.training.layers import ActivationSite, LayerSite, Way, activation_word
from reenact.program.training.model import Models
from reenact.program.training.positions import ContainerKind
from reenact.program.training.vocabulary import WEIGHTED, Family, Slot

NAMED_KINDS = frozenset((Kind.WEIGHT_INIT, Kind.BIAS_INIT, Kind.WEIGHT_REGULARIZER))
COUNTED = frozenset(
    (
        *WEIGHTED,
        Family.EMBEDDING,
        Family.DROPOUT,
        Family.NORM,
        Family.COMPOSITE,
    )
)


def read_layers(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """Drafts of everything a layer's constructor says or leaves out, and of its activation."""
    for layer in models.layers:
        yield from _slots(analysis, layer)
        callee = layer.made.callee
        if layer.spec.family is Family.NORM:
            site = _site(layer, Style.NAME, callee=callee)
            yield analysis.name_draft(Kind.NORMALIZATION, callee, site, layer.name)
        if layer.spec.family in COUNTED:
            site = _site(layer, Style.LAYER, callee=callee)
            yield analysis.name_draft(Kind.LAYER, callee, site, layer.name)
    yield from _activations(analysis, models)
    for layer in models.layers:
        yield from _no_activation(analysis, layer)
    yield from _functional(analysis, models)


def _site(
    layer: LayerSite,
    style: Style,
    name: str = "",
    **more: Any,
) -> EditSite:
    return EditSite(
        style,
        layer.library,
        layer.call,
        name,
        layer=layer,
        **more,
    )


def _slots(analysis: ProgramAnalysis, layer: LayerSite) -> Iterator[Draft]:
    for slot in [slot for slot in layer.spec.slots if slot.kind is not Kind.ACTIVATION]:
        value = layer.filling(slot)
        site = _site(layer, Style.ARGUMENT, slot.names[0])
        if value is not None:
            named = list(_named(analysis, layer, slot, value)) if slot.kind in NAMED_KINDS else []
            yield from named or analysis.value_drafts(slot.kind, value, site)
        elif slot.reported and slot.position != 0 and not has_unpacking(layer.call):
            yield analysis.absent(
                slot.kind,
                site,
                layer.call,
                default=slot.default,
            )


def _named(
    analysis: ProgramAnalysis,
    layer: LayerSite,
    slot: Slot,
    value: ast.expr,
) -> Iterator[Draft]:
    """An initialiser or regulariser that is not a string: a class that is called, a function."""
    made = analysis.callees.made(value)
    own = [(item.callee, item.call) for item in made if item.callee.dotted.startswith("keras.")]
    named = [(callee, layer.call) for callee in analysis.callees.named(value)[:1]]
    for callee, call in own or named:
        site = replace(
            _site(layer, Style.NAME, slot.names[0], callee=callee),
            call=call,
        )
        yield analysis.name_draft(
            slot.kind,
            callee,
            site,
            last_name(callee.dotted),
        )


def _activations(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """Every activation that is written, under the layer whose output it acts on where that is
    known.
    """
    bent = [(layer.activation, layer) for layer in models.layers if layer.activation is not None]
    acting = [
        (one, layer) for one, layer in reversed(bent) if layer.spec.family is not Family.ACTIVATION
    ]
    owners = {one.call: layer for one, layer in acting}
    own = {layer.call for one, layer in bent if one.call is layer.call}
    for layer in models.layers:
        if layer.spec.family is Family.ACTIVATION or layer.call in own:
            own.add(layer.call)
            yield from _written_activation(
                analysis,
                layer,
                owners.get(layer.call, layer),
            )
    for site in models.flow.activations:
        if site.call not in own:
            own.add(site.call)
            yield _function_activation(analysis, site, owners.get(site.call))


def _written_activation(
    analysis: ProgramAnalysis, layer: LayerSite, owner: LayerSite
) -> Iterator[Draft]:
    slot = next(
        (slot for slot in layer.spec.slots if slot.kind is Kind.ACTIVATION),
        None,
    )
    value = layer.filling(slot)
    if slot is None:
        callee = layer.made.callee
        word = activation_word(layer.name)
        activation = ActivationSite(Way.LAYER, word, layer.call, callee)
        style = Style.CHOICE if callee.chosen else Style.NAME
        site = _site(layer, style, callee=callee, activation=activation)
        chosen = chosen_name(callee) if callee.choices else word
        yield analysis.name_draft(
            Kind.ACTIVATION,
            callee,
            site,
            chosen,
            **of_layer(owner),
        )
        return
    if value is None:
        return
    for callee in analysis.callees.named(value)[:1]:
        activation = ActivationSite(Way.ARGUMENT, "", layer.call, callee)
        site = _site(
            layer,
            Style.NAME,
            "activation",
            callee=callee,
            activation=activation,
        )
        word = activation_word(last_name(callee.dotted))
        yield analysis.name_draft(
            Kind.ACTIVATION,
            callee,
            site,
            word,
            **of_layer(owner),
        )
        return
    site = _site(layer, Style.ARGUMENT, slot.names[0])
    for draft in analysis.value_drafts(
        Kind.ACTIVATION,
        value,
        site,
        **of_layer(owner),
    ):
        if isinstance(draft.param.value, str):
            draft.change(value=activation_word(draft.param.value))
        yield draft


def _function_activation(
    analysis: ProgramAnalysis, site: ActivationSite, owner: LayerSite | None
) -> Draft:
    func = site.call.func
    model = scope_of(site.call).enclosing_class()
    if owner is not None:
        library = owner.library
    else:
        library = "torch" if analysis.sources.dotted(func).startswith("torch") else "keras"
    whole = EditSite(
        Style.NAME,
        library,
        site.call,
        layer=owner,
        activation=site,
    )
    method = isinstance(func, ast.Attribute) and site.way is Way.METHOD
    spot = name_spot(func) if isinstance(func, ast.Attribute) and method else spot_of(func)
    extra = {"model": model.name} if owner is None and model is not None else {}
    return analysis.spot_draft(
        Kind.ACTIVATION,
        whole,
        site.word,
        spot,
        **extra,
    )


def _no_activation(analysis: ProgramAnalysis, layer: LayerSite) -> Iterator[Draft]:
    """A layer whose output nothing activates: on its way into the next layer, or out of the model."""
    if layer.spec.family not in (Family.DENSE, Family.CONV) or layer.activation is not None:
        return
    if not (layer.bare or layer.bare_output) or has_unpacking(layer.call):
        return
    keras = layer.library == "keras"
    slot = next(
        (slot for slot in layer.spec.slots if slot.kind is Kind.ACTIVATION),
        None,
    )
    site = _site(
        layer,
        Style.ARGUMENT if keras else Style.APPLY,
        "activation" if keras else "",
    )
    default = slot.default if slot is not None else None
    yield analysis.absent(
        Kind.ACTIVATION,
        site,
        layer.call,
        default=default,
    )


def _functional(analysis: ProgramAnalysis, models: Models) -> Iterator[Draft]:
    """`F.dropout(x, p=0.25)` in forward code."""
    for call in models.flow.functions:
        home, _, name = analysis.sources.dotted(call.func).rpartition(".")
        if home == "torch.nn.functional" and "dropout" in name:
            owner = scope_of(call).enclosing_class()
            site = EditSite(Style.ARGUMENT, "torch", call, "p")
            extra = {"model": owner.name if owner else "", "layer": name}
            yield from analysis.value_drafts(
                Kind.DROPOUT,
                argument(call, 1, "p"),
                site,
                **extra,
            )


DEFAULTS = {Kind.WEIGHT_INIT: "kaiming_uniform_", Kind.BIAS_INIT: "uniform_"}


def read_missing_initialisers(models: Models, drafts: list[Draft]) -> Iterator[Draft]:
    """Drafts of absent initialisers, unless a function initialises every layer."""
    written = [d.param.id for d in drafts if d.kind in DEFAULTS and d.site.library == "torch"]
    if not all(one.layer for one in written):
        return
    done = {(one.model, one.layer, one.kind) for one in written}
    torch = [layer for layer in models.layers if layer.library == "torch"]
    for layer in [layer for layer in torch if layer.spec.family in (Family.DENSE, Family.CONV)]:
        for kind, default in DEFAULTS.items():
            if (layer.model, layer.path, kind) not in done:
                site = _site(layer, Style.INIT, reason=_reason(layer))
                yield models.analysis.absent(
                    kind,
                    site,
                    layer.call,
                    default=default,
                )


def _reason(layer: LayerSite) -> str:
    """A layer can be initialised after its construction when a name leads to it there."""
    statement = statement_of(layer.call)
    kind = layer.position.kind
    whole = isinstance(statement, ast.Assign) and statement.value is layer.position.top
    if kind is ContainerKind.ATTRIBUTE or (kind is ContainerKind.ELEMENT and whole):
        return ""
    return "the layer has no name by which it could be initialised"
