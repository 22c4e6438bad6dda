"""Ranks and sizes of what flows through a chain of layers, from their text or from a crash."""

from collections.abc import Iterator

from reenact.faults import Evidence, LayerView
from reenact.program.flow.library_uses import has_own_call
from reenact.program.training.static_layer import StaticLayer
from reenact.types import JsonValue

TORCH = (
    "Conv",
    "ConvTranspose",
    "MaxPool",
    "AvgPool",
    "AdaptiveMaxPool",
    "AdaptiveAvgPool",
    "FractionalMaxPool",
    "LPPool",
    "MaxUnpool",
)
KERAS = (
    "Conv",
    "Convolution",
    "SeparableConv",
    "SeparableConvolution",
    "DepthwiseConv",
    "ConvLSTM",
    *(
        f"{scope}{kind}Pool{ending}"
        for scope in ("", "Global")
        for kind in ("Max", "Avg", "Average")
        for ending in ("", "ing")
    ),
)
RANKS = {
    **dict.fromkeys(("LSTM", "GRU", "RNN", "SimpleRNN"), 3),
    **{f"{lazy}{name}{n}d": n + 2 for lazy in ("", "Lazy") for name in TORCH for n in (1, 2, 3)},
    **{f"{name}{n}D": n + 2 for name in KERAS for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": n + 2 for n in (1, 2, 3)},
    **{f"Convolution{n}DTranspose": n + 2 for n in (1, 2, 3)},
}
"""Rank, with the batch, of what layers of PyTorch and Keras take."""
CELLS = (
    "LSTMCell",
    "GRUCell",
    "RNNCell",
    "SimpleRNNCell",
)
GLOBAL_POOLS = tuple(
    f"Global{kind}Pool{ending}{n}D"
    for kind in ("Max", "Avg", "Average")
    for ending in ("", "ing")
    for n in (1, 2, 3)
)


def trained(evidence: Evidence) -> bool:
    """Whether steps were done and nothing stood in their way."""
    return evidence.step_count > 0 and evidence.crash is None


def rank_taken(layer: StaticLayer) -> int | None:
    """The rank, with the batch, that a layer insists on; none when it takes several."""
    if layer.family in ("conv", "pool"):
        if "LSTM" not in layer.type:
            return rank_of_type(layer.type)
        return None
    if layer.family == "recurrent" and layer.type not in CELLS:
        return 3
    return 2 if layer.type == "RepeatVector" else None


def rank_given(layer: StaticLayer, taken: int | None) -> int | None:
    """The rank a layer passes on; none when it is not known."""
    if layer.family == "input":
        shape = layer.settings.get("shape")
        if isinstance(shape, list):
            return len(shape) + 1
        whole = layer.settings.get("batch_shape")
        return len(whole) if isinstance(whole, list) else None
    if layer.type == "Flatten":
        if layer.library == "keras" or not layer.settings:
            return 2
        return None
    if layer.family == "pool":
        return 2 if layer.type in GLOBAL_POOLS else taken
    if layer.family == "recurrent":
        if layer.library != "keras":
            return None
        return _rank_of_sequences(layer.settings.get("return_sequences", False))
    if layer.type == "RepeatVector":
        return 3
    keeps = layer.family in ("dense", "conv", "dropout", "norm", "activation", "noise")
    return taken if keeps else None


def _rank_of_sequences(returned: JsonValue) -> int | None:
    """By `return_sequences` of a recurrent layer of Keras."""
    if returned is True:
        return 3
    return 2 if returned is False else None


def ranked(evidence: Evidence) -> Iterator[tuple[StaticLayer, int | None, int | None]]:
    """Layers of models written as a chain, the rank each insists on, and the rank it is given."""
    if evidence.static is None or has_own_call(evidence.files):
        return
    for model in dict.fromkeys(layer.model for layer in evidence.static.layers):
        chain = [layer for layer in evidence.static.layers if layer.model == model]
        rank: int | None = None
        for layer in chain if _is_chain(chain) else ():
            shape = layer.settings.get("input_shape")
            if rank is None and isinstance(shape, list):
                rank = len(shape) + 1
            taken = rank_taken(layer)
            yield layer, taken, rank
            rank = rank_given(layer, taken or rank)


def _is_chain(chain: list[StaticLayer]) -> bool:
    """Keras layers without branches, or numbered parts of one torch `Sequential`."""
    inputs = sum(layer.family == "input" for layer in chain)
    joined = any(layer.family in ("merge", "composite", "wrapper") for layer in chain)
    if inputs > 1 or joined or any(len(layer.feeds) > 1 for layer in chain):
        return False
    return chain[0].library == "keras" or all(layer.name.isdigit() for layer in chain)


def rank_of_type(name: str) -> int | None:
    """The rank, with the batch, that a layer of this class takes; none when it takes several."""
    return RANKS.get(name)


def view_of(evidence: Evidence, layer: StaticLayer) -> LayerView | None:
    """The view of a layer of the text."""
    for view in evidence.layers:
        if view.place == layer.place:
            return view
    return None


def other_rank_given(evidence: Evidence) -> tuple[StaticLayer, str] | None:
    """The layer that says which inputs the model takes, where the data has another rank; and
    both shapes.
    """
    inputs = evidence.inputs
    layers = evidence.static.layers if evidence.static is not None else ()
    for layer in layers:
        shape = layer.settings.get("shape" if layer.family == "input" else "input_shape")
        if inputs is not None and layer.model == layers[-1].model and isinstance(shape, list):
            given = inputs.shape[1:]
            words = f"the model takes rows of shape {tuple(shape)} and is given {given}"
            if len(given) != len(shape):
                return (layer, words)
            return None
    return None


def map_given(evidence: Evidence) -> tuple[StaticLayer, str] | None:
    """The last layer, where labels have fewer dimensions than what comes out of it; and a
    sentence.
    """
    labels = evidence.labels
    chain = list(ranked(evidence))
    if labels is None or not chain:
        return None
    layer, _, rank = chain[-1]
    if (
        layer.family != "dense"
        or rank is None
        or rank <= max(len(labels.shape), 2)
        or per_place(evidence)
    ):
        return None
    return (
        layer,
        f"{layer.name} gives rank {rank}, labels have rank {len(labels.shape)}",
    )


def per_place(evidence: Evidence) -> bool:
    """Whether labels have a value for every place of the model's output, as in segmentation."""
    out = evidence.output
    labels = evidence.labels
    if out is None or labels is None or not out.output_shape or len(out.output_shape) < 3:
        return False
    return len(labels.shape) > 1 and labels.shape[1] == out.output_shape[1]
