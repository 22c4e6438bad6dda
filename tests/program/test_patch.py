"""Changes become edits: the right place, the rest of the text untouched, everything that has to follow."""

# ruff: noqa: E501  # expected lines stand as they are written
from __future__ import annotations

import pytest

from patched_programs import FUNCTIONAL, KERAS, MODULE, TORCH, changed, find, lines
from reenact.errors import (
    NotChangeable,
    PatchConflict,
    PatchRefused,
    UnknownHyperparameter,
)
from reenact.program.edit.change import Insert, Remove, Replace, Set
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.patch import Patch, change_for, file_diff, replacements_in
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.types import JsonValue

SETS = [
    (
        TORCH,
        "learning-rate",
        "",
        0.01,
        ["optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)"],
    ),
    (
        TORCH,
        "batch-size",
        "",
        64,
        ["loader = DataLoader(TensorDataset(x, y), batch_size=64)  # no order"],
    ),
    (
        TORCH,
        "shuffle",
        "",
        True,
        ["loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)  # no order"],
    ),
    (
        TORCH,
        "weight-decay",
        "",
        1e-4,
        [
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.0001)"
        ],
    ),
    (
        TORCH,
        "optimizer",
        "",
        "Adam",
        ["optimizer = torch.optim.Adam(model.parameters(), lr=0.1)"],
    ),
    (TORCH, "units", "0", 64, ["nn.Linear(4, 64),  # wide", "nn.Linear(64, 16),"]),
    (TORCH, "activation", "0", "tanh", ["nn.Tanh(),"]),
    (TORCH, "activation", "0", "softmax", ["nn.Softmax(dim=1),"]),
    (TORCH, "activation", "0", None, ["nn.Identity(),"]),
    (TORCH, "activation", "2", "relu", ["nn.ReLU(),"]),
    (TORCH, "activation", "3", "log_softmax", ["nn.LogSoftmax(dim=1),"]),
    (TORCH, "zero-grad", "", True, ["optimizer.zero_grad()"]),
    (
        TORCH,
        "gradient-clip",
        "",
        1.0,
        ["nn.utils.clip_grad_norm_(model.parameters(), 1.0)"],
    ),
    (
        TORCH,
        "scheduler",
        "",
        "CosineAnnealingLR",
        [
            "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)",
            "scheduler.step()",
        ],
    ),
    (
        TORCH,
        "weight-init",
        "2",
        "xavier_normal_",
        ["nn.init.xavier_normal_(model[2].weight)"],
    ),
    (TORCH, "layer", "2", None, ["nn.Linear(32, 3),"]),
    (TORCH, "layer", "0", {"repeat": 2}, ["nn.ReLU(),", "nn.Linear(32, 32),"]),
    (
        MODULE,
        "filters",
        "conv",
        16,
        ["self.conv = nn.Conv2d(1, 16, 3)", "self.fc1 = nn.Linear(16 * 26 * 26, 64)"],
    ),
    (
        MODULE,
        "units",
        "fc1",
        128,
        ["self.fc1 = nn.Linear(8 * 26 * 26, 128)", "self.fc2 = nn.Linear(128, 10)"],
    ),
    (MODULE, "activation", "conv", "gelu", ["x = F.gelu(self.conv(x))"]),
    (MODULE, "activation", "conv", "softmax", ["x = F.softmax(self.conv(x), dim=1)"]),
    (MODULE, "activation", "conv", None, ["x = self.conv(x)"]),
    (MODULE, "activation", "fc1", "tanh", ["x = self.drop(torch.tanh(self.fc1(x)))"]),
    (MODULE, "activation", "fc2", "sigmoid", ["return torch.sigmoid(self.fc2(x))"]),
    (MODULE, "activation", "fc2", "gelu", ["return F.gelu(self.fc2(x))"]),
    (
        MODULE,
        "weight-init",
        "fc1",
        "kaiming_normal_",
        ["nn.init.kaiming_normal_(self.fc1.weight)"],
    ),
    (MODULE, "layer", "drop", None, ["self.drop = nn.Identity()"]),
    (MODULE, "dropout", "drop", 0.2, ["self.drop = nn.Dropout(0.2)"]),
    (
        KERAS,
        "learning-rate",
        "",
        0.001,
        [
            'model.compile(loss="mse", optimizer=keras.optimizers.SGD(learning_rate=0.001), metrics=["accuracy"])'
        ],
    ),
    (
        KERAS,
        "optimizer",
        "",
        "adam",
        ['model.compile(loss="mse", optimizer="adam", metrics=["accuracy"])'],
    ),
    (
        KERAS,
        "loss",
        "",
        "categorical_crossentropy",
        ['model.compile(loss="categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])'],
    ),
    (
        KERAS,
        "activation",
        "dense_1",
        "softmax",
        ['layers.Dense(10, activation="softmax"),'],
    ),
    (
        KERAS,
        "weight-init",
        "dense",
        "he_normal",
        ['layers.Dense(64, activation="relu", kernel_initializer="he_normal"),'],
    ),
    (
        KERAS,
        "weight-regularizer",
        "dense",
        "l2",
        ['layers.Dense(64, activation="relu", kernel_regularizer="l2"),'],
    ),
    (
        KERAS,
        "validation",
        "",
        0.2,
        ["model.fit(x_train, y_train, epochs=5, batch_size=32, validation_split=0.2)"],
    ),
    (
        KERAS,
        "scheduler",
        "",
        "ReduceLROnPlateau",
        [
            "model.fit(x_train, y_train, epochs=5, batch_size=32, "
            'callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=2)])'
        ],
    ),
    (KERAS, "layer", "dropout", None, []),
    (KERAS, "layer", "dense", {"repeat": 2}, ['layers.Dense(64, activation="relu"),']),
    (
        KERAS,
        "preprocessing",
        "scale",
        "standardize",
        [
            "x_train_mean, x_train_std = x_train.mean(0), x_train.std(0) + 1e-7",
            "x_train = (x_train - x_train_mean) / x_train_std",
        ],
    ),
    (
        FUNCTIONAL,
        "activation",
        "first",
        "tanh",
        ["h = layers.Dense(8, activation='tanh', name='first')(i)"],
    ),
    (
        FUNCTIONAL,
        "weight-init",
        "dense",
        "he_uniform",
        ['h = layers.Dense(8, kernel_initializer="he_uniform")(h)'],
    ),
    (
        FUNCTIONAL,
        "learning-rate",
        "",
        0.01,
        ["model.compile(tf.keras.optimizers.Adam(learning_rate=0.01), 'mse')"],
    ),
    (FUNCTIONAL, "epochs", "", 10, ["model.fit(x, y, epochs=10)"]),
    (FUNCTIONAL, "layer", "dense", None, []),
]


