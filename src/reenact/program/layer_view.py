"""One view of a model's layers for every rule, from the live model or from the text alone."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from reenact.program.graph import Layer, ModelGraph, WeightFacts
from reenact.program.static_graph import StaticGraph
from reenact.program.training import lexicon
from reenact.program.training.static_layer import StaticLayer
from reenact.types import JsonValue, Place

Shape = tuple[int | None, ...]
WIDTHS = ("units", "out_features", "filters", "out_channels", "hidden_size")
WEIGHTED = frozenset({"dense", "conv", "recurrent", "embedding"})


@dataclass(frozen=True, slots=True)
class LayerView:
    """A layer as rules see it."""

    name: str
    type: str
    family: str
    """dense, conv, recurrent, embedding, dropout, norm, activation, pool, shape, merge, input, ...;
    empty when it is a kind no one knows.
    """
    index: int | None
    """Place in `model.layers`, from 0; none for functions and inputs."""
    own_activation: str | None
    """The non-linearity it applies itself, or is."""
    activation: str | None
    """What activates its output on the way to the next layer with weights: its own, or what follows
    it.
    """
    role: str
    """`output` or `hidden` for layers with weights, else empty."""
    settings: dict[str, JsonValue]
    place: Place | None
    output_shape: Shape | None = None
    input_shape: Shape | None = None
    weights: tuple[WeightFacts, ...] = ()
    """Empty when only the text is known."""
    functional: bool = False
    """A function called in the forward pass, not a layer object."""
    feeds: tuple[str, ...] = field(default=())
    """Names of the layers that take its output, where the text reports."""
    takes: str | None = None
    """The layer whose output it is given, as in `Layer.takes`."""

    @property
    def weighted(self) -> bool:
        return self.family in WEIGHTED

    @property
    def width(self) -> int | None:
        """How many values, or channels, come out of it for one row, as its settings say."""
        width = self.whole(*WIDTHS)
        if width is None and self.output_shape:
            return self.output_shape[-1]
        return width

    def setting(self, *names: str) -> JsonValue:
        """The first of these settings that it has; none where it has none of them."""
        for name in names:
            if name in self.settings:
                return self.settings[name]
        return None

    def whole(self, *names: str) -> int | None:
        """The first of these settings that is a whole number."""
        values = (self.settings.get(name) for name in names)
        for value in values:
            if type(value) is int:
                return value
        return None

    @property
    def dropped(self) -> float | None:
        """The share that a dropout layer drops, where it is a number."""
        rate = self.setting("rate", "p")
        if isinstance(rate, int | float):
            return float(rate)
        return None

    def kernel(self) -> WeightFacts | None:
        """Its main weight tensor, before the first step."""
        named = [
            w
            for w in self.weights
            if w.name.rpartition(".")[2] in ("kernel", "weight", "embeddings")
        ]
        sized = named or [w for w in self.weights if len(w.shape) > 1]
        return max(sized, key=lambda weight: math.prod(weight.shape), default=None)

    def bias(self) -> WeightFacts | None:
        for w in self.weights:
            if w.name.rpartition(".")[2] == "bias":
                return w
        return None


def views(
    static: StaticGraph | None, live: ModelGraph | None, *, cut: bool = False
) -> tuple[LayerView, ...]:
    """All layers in order: as executed when the model was seen alive, else as written. `cut`: the
    forward pass broke off, so the live model shows only the layers before that.
    """
    texts = static.layers if static is not None else ()
    if live is None or not live.layers or (cut and static is not None):
        return _from_text(texts)
    numbers = count()
    return _outlined(
        [
            _one_live(
                one,
                live.framework,
                _written(one, texts),
                numbers,
            )
            for one in live.layers
        ]
    )


def family_of(type_name: str, framework: str = "") -> str:
    """The family of a layer class."""
    tables = (lexicon.TORCH_LAYERS, lexicon.KERAS_LAYERS)
    found = [table[type_name].family.value for table in tables if type_name in table]
    if not found:
        return ""
    return found[-1] if framework == "keras" else found[0]


def _written(layer: Layer, texts: Sequence[StaticLayer]) -> StaticLayer | None:
    """The text that made a live layer: by its place, else by a name that only one has."""
    at_place = [text for text in texts if str(text.place) == str(layer.place)]
    named = [text for text in texts if text.name == layer.name]
    if at_place:
        return at_place[0]
    return named[0] if len(named) == 1 else None


def _one_live(
    layer: Layer,
    framework: str,
    text: StaticLayer | None,
    numbers: Iterator[int],
) -> LayerView:
    functional = bool(layer.settings.get("functional"))
    family = "activation" if functional and layer.activation else family_of(layer.type, framework)
    if not family:
        if not layer.weights and layer.activation:
            family = "activation"
        elif text is not None:
            family = text.family
    activation = layer.activation
    if text is not None and not activation:
        activation = text.activation
    return LayerView(
        name=layer.name,
        type=layer.type,
        family=family,
        index=None if functional or family == "input" else next(numbers),
        own_activation=layer.activation if layer.activation != "linear" else None,
        activation=activation,
        role="",
        settings=layer.settings,
        place=layer.place,
        output_shape=layer.output_shape,
        input_shape=layer.input_shapes[0] if layer.input_shapes else None,
        weights=layer.weights,
        functional=functional,
        feeds=text.feeds if text is not None else (),
        takes=layer.takes,
    )


def _outlined(found: list[LayerView]) -> tuple[LayerView, ...]:
    """Roles, and the activation that follows each layer with weights."""
    weighted = [number for number, view in enumerate(found) if view.weighted]
    for number in weighted:
        view = found[number]
        is_last = number == weighted[-1]
        bent = view.own_activation or view.activation or _following(found, number)
        if (
            is_last
            and not view.own_activation
            and _in_part(
                view,
                bent,
                found[number + 1 :],
            )
        ):
            bent = None
        found[number] = replace(
            view,
            activation=bent,
            role="output" if is_last else "hidden",
        )
    return tuple(found)


def _in_part(
    view: LayerView,
    bent: str | None,
    after: Sequence[LayerView],
) -> bool:
    """Whether an activation is seen to activate parts of a layer's output alone, as gaps between
    quantiles.
    """
    given = [later.input_shape for later in after if later.own_activation == bent]
    sizes = [_size(shape) for shape in given]
    size = _size(view.output_shape)
    known = [one for one in sizes if one is not None]
    return size is not None and len(known) == len(sizes) > 0 and max(known) < size


def _size(shape: Sequence[int | None] | None) -> int | None:
    """How many numbers a sample has, where each dimension is known."""
    known = [length for length in shape or () if length is not None]
    if shape and len(known) == len(shape):
        return math.prod(known)
    return None


def _following(found: Sequence[LayerView], number: int) -> str | None:
    """The activation that is given this layer's output; the next in order where no one saw the
    tensors.
    """
    named = {view.name: view for view in found}
    next_to = True
    for view in found[number + 1 :]:
        next_to = next_to and not view.weighted and view.family != "merge"
        if not view.own_activation or view.weighted:
            continue
        if next_to if view.takes is None else _behind(view, named) == found[number].name:
            return view.own_activation
    return None


def _behind(
    view: LayerView,
    named: dict[str, LayerView],
) -> str | None:
    """The layer with weights, or activation, whose output a layer is given, past dropout,
    norms, shapes.
    """
    for _ in named:
        source = named.get(view.takes or "")
        if source is None or source.weighted or source.own_activation:
            return source.name if source is not None else None
        view = source
    return None


def _from_text(texts: Sequence[StaticLayer]) -> tuple[LayerView, ...]:
    numbers = count()
    return tuple(
        LayerView(
            text.name,
            text.type,
            text.family,
            index=next(numbers) if text.family != "input" else None,
            own_activation=text.activation if own else None,
            activation=text.activation,
            role=text.role,
            settings=text.settings,
            place=text.place,
            feeds=text.feeds,
        )
        for text in texts
        for own in [text.family == "activation" or "activation" in text.settings]
    )
