"""A loss is exchanged with all it demands, or not at all: a patch never stops a program that
ran.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.errors import NotChangeable
from reenact.program.edit.change import Replace, Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, program_from_text, read_program
from reenact.program.static_graph import hyperparameters_of

CORPUS = Path(__file__).parent.parent / "corpus"

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
KERAS_HEAD = "import keras\nfrom keras import layers\n"
REGRESSION = HEAD + "net = nn.Sequential(nn.Linear(4, 1))\nnn.MSELoss()(net(x), y).backward()\n"
WIDE = (
    HEAD + "net = nn.Sequential(nn.Linear(4, 6))\nloss = nn.MSELoss()\nloss(net(x), y).backward()\n"
)
TAGS = HEAD + (
    "net = nn.Sequential(nn.Linear(4, 6))\nloss = nn.BCEWithLogitsLoss()\nloss(net(x), "
    "y).backward()\n"
)
PROBABLE = HEAD + (
    "net = nn.Sequential(nn.Linear(4, 6), nn.Softmax(dim=1))\nloss = nn.BCELoss()\n"
    "loss(net(x), y).backward()\n"
)
COUNTED = WIDE + "accuracy = (net(x).argmax(1) == y.argmax(1)).float().mean()\n"
VIEW = HEAD + (
    "net = nn.Linear(4, words)\nscores = net(x)\nF.cross_entropy(scores.view(-1, n), "
    "y.view(-1)).backward()\n"
)
CALLED = HEAD + "net = nn.Linear(4, words)\nF.cross_entropy(net(x), y).backward()\n"
UNREAD = HEAD + "loss = nn.MSELoss()\nloss(other.net(x), y).backward()\naccuracy = 1\n"
GAN = HEAD + (
    "maker = nn.Sequential(nn.Linear(4, 2))\njudge = nn.Sequential(nn.Linear(2, 1))\n"
    "loss = nn.BCEWithLogitsLoss()\nloss(judge(maker(z)), ones).backward()\n"
)
TWO = KERAS_HEAD + (
    'a = layers.Dense(3, name="where")(h)\nb = layers.Dense(2, activation="softmax", '
    'name="what")(h)\n'
    'model = keras.Model(i, [a, b])\nmodel.compile("adam", loss={"where": "mse", "what": '
    "keras.losses."
    'SparseCategoricalCrossentropy()}, metrics={"what": ["accuracy"]})\n'
    'model.fit(x, {"where": points, "what": kinds}, epochs=2)\n'
)
LISTED = TWO.replace(
    '{"where": "mse", "what": keras.losses.SparseCategoricalCrossentropy()}',
    '["mse", "mae"]',
)
KERAS_TAGS = KERAS_HEAD + (
    'model = keras.Sequential([layers.Dense(5, activation="sigmoid")])\n'
    'model.compile("adam", "binary_crossentropy", metrics=["accuracy"])\nmodel.fit(x, y)\n'
)


def losses(program: Program) -> list[Hyperparameter]:
    return [param for param in hyperparameters_of(program) if param.kind is Kind.LOSS]


REFUSED = {
    "numbers are no probabilities": (REGRESSION, 0, "BCELoss", "any numbers"),
    "numbers are no classes": (WIDE, 0, "CrossEntropyLoss", "any numbers"),
    "one output tells no classes apart": (REGRESSION, 0, "NLLLoss", "one output"),
    "a label for every output is no class": (TAGS, 0, "NLLLoss", "a label of its own"),
    "a Keras label for every output": (
        KERAS_TAGS,
        0,
        "sparse_categorical_crossentropy",
        "a label of its own",
    ),
    "nobody knows how many classes": (CALLED, 0, "mse_loss", "how many classes"),
    "the last layer is not there": (
        UNREAD,
        0,
        "BCELoss",
        "the last layer cannot be read",
    ),
    "one of several outputs": (TWO, 0, "binary_crossentropy", "any numbers"),
    "which of several outputs": (
        LISTED,
        0,
        "categorical_crossentropy",
        "several outputs",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_loss_that_cannot_stand_there_is_refused_and_not_offered(case: str) -> None:
    text, number, value, why = REFUSED[case]
    program = program_from_text(text)
    param = losses(program)[number]
    assert value not in param.alternatives
    with pytest.raises(NotChangeable, match=why):
        Patch((Replace(param.id, value),)).apply(program)
    assert value in Patch((Set(param.id, value),)).apply(program).entry_file.text, (
        "stated in so many words"
    )


CHANGED = {
    "columns of equal width are classes": (
        COUNTED,
        0,
        "CrossEntropyLoss",
        ["loss = nn.CrossEntropyLoss()", "loss(net(x), y.argmax(1))"],
    ),
    "a softmax means one class a row": (
        PROBABLE,
        0,
        "NLLLoss",
        ["nn.LogSoftmax(dim=1)", "loss = nn.NLLLoss()", "loss(net(x), y.argmax(1))"],
    ),
    "a view says how many classes": (
        VIEW,
        0,
        "mse_loss",
        [
            (
                "F.mse_loss(scores.view(-1, n), F.one_hot(y.view(-1), scores.view(-1, "
                "n).size(-1)).float())"
            )
        ],
    ),
    "only the model that the loss looks at": (
        GAN,
        0,
        "BCELoss",
        [
            "maker = nn.Sequential(nn.Linear(4, 2))",
            "judge = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())",
        ],
    ),
    "only the output that the loss is for": (
        TWO,
        1,
        "CategoricalCrossentropy",
        [
            '"what": keras.losses.CategoricalCrossentropy()',
            '"where": points',
            '"what": keras.utils.to_categorical(kinds, 2)',
            'layers.Dense(3, name="where")',
        ],
    ),
}


@pytest.mark.parametrize("case", CHANGED)
def test_outputs_and_labels_follow_where_they_meet_the_loss(case: str) -> None:
    text, number, value, wanted = CHANGED[case]
    program = program_from_text(text)
    after = Patch((Replace(losses(program)[number].id, value),)).apply(program).entry_file.text
    assert [line for line in wanted if line not in after] == [], after


def test_a_wider_output_in_the_same_patch_counts() -> None:
    program = program_from_text(COUNTED.replace("nn.Linear(4, 6)", "nn.Linear(4, 1)"))
    width = next(param for param in hyperparameters_of(program) if param.kind is Kind.UNITS)
    change = Replace(losses(program)[0].id, "CrossEntropyLoss")
    with pytest.raises(NotChangeable, match="one output"):
        Patch((change,)).apply(program)
    after = Patch((change, Set(width.id, 3))).apply(program).entry_file.text
    assert "nn.Linear(4, 3)" in after
    assert "nn.CrossEntropyLoss()" in after


BOUNDED = HEAD + (
    "net = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())\nloss = nn.BCELoss()\nloss(net(x), "
    "y).backward()\n"
)


def test_an_output_before_a_loss_of_probabilities_stays_one() -> None:
    program = program_from_text(BOUNDED)
    [bend] = [param for param in hyperparameters_of(program) if param.kind is Kind.ACTIVATION]
    assert set(bend.alternatives) <= {"softmax", "sigmoid"}
    with pytest.raises(NotChangeable, match="outside 0 to 1"):
        Patch((Set(bend.id, "linear"),)).apply(program)
    both = Patch((Set(bend.id, "linear"), Replace(losses(program)[0].id, "BCEWithLogitsLoss")))
    assert "nn.BCEWithLogitsLoss()" in both.apply(program).entry_file.text


def test_no_alternative_is_the_same_loss_by_another_name() -> None:
    program = program_from_text(KERAS_TAGS.replace("binary_crossentropy", "mae"))
    assert "mean_absolute_error" not in losses(program)[0].alternatives


def test_a_batch_size_changes_wherever_the_loop_writes_it() -> None:
    program = program_from_text(
        HEAD + "net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for epoch in range(18):\n    for i in range(0, 180, 18):\n        opt.zero_grad()\n"
        "        nn.MSELoss()(net(x[i:i + 18]), y[i:i + 18]).backward()\n        opt.step()\n"
    )
    [size] = [param for param in hyperparameters_of(program) if param.kind is Kind.BATCH_SIZE]
    after = Patch((Set(size.id, 9),)).apply(program).entry_file.text
    assert "for epoch in range(18)" in after
    assert "range(0, 180, 9)" in after
    assert "net(x[i:i + 9]), y[i:i + 9]" in after


def test_momentum_stays_where_nesterov_needs_it() -> None:
    entry = json.loads((CORPUS / "torch_scheduler_clip" / "expected.json").read_text())["entry"]
    program = read_program(entry, CORPUS / "torch_scheduler_clip")
    [momentum] = [param for param in hyperparameters_of(program) if param.kind is Kind.MOMENTUM]
    assert 0.0 not in momentum.alternatives
    with pytest.raises(NotChangeable, match="Nesterov"):
        Patch((Set(momentum.id, 0.0),)).apply(program)


def test_a_convolution_once_more_keeps_the_size_of_its_picture() -> None:
    program = program_from_text(
        KERAS_HEAD + "h = layers.SeparableConv2D(6, 5, strides=2, name='wide')(h)\n"
        "out = layers.Dense(2)(h)\nmodel = keras.Model(i, out)\nmodel.compile('adam', 'mse')\n"
    )
    layer = next(param for param in hyperparameters_of(program) if param.kind is Kind.LAYER)
    after = Patch((Set(layer.id, {"repeat": 2}),)).apply(program).entry_file.text
    assert 'h = layers.SeparableConv2D(6, 5, padding="same")(h)' in after
