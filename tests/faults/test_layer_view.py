"""Layers from the text and from the live model as one view."""

from __future__ import annotations

from pathlib import PurePosixPath

from reenact.program.graph import Layer, ModelGraph, TaskType
from reenact.program.layer_view import views
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph
from reenact.types import Place

TWO = """from torch import nn
one = nn.Sequential(nn.Linear(2, 4), nn.Tanh())
two = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 1))
"""


def live(name: str, type_name: str, line: int, column: int, activation: str | None = None) -> Layer:
    place = Place(PurePosixPath("train.py"), line, column)
    return Layer(name, type_name, place, (), None, activation, {}, ())


def graph(*layers: Layer) -> ModelGraph:
    return ModelGraph("torch", "Sequential", layers, None, None, (), TaskType.UNKNOWN, None, 0, 0)


def test_the_text_alone_gives_roles_and_activations() -> None:
    found = views(static_graph(program_from_text(TWO)), None)
    assert [(view.type, view.activation) for view in found if view.weighted] == [
        ("Linear", "tanh"),
        ("Linear", "relu"),
        ("Linear", None),
    ]


def test_layers_of_one_name_in_two_models_are_distinguished_by_their_place() -> None:
    static = static_graph(program_from_text(TWO))
    second = TWO.splitlines()[2]
    found = views(
        static,
        graph(
            live("0", "Linear", 3, second.index("nn.Linear(4")),
            live("2", "Linear", 3, second.rindex("nn.Linear")),
        ),
    )
    assert [(view.name, view.activation, view.role) for view in found] == [
        ("0", "relu", "hidden"),
        ("2", None, "output"),
    ]


def test_a_live_activation_behind_a_layer_is_its_own() -> None:
    found = views(None, graph(live("fc", "Linear", 1, 0), live("fc>relu", "relu", 2, 0, "relu")))
    assert found[0].activation == "relu"
    assert found[0].role == "output"
    assert [view.index for view in found] == [0, 1]