@pytest.mark.parametrize(("text", "kind", "layer", "value", "come"), SETS)
def test_set_writes_what_a_person_would_write(
    text: str, kind: str, layer: str, value: JsonValue, come: list[str]
) -> None:
    after = changed(text, (kind, layer, value))
    assert lines(text, after)[1] == come
    compile(after, "train.py", "exec")


def test_several_settings_of_one_call_are_written_together() -> None:
    after = changed(
        KERAS,
        ("learning-rate", "", 0.01),
        ("momentum", "", 0.9),
        ("weight-init", "dense", "he_normal"),
        ("weight-regularizer", "dense", "l2"),
        ("activation", "dense", "tanh"),
    )
    assert "optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)" in after
    assert (
        'layers.Dense(64, activation="tanh", kernel_initializer="he_normal", kernel_regularizer="l2"),'
        in after
    )


def test_nested_activations_can_change_together() -> None:
    text = MODULE.replace(
        "x = F.relu(self.conv(x))", "x = torch.tanh(self.drop(F.relu(self.conv(x))))"
    )
    program = program_from_text(text)
    found = [
        param
        for param in hyperparameters_of(program)
        if param.kind is Kind.ACTIVATION and param.text in ("F.relu", "torch.tanh")
    ]
    after = Patch(tuple(Set(param.id, "sigmoid") for param in found)).apply(program).entry_file.text
    assert "x = torch.sigmoid(self.drop(F.sigmoid(self.conv(x))))" in after


def test_regularisers_can_have_a_strength() -> None:
    after = changed(KERAS, ("weight-regularizer", "dense", {"l2": 0.001}))
    assert "kernel_regularizer=keras.regularizers.L2(l2=0.001)" in after
    after = changed(KERAS, ("weight-regularizer", "dense", "l1_l2"))
    assert "kernel_regularizer=keras.regularizers.L1L2(l1=0.01, l2=0.01)" in after


