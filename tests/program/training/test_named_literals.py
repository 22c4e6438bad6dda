"""A program reads the same where its literals have names."""

from __future__ import annotations

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of, static_graph
from reenact.types import JsonValue

named = pytest.mark.parametrize("named", [False, True], ids=["literal", "named"])


def written(text: str, value: str, *, named: bool) -> str:
    """A program with a literal in the place of `VALUE`, or behind that name."""
    return f"VALUE = {value}\n{text}" if named else "\n" + text.replace("VALUE", value)


def paths(text: str) -> list[str]:
    """The layers of a program by their paths."""
    return [layer.name for layer in static_graph(program_from_text(text)).layers]


def values(text: str, kind: Kind) -> list[JsonValue]:
    """What is written for the hyperparameters of a kind."""
    params = hyperparameters_of(program_from_text(text))
    return [param.value for param in params if param.kind is kind and not param.absent]


KERAS = """
import keras
from keras import layers
model = keras.Sequential([layers.Input((8,)), layers.Dense(4, name=VALUE)])
"""
ADDED = """
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential()
        self.body.add_module(VALUE, nn.Linear(8, 3))
"""
ORDERED = """
from collections import OrderedDict
from torch import nn
net = nn.Sequential(OrderedDict([(VALUE, nn.Linear(8, 3))]))
"""


@named
@pytest.mark.parametrize(
    ("text", "path"), [(KERAS, "score"), (ADDED, "body.score"), (ORDERED, "score")]
)
def test_the_name_of_a_layer(text: str, path: str, *, named: bool) -> None:
    assert paths(written(text, "'score'", named=named))[-1] == path


APPLIED = """
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)])
    def forward(self, x):
        x = self.blocks[0](x)
        x = self.blocks[1](x).relu()
        return self.blocks[VALUE](x)
"""


@named
@pytest.mark.parametrize(
    ("value", "output"), [("2", "blocks.2"), ("-1", "blocks.2"), ("1", "blocks.1")]
)
def test_the_number_of_a_layer(value: str, output: str, *, named: bool) -> None:
    graph = static_graph(program_from_text(written(APPLIED, value, named=named)))
    assert [layer.name for layer in graph.layers if layer.role == "output"] == [output]


CUT = """
from torch import nn
blocks = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    def forward(self, x):
        return self.blocks[:VALUE](x)
"""


@named
@pytest.mark.parametrize(("value", "output"), [("-1", "blocks.0"), ("3", "blocks.2")])
def test_layers_up_to_a_number(value: str, output: str, *, named: bool) -> None:
    graph = static_graph(program_from_text(written(CUT, value, named=named)))
    own = [layer.name for layer in graph.layers if layer.model == "Net" and layer.role == "output"]
    assert own == [output]


INITIALISED = """
from torch import nn
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
nn.init.zeros_(net[VALUE].weight)
"""


@named
@pytest.mark.parametrize("layer", ["0", "2"])
def test_the_layer_that_an_initialiser_is_given(layer: str, *, named: bool) -> None:
    text = written(INITIALISED, layer, named=named)
    params = hyperparameters_of(program_from_text(text))
    found = [one.id.layer for one in params if one.kind is Kind.WEIGHT_INIT and not one.absent]
    assert found == [layer]


SHAPED = """
import keras
model = keras.Sequential([keras.layers.Input(batch_shape=(VALUE, 8)), keras.layers.Dense(3)])
"""


@named
def test_a_tuple_among_the_settings_of_a_layer(*, named: bool) -> None:
    layer = static_graph(program_from_text(written(SHAPED, "16", named=named))).layers[0]
    assert layer.settings["batch_shape"] == [16, 8]


REGULARISED = """
from keras import layers, regularizers
dense = layers.Dense(8, kernel_regularizer=regularizers.L1L2(l2=VALUE))
"""


@named
def test_a_setting_that_is_kept_as_text(*, named: bool) -> None:
    (layer,) = static_graph(program_from_text(written(REGULARISED, "0.5", named=named))).layers
    assert layer.settings["kernel_regularizer"] == "regularizers.L1L2(l2=0.5)"


DIVIDED = """
import torch
pixels = load() / VALUE
"""


@named
@pytest.mark.parametrize(("value", "scaled"), [("255.0", [255.0]), ("7.0", [])])
def test_a_division_that_scales(value: str, scaled: list[float], *, named: bool) -> None:
    assert values(written(DIVIDED, value, named=named), Kind.PREPROCESSING) == scaled


FROM_ONE = """
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(1, 20 + VALUE):
    model(x).sum().backward()
    optimizer.step()
"""


@named
@pytest.mark.parametrize(("value", "plain"), [("1", True), ("2", False)])
def test_rounds_that_are_counted_from_one(value: str, *, plain: bool, named: bool) -> None:
    text = written(FROM_ONE, value, named=named)
    assert (values(text, Kind.EPOCHS) == [20]) is plain


PADDED = """
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=VALUE)
        self.head = nn.Linear(8 * 26 * 26, 3)
    def forward(self, x):
        return self.head(self.conv(x).relu().flatten(1))
"""


@named
@pytest.mark.parametrize(("value", "fixed"), [("0", True), ("'same'", False)])
def test_a_kernel_whose_size_is_counted(value: str, *, fixed: bool, named: bool) -> None:
    params = hyperparameters_of(program_from_text(written(PADDED, value, named=named)))
    (kernel,) = (one for one in params if one.kind is Kind.KERNEL_SIZE)
    assert (not kernel.changeable) is fixed


HEADS = """
import keras
from keras import layers
given = keras.Input((8,))
first = layers.Dense(1, name=VALUE)(given)
second = layers.Dense(3, name="kinds", activation="softmax")(given)
model = keras.Model(given, {VALUE: first, "kinds": second})
model.compile("adam", loss={VALUE: "mse", "kinds": "categorical_crossentropy"})
model.fit(x, y, epochs=3)
"""


@named
def test_the_outputs_that_losses_are_for(*, named: bool) -> None:
    params = hyperparameters_of(program_from_text(written(HEADS, "'price'", named=named)))
    losses = {str(one.value): one.alternatives for one in params if one.kind is Kind.LOSS}
    assert losses["mse"]
    plain = hyperparameters_of(program_from_text(written(HEADS, "'price'", named=False)))
    assert losses == {str(one.value): one.alternatives for one in plain if one.kind is Kind.LOSS}


ADDED_TO = """
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 3)
    def forward(self, x):
        x = self.first(x)
        x += VALUE
        return self.second(x)
"""


@named
@pytest.mark.parametrize(("value", "free"), [("2", True), ("offsets()", False)])
def test_a_width_to_which_a_number_is_added(value: str, *, free: bool, named: bool) -> None:
    params = hyperparameters_of(program_from_text(written(ADDED_TO, value, named=named)))
    (width, _) = (one for one in params if one.kind is Kind.UNITS)
    assert width.changeable is free
