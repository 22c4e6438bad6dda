"""Layers as the text tells them."""

from __future__ import annotations

import cProfile
import json
from pathlib import Path

import pytest

from reenact.program.program import program_from_text, read_program
from reenact.program.static_graph import hyperparameters_of, static_graph

CORPUS = Path(__file__).parent.parent / "corpus"
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/expected.json"))
OWN_CLASSES = frozenset(("Scaled",))
ELSEWHERE = frozenset(("transformers_trainer",))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_every_live_layer_has_its_line_in_the_text(name: str) -> None:
    stated = json.loads((CORPUS / name / "expected.json").read_text(encoding="utf-8"))
    program = read_program(stated["entry"], CORPUS / name)
    graph = static_graph(program)
    found = {
        (str(layer.place.file), program.cell(layer.place) or layer.place.line)
        for layer in graph.layers
    }
    for layer in stated["layers"]:
        if layer["type"] in OWN_CLASSES:
            continue
        first, last = layer.get("lines", [layer["line"], layer["line"]])
        wanted = {
            (layer["file"], (layer["cell"], line) if "cell" in layer else line)
            for line in range(first, last + 1)
        }
        assert wanted & found, layer


def test_a_layer_tells_its_settings_activation_and_takers() -> None:
    graph = static_graph(
        program_from_text(
            "import torch.nn as nn\nH = 16\n"
            "m = nn.Sequential(nn.Linear(4, H), nn.Tanh(), nn.Dropout(p=0.1), nn.Linear(H, 2))\n"
        )
    )
    first, last = graph.layer("m", "0"), graph.layer("m", "3")
    assert first is not None
    assert last is not None
    assert (first.activation, first.role, first.feeds) == ("tanh", "hidden", ("3",))
    assert first.settings == {"out_features": 16, "in_features": 4}
    assert (last.activation, last.role, last.feeds) == (None, "output", ())
    dropout = graph.layer("m", "2")
    assert dropout is not None
    assert dropout.settings == {"p": 0.1}


TORCH = "import torch.nn as nn\nmodel = nn.Sequential(\n{}\n)\n"
KERAS = "from keras import Sequential, layers\nmodel = Sequential([\n{}\n])\n"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("program", "row"),
    [
        (TORCH, "nn.Linear(8, 8), nn.ReLU(),"),
        (TORCH, "nn.Conv2d(8, 8, 3), nn.ReLU(),"),
        (KERAS, "layers.Dense(8, activation='relu'),"),
    ],
)
def test_four_times_the_layers_of_one_sequential_take_four_times_the_calls(
    program: str, row: str
) -> None:
    def calls(layers: int) -> int:
        read = program_from_text(program.format("\n".join([row] * layers)))
        profile = cProfile.Profile()
        params = profile.runcall(hyperparameters_of, read)
        assert len(params) > 3 * layers
        return sum(entry.callcount for entry in profile.getstats())

    calls(1)
    assert calls(320) < 4.2 * calls(80)