def test_imports_are_added_where_they_are_missing() -> None:
    text = "from torch.nn import Linear, ReLU, Sequential\nmodel = Sequential(Linear(2, 3), ReLU(), Linear(3, 1))\n"
    after = changed(text, ("activation", "0", "tanh"))
    assert after.startswith(
        "from torch.nn import Linear, ReLU, Sequential\nfrom torch.nn import Tanh\n"
    )
    assert "Sequential(Linear(2, 3), Tanh(), Linear(3, 1))" in after
    old = "from tensorflow.keras.layers import Dense\nm.add(Dense(3))\nm.compile(loss='mse', optimizer='adam')\n"
    after = changed(old, ("learning-rate", "", 0.1))
    assert "from tensorflow.keras.optimizers import Adam\n" in after


def test_mode_is_put_in_around_an_evaluation() -> None:
    text = TORCH.replace("nn.ReLU(),", "nn.ReLU(), nn.Dropout(0.5),").replace(
        "loss = ", "optimizer.zero_grad(); loss = "
    )
    text += "    with torch.no_grad():\n        print(model(x))\n"
    after = changed(text, ("mode", "eval", "eval"))
    assert (
        "    model.eval()\n    with torch.no_grad():\n        print(model(x))\n    model.train()\n"
        in after
    )


def test_one_line_loops_stay_on_their_line() -> None:
    text = (
        TORCH.split("for epoch")[0]
        + "for e in range(3):\n    for xb, yb in loader: loss_fn(model(xb), yb).backward(); optimizer.step()\n"
    )
    after = changed(text, ("zero-grad", "", True), ("gradient-clip", "", 0.5))
    assert (
        "    for xb, yb in loader: optimizer.zero_grad(); loss_fn(model(xb), yb).backward(); "
        "nn.utils.clip_grad_norm_(model.parameters(), 0.5); optimizer.step()\n"
    ) in after


def test_the_command_line_follows() -> None:
    text = "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float, default=0.5)\n"
    text += "a = p.parse_args()\ntorch.optim.SGD([], lr=a.lr)\n"
    for given, after in (
        (("--lr", "0.1"), ("--lr", "0.01")),
        (("--lr=0.1",), ("--lr=0.01",)),
        ((), ()),
    ):
        program = program_from_text(text, arguments=given)
        new = Patch((Set(find(program, "learning-rate").id, 0.01),)).apply(program)
        assert new.arguments == after
        assert "default=0.01" in new.entry_file.text
        assert find(new, "learning-rate").value == 0.01


def test_data_files_keep_their_layout() -> None:
    code = 'import json, yaml, torch\nc = yaml.safe_load(open("c.yaml"))\nd = json.load(open("d.json"))\n'
    code += 'torch.optim.SGD([], lr=c["lr"], momentum=d["m"])\n'
    others = {
        "c.yaml": "# rates\nlr: 1e-1   # high\nname: 'x'\n",
        "d.json": '{"a": [1,\n 2], "m" : 0.9}\n',
    }
    program = program_from_text(code, others=others)
    patch = Patch(
        (
            Set(find(program, "learning-rate").id, 1e-05),
            Set(find(program, "momentum").id, 0.5),
        )
    )
    new = patch.apply(program)
    texts = {str(file.path): file.text for file in new.files}
    assert texts["c.yaml"] == "# rates\nlr: 1.0e-05   # high\nname: 'x'\n"
    assert texts["d.json"] == '{"a": [1,\n 2], "m" : 0.5}\n'
    assert texts["train.py"] == code


def test_two_values_for_one_place_are_a_conflict() -> None:
    program = program_from_text(TORCH)
    units, layer = find(program, "units", "2"), find(program, "layer", "2")
    patch = Patch((Set(units.id, 8), Remove(layer.id)))
    with pytest.raises(PatchConflict):
        patch.apply(program)
    assert patch.without(1).apply(program) != program
    assert patch.subset([1]).complexity == 1


