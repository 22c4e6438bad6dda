"""Losses, optimizers and layers are exchanged, put in and taken out, with everything that has to follow."""

# expected lines stand as they are written
from __future__ import annotations

from textwrap import dedent

import pytest

from patched_programs import FUNCTIONAL, KERAS, MODULE, TORCH, changed, find, lines
from reenact.program.edit.change import Insert, Replace
from reenact.program.patch import Patch
from reenact.program.program import program_from_text
from reenact.types import JsonValue


def test_a_keras_layer_is_repeated_and_removed() -> None:
    again = changed(KERAS, ("layer", "dense", {"repeat": 3}))
    assert again.count('layers.Dense(64, activation="relu"),') == 3
    gone = changed(KERAS, ("layer", "dropout", None))
    assert gone == KERAS.replace("    layers.Dropout(0.5),\n", "")
    unapplied = changed(FUNCTIONAL, ("layer", "dense", None))
    assert unapplied == FUNCTIONAL.replace(FUNCTIONAL.split("\n")[5] + "\n", "")


LOSSES = [
    (
        MODULE
        + "\nnet = Net()\ncriterion = nn.MSELoss(reduction='mean')\n"
        + "target = F.one_hot(labels, 10).float()\nloss = criterion(net(x), target)\nloss.backward()\n",
        "CrossEntropyLoss",
        [
            "return self.fc2(x)",
            "criterion = nn.CrossEntropyLoss(reduction='mean')",
            "loss = criterion(net(x), target.argmax(1))",
        ],
    ),
    (
        MODULE
        + "\nnet = Net()\nloss = F.mse_loss(net(x), F.one_hot(y, 10).float())\nloss.backward()\n",
        "cross_entropy",
        [
            "return self.fc2(x)",
            "loss = F.cross_entropy(net(x), F.one_hot(y, 10).float().argmax(1))",
        ],
    ),
    (
        MODULE.replace("torch.softmax(self.fc2(x), dim=1)", "self.fc2(x)")
        + "\nnet = Net()\nc = nn.CrossEntropyLoss(label_smoothing=0.1)\nc(net(x), y).backward()\n",
        "MSELoss",
        ["c = nn.MSELoss()", "c(net(x), F.one_hot(y, 10).float()).backward()"],
    ),
    (
        MODULE.replace("torch.softmax(self.fc2(x), dim=1)", "self.fc2(x)")
        + "\nnet = Net()\nc = nn.CrossEntropyLoss()\nc(net(x), y).backward()\n",
        "NLLLoss",
        ["return torch.log_softmax(self.fc2(x), dim=1)", "c = nn.NLLLoss()"],
    ),
    (
        KERAS,
        "categorical_crossentropy",
        [
            'layers.Dense(10, activation="softmax"),',
            'model.compile(loss="categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])',
        ],
    ),
    (
        KERAS,
        "sparse_categorical_crossentropy",
        [
            'layers.Dense(10, activation="softmax"),',
            'model.compile(loss="sparse_categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])',
            "model.fit(x_train, y_train.argmax(-1), epochs=5, batch_size=32)",
        ],
    ),
]


@pytest.mark.parametrize(("text", "loss", "come"), LOSSES)
def test_a_replaced_loss_brings_along_what_it_demands(
    text: str, loss: str, come: list[str]
) -> None:
    program = program_from_text(text)
    after = Patch((Replace(find(program, "loss").id, loss),)).apply(program).entry_file.text
    assert lines(text, after)[1] == come


def test_a_replaced_optimizer_keeps_its_rate_or_takes_a_new_one() -> None:
    program = program_from_text(TORCH)
    param = find(program, "optimizer")
    after = Patch((Replace(param.id, "Adam", {"lr": 0.001}),)).apply(program).entry_file.text
    assert "optimizer = torch.optim.Adam(model.parameters(), lr=0.001)" in after
    keras = program_from_text(KERAS)
    after = (
        Patch((Replace(find(keras, "optimizer").id, "adam", {"lr": 0.01}),))
        .apply(keras)
        .entry_file.text
    )
    assert "optimizer=keras.optimizers.Adam(learning_rate=0.01)" in after


INSERTS = [
    (TORCH, "0", "Dropout", {"p": 0.2}, False, ["nn.Dropout(p=0.2),"]),
    (TORCH, "0", "BatchNorm1d", {}, False, ["nn.BatchNorm1d(32),"]),
    (TORCH, "2", "LayerNorm", {}, True, ["nn.LayerNorm(32),"]),
    (
        MODULE,
        "fc1",
        "BatchNorm1d",
        {},
        False,
        ["self.fc1 = nn.Sequential(nn.Linear(8 * 26 * 26, 64), nn.BatchNorm1d(64))"],
    ),
    (KERAS, "dense", "BatchNormalization", {}, False, ["layers.BatchNormalization(),"]),
    (
        FUNCTIONAL,
        "first",
        "Dropout",
        {"rate": 0.3},
        False,
        ["h = layers.Dropout(rate=0.3)(h)"],
    ),
    (
        FUNCTIONAL,
        "first",
        "BatchNormalization",
        {},
        True,
        ["h = layers.Dense(8, activation='relu', name='first')(layers.BatchNormalization()(i))"],
    ),
]


@pytest.mark.parametrize(("text", "anchor", "layer", "settings", "before", "come"), INSERTS)
def test_a_layer_is_put_in(
    text: str,
    anchor: str,
    layer: str,
    settings: dict[str, JsonValue],
    before: bool,
    come: list[str],
) -> None:
    program = program_from_text(text)
    patch = Patch((Insert(find(program, "layer", anchor).id, layer, settings, before),))
    after = patch.apply(program).entry_file.text
    assert lines(text, after)[1] == come
    compile(after, "train.py", "exec")


def test_a_layer_is_exchanged() -> None:
    program = program_from_text(MODULE)
    patch = Patch((Replace(find(program, "layer", "drop").id, "AlphaDropout", {"p": 0.1}),))
    assert "self.drop = nn.AlphaDropout(p=0.1)" in patch.apply(program).entry_file.text
    patch = Patch((Replace(find(program, "layer", "fc1").id, "Linear", {"bias": False}),))
    assert (
        "self.fc1 = nn.Linear(8 * 26 * 26, 64, bias=False)" in patch.apply(program).entry_file.text
    )
    keras = program_from_text(KERAS)
    patch = Patch((Replace(find(keras, "layer", "dropout").id, "BatchNormalization"),))
    assert "    layers.BatchNormalization(),\n" in patch.apply(keras).entry_file.text


def test_a_shape_in_forward_code_follows_the_filters() -> None:
    text = MODULE.replace("x.flatten(1)", "x.view(-1, 8 * 26 * 26)")
    after = changed(text, ("filters", "conv", 4))
    assert "x.view(-1, 4 * 26 * 26)" in after
    assert "nn.Linear(4 * 26 * 26, 64)" in after


def test_a_schedule_is_taken_out_with_its_steps() -> None:
    with_one = changed(TORCH, ("scheduler", "", "StepLR"))
    assert changed(with_one, ("scheduler", "", None)) == TORCH


def test_widths_that_hang_together_are_not_changed_alone() -> None:
    text = dedent(
        """
        import torch.nn as nn
        class Res(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(8, 8)
                self.b = nn.Linear(8, 8)
            def forward(self, x):
                return self.b(x + self.a(x))
        """
    )
    param = find(program_from_text(text), "units", "a")
    assert not param.changeable
    assert "added" in param.reason