def test_the_same_wish_twice_is_one() -> None:
    program = program_from_text(TORCH)
    param = find(program, "learning-rate")
    once, twice = (
        Patch((Set(param.id, 0.01),)),
        Patch((Set(param.id, 0.01), Set(param.id, 0.01))),
    )
    assert once.apply(program) == twice.apply(program)
    assert (once + once).complexity == 1


def test_refusals_have_names() -> None:
    program = program_from_text(TORCH)
    with pytest.raises(UnknownHyperparameter):
        Patch((Set(HyperparameterId("train.py", "model", "99", Kind.UNITS), 3),)).apply(program)
    with pytest.raises(NotChangeable):
        Patch((Set(find(program, "activation", "0").id, "bananas"),)).apply(program)
    with pytest.raises(NotChangeable):
        Patch((Remove(find(program, "layer", "3").id),)).apply(program)
    with pytest.raises(PatchRefused):
        Patch.from_json({"changes": [{"change": "explode"}]})
    with pytest.raises(PatchRefused):
        Patch.from_json([1, 2])


def test_patches_travel_as_json() -> None:
    program = program_from_text(TORCH)
    layer = find(program, "layer", "0").id
    patch = Patch(
        (
            Set(find(program, "learning-rate").id, 0.01),
            Insert(layer, "Dropout", {"p": 0.1}, before=True),
            Remove(find(program, "layer", "2").id),
            Replace(find(program, "loss").id, "MSELoss"),
        )
    )
    assert Patch.from_json(patch.to_json()) == patch
    assert patch.complexity == 4


def test_a_patch_of_no_change_changes_nothing() -> None:
    program = program_from_text(TORCH)
    assert Patch().apply(program) is program
    assert Patch().diff(program) == ""


def test_a_search_gets_the_change_that_fits() -> None:
    program = program_from_text(TORCH)
    assert change_for(find(program, "loss"), "MSELoss") == Replace(
        find(program, "loss").id, "MSELoss"
    )
    assert change_for(find(program, "epochs"), 7) == Set(find(program, "epochs").id, 7)


def test_every_offered_alternative_can_be_made() -> None:
    for text in (TORCH, MODULE, KERAS, FUNCTIONAL):
        program = program_from_text(text)
        for param in hyperparameters_of(program):
            for value in param.alternatives:
                new = Patch((Set(param.id, value),)).apply(program).entry_file.text
                assert new != text, (str(param.id), value)
                compile(new, "train.py", "exec")


SCALED = """\
import torch
from torch import nn

model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
"""


def test_a_scaler_of_gradients_is_no_optimizer() -> None:
    after = changed(SCALED, ("zero-grad", "", True))
    assert "    opt.zero_grad()\n    scaler.scale(loss).backward()\n" in after
    assert "scaler.zero_grad" not in after


def test_what_a_scaler_left_is_clipped_in_its_own_size() -> None:
    after = changed(SCALED, ("gradient-clip", "", 1.0))
    lines = [line.strip() for line in after.splitlines()]
    at = lines.index("scaler.unscale_(opt)")
    assert lines[at + 1 : at + 3] == [
        "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "scaler.step(opt)",
    ]


def test_a_scaler_that_a_function_is_given_is_none_either() -> None:
    loop = SCALED.partition("scaler = ")[0] + (
        "def train(scaler):\n"
        "    for x, y in loader:\n"
        "        scaler.scale(nn.functional.cross_entropy(model(x), y)).backward()\n"
        "        scaler.step(opt)\n"
    )
    assert "        opt.zero_grad()\n" in changed(loop, ("zero-grad", "", True))


def test_a_closure_is_no_optimizer() -> None:
    text = SCALED.replace("scaler.step(opt)", "opt.step(closure)")
    assert "    opt.zero_grad()\n" in changed(text, ("zero-grad", "", True))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb\n", "x\na\ny\nb\nz\n"),
        ("", "a\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "x\na\nb"),
        ("a\nb", "a\nc"),
        ("a\n" * 30 + "b\n" + "a\n" * 30, "c\n" + "a\n" * 60),
    ],
)
def test_a_diff_as_lines_and_what_comes_in_their_place(before: str, after: str) -> None:
    replaced = replacements_in("".join(file_diff("train.py", before, after)))["train.py"]
    lines = before.splitlines(keepends=True)
    for one in reversed(replaced):
        lines[one.line - 1 : one.line - 1 + one.removed] = [one.text]
    assert "".join(lines) == after
