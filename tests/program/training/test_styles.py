"""Ways of writing that are common in the wild and not in the corpus."""

# ruff: noqa: E501  # programs of a few statements stand on one line
from __future__ import annotations

from textwrap import dedent

import pytest

from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of


def params(text: str, arguments: tuple[str, ...] = ()) -> list[Hyperparameter]:
    return list(hyperparameters_of(program_from_text(dedent(text), arguments=arguments)))


def values(text: str, *kinds: Kind) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {kind.value: [] for kind in kinds}
    for param in params(text):
        if param.kind in kinds and not param.absent:
            found[param.kind.value].append(param.value)
    return found


def absent(text: str) -> set[Kind]:
    return {param.kind for param in params(text) if param.absent}


LOOP = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def test_loader_settings_unpacked_from_a_dictionary() -> None:
    text = """
        import argparse, torch
        p = argparse.ArgumentParser()
        p.add_argument("--batch-size", type=int, default=64)
        p.add_argument("--test-batch-size", type=int, default=1000)
        args = p.parse_args()
        train_kwargs = {"batch_size": args.batch_size}
        test_kwargs = {"batch_size": args.test_batch_size}
        if torch.cuda.is_available():
            extra = {"num_workers": 1, "shuffle": True}
            train_kwargs.update(extra)
        train_loader = torch.utils.data.DataLoader(dataset1, **train_kwargs)
        test_loader = torch.utils.data.DataLoader(dataset2, **test_kwargs)
        for x, y in train_loader:
            torch.nn.functional.cross_entropy(model(x), y).backward()
    """
    assert values(text, Kind.BATCH_SIZE) == {"batch-size": [64]}


def test_a_step_made_by_hand_is_found_by_what_its_numbers_do() -> None:
    text = """
        import argparse
        import torch.nn as nn
        parser = argparse.ArgumentParser()
        parser.add_argument("--pace", type=float, default=20)
        parser.add_argument("--batch_size", type=int, default=25)
        parser.add_argument("--clip", type=float, default=0.25)
        parser.add_argument("--epochs", type=int, default=40)
        args = parser.parse_args()
        criterion = nn.CrossEntropyLoss()
        data = batchify(corpus, args.batch_size)
        def train():
            model.zero_grad()
            criterion(model(data), target).backward()
            nn.utils.clip_grad_norm(model.parameters(), args.clip)
            for p in model.parameters():
                p.data.add_(-args.pace, p.grad.data)
        for epoch in range(1, args.epochs+1):
            train()
    """
    kinds = (Kind.LEARNING_RATE, Kind.BATCH_SIZE, Kind.EPOCHS, Kind.GRADIENT_CLIP)
    assert values(text, *kinds) == {
        "learning-rate": [20],
        "batch-size": [],
        "epochs": [40],
        "gradient-clip": [0.25],
    }


@pytest.mark.parametrize(
    "step",
    [
        "w -= pace * w.grad",
        "w.data = w.data - w.grad * pace",
        "w.data.add_(w.grad, alpha=-pace)",
        "w.data.sub_(pace * w.grad.data)",
    ],
)
def test_a_rate_is_what_a_gradient_is_multiplied_by(step: str) -> None:
    text = f"{LOOP}pace, lr = 0.25, 0.5\nw = model[0].weight\nnn.MSELoss()(model(x), y).backward()\n{step}\n"
    text = text.replace("opt = torch.optim.SGD(model.parameters(), lr=0.1)\n", "")
    assert values(text, Kind.LEARNING_RATE) == {"learning-rate": [0.25]}


@pytest.mark.parametrize(
    ("draw", "found"),
    [
        ("torch.randint(0, 90, (many,))", [40]),
        ("torch.randint(90, (many,))", [40]),
        ("numpy.random.choice(90, many)", [40]),
        ("numpy.random.default_rng(0).integers(0, 90, size=many)", [40]),
        ("random.sample(rows, k=many)", [40]),
        ("torch.randint(0, 90, (many, 5))", []),
        ("sorted(rows)[0]", []),
    ],
)
def test_a_batch_size_is_how_many_rows_are_drawn(draw: str, found: list[int]) -> None:
    text = (
        f"import random, numpy\n{LOOP}batch_size, many = 7, 40\nfor i in range(9):\n    at = {draw}\n"
        "    opt.zero_grad(); nn.MSELoss()(model(x[at]), y[at]).backward(); opt.step()\n"
    )
    assert values(text, Kind.BATCH_SIZE) == {"batch-size": found}


@pytest.mark.parametrize(
    ("store", "found"),
    [
        ("how.learning_rate = 0.5", [0.5]),
        ("model.optimizer.learning_rate = 0.5", [0.5]),
        ("options.learning_rate = 0.5", []),
    ],
)
def test_a_rate_that_is_set_later_belongs_to_an_optimizer(store: str, found: list[float]) -> None:
    text = f"import keras\nhow = keras.optimizers.SGD()\nmodel.compile(how, 'mse')\n{store}\n"
    assert values(text, Kind.LEARNING_RATE) == {"learning-rate": found}


def test_old_lower_case_optimizers() -> None:
    text = "import keras\nopt = keras.optimizers.rmsprop(lr=0.0001, decay=1e-6)\n"
    assert values(text, Kind.OPTIMIZER, Kind.LEARNING_RATE) == {
        "optimizer": ["rmsprop"],
        "learning-rate": [0.0001],
    }


@pytest.mark.parametrize(
    "header",
    [
        "for e in range(30):",
        "for e in range(start, start + 30):",
        "for e in range(1, 30 + 1):",
        "for e in range(1, 1 + 30):",
        "for e in tqdm(range(30)):",
        "for e in trange(30):",
        "for e, _ in enumerate(range(30)):",
        "e = 0\nwhile e < 30:",
    ],
)
def test_epochs_are_counted_however_the_loop_is_written(header: str) -> None:
    text = (
        LOOP
        + f"{header}\n    for x, y in loader:\n        opt.zero_grad(); model(x).sum().backward(); opt.step()\n"
    )
    assert values(text, Kind.EPOCHS) == {"epochs": [30]}


def test_folds_around_epochs_are_no_epochs() -> None:
    text = LOOP + (
        "for fold in range(5):\n    for epoch in range(30):\n        for x, y in loader:\n"
        "            opt.zero_grad(); model(x).sum().backward(); opt.step()\n"
    )
    assert values(text, Kind.EPOCHS) == {"epochs": [30]}


STEP = "    opt.zero_grad()\n    loss = model(x).sum()\n    loss.backward()\n    opt.step()\n"

ZEROED = {
    "in the loop": "for i in range(3):\n" + STEP,
    "in another function": "def clear():\n    opt.zero_grad()\nfor i in range(3):\n    clear()\n"
    + STEP.replace("    opt.zero_grad()\n", ""),
    "set to none": "for i in range(3):\n"
    + STEP.replace("zero_grad()", "zero_grad(set_to_none=True)"),
    "by the model": "for i in range(3):\n" + STEP.replace("opt.zero_grad", "model.zero_grad"),
    "by hand": "for i in range(3):\n    for p in model.parameters(): p.grad = None\n"
    + STEP.replace("    opt.zero_grad()\n", ""),
    "in place": "for i in range(3):\n    for p in model.parameters(): p.grad.zero_()\n"
    + STEP.replace("    opt.zero_grad()\n", ""),
    "now and then": "for i in range(3):\n    model(x).sum().backward()\n    if i % 4 == 3:\n        opt.step()\n        opt.zero_grad()\n",
    "in a closure": "for i in range(3):\n    def closure():\n        opt.zero_grad()\n        l = model(x).sum()\n        l.backward()\n        return l\n    opt.step(closure)\n",
    "one step only": "loss = model(x).sum()\nloss.backward()\nopt.step()\n",
    "by a trainer": "import lightning as L\nclass M(L.LightningModule):\n    def training_step(self, b, i):\n        return model(b).sum()\nL.Trainer(max_epochs=2).fit(M())\n",
}


@pytest.mark.parametrize("text", ZEROED.values(), ids=ZEROED.keys())
def test_zero_grad_is_not_missed_where_it_is_done(text: str) -> None:
    assert Kind.ZERO_GRAD not in absent(LOOP + text)


UNZEROED = {
    "nowhere": "for i in range(3):\n" + STEP.replace("    opt.zero_grad()\n", ""),
    "before the loop": "opt.zero_grad()\nfor i in range(3):\n"
    + STEP.replace("    opt.zero_grad()\n", ""),
    "in a function of one step": "def step():\n"
    + STEP.replace("    opt.zero_grad()\n", "")
    + "for i in range(3):\n    step()\n",
}


@pytest.mark.parametrize("text", UNZEROED.values(), ids=UNZEROED.keys())
def test_a_missing_zero_grad_is_reported(text: str) -> None:
    assert Kind.ZERO_GRAD in absent(LOOP + text)


TRAIN = "for i in range(3):\n" + STEP

MODES = [
    (TRAIN + "with torch.no_grad():\n    model(x)\n", {"eval"}),
    (TRAIN + "model.eval()\nwith torch.no_grad():\n    model(x)\n", set()),
    (TRAIN + "model.train(False)\nwith torch.no_grad():\n    model(x)\n", set()),
    (
        "def run(train):\n    model.train(train)\n    with torch.set_grad_enabled(train):\n        model(x).sum().backward()\n"
        + TRAIN,
        set(),
    ),
    (
        "for e in range(3):\n    for x in data:\n        opt.zero_grad(); model(x).sum().backward(); opt.step()\n    model.eval()\n    with torch.no_grad(): model(x)\n",
        {"train"},
    ),
    ("def judged(m):\n    return [m(x) for x in held]\n" + TRAIN + "judged(model)\n", {"eval"}),
    ("def evaluate(m):\n    return len(m)\n" + TRAIN + "evaluate(model)\n", set()),
]


@pytest.mark.parametrize(("text", "missing"), MODES)
def test_modes_are_reported_when_something_depends_on_them(text: str, missing: set[str]) -> None:
    found = {
        param.id.layer for param in params(LOOP + text) if param.kind is Kind.MODE and param.absent
    }
    assert found == missing
    plain = LOOP.replace("nn.BatchNorm1d(3), ", "")
    assert not [param for param in params(plain + text) if param.kind is Kind.MODE and param.absent]


def test_residual_networks_are_read_without_false_claims() -> None:
    text = """
        import torch.nn as nn
        import torch.nn.functional as F
        class Block(nn.Module):
            def __init__(self, cin, cout, stride=1):
                super().__init__()
                self.conv1 = nn.Conv2d(cin, cout, kernel_size=3, stride=stride, padding=1, bias=False)
                self.bn1 = nn.BatchNorm2d(cout)
                self.conv2 = nn.Conv2d(cout, cout, kernel_size=3, padding=1, bias=False)
                self.bn2 = nn.BatchNorm2d(cout)
                self.shortcut = nn.Sequential()
                if stride != 1 or cin != cout:
                    self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride), nn.BatchNorm2d(cout))
            def forward(self, x):
                out = F.relu(self.bn1(self.conv1(x)))
                out = self.bn2(self.conv2(out))
                out += self.shortcut(x)
                return F.relu(out)
        class ResNet(nn.Module):
            def __init__(self, block, blocks):
                super().__init__()
                self.conv1 = nn.Conv2d(3, 64, 3)
                self.layer1 = self._make(block, 64, blocks[0], 1)
                self.linear = nn.Linear(64, 10)
            def _make(self, block, planes, count, stride):
                layers = []
                for s in [stride] + [1] * (count - 1):
                    layers.append(block(64, planes, s))
                return nn.Sequential(*layers)
            def forward(self, x):
                out = F.relu(self.conv1(x))
                out = self.layer1(out)
                return self.linear(out.mean((2, 3)))
        net = ResNet(Block, [2, 2])
    """
    missing = [
        str(param.id) for param in params(text) if param.kind is Kind.ACTIVATION and param.absent
    ]
    assert missing == ["train.py::ResNet::linear::activation"]
    assert values(text, Kind.FILTERS)["filters"].count(64) >= 1


def test_generators_and_datasets_of_tensorflow() -> None:
    text = """
        import tensorflow as tf
        train_ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(48)
        val_ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(512)
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
        model.fit(train_ds, validation_data=val_ds, epochs=3)
    """
    assert values(text, Kind.BATCH_SIZE, Kind.VALIDATION) == {
        "batch-size": [48],
        "validation": ["val_ds"],
    }


def test_hugging_face_arguments_from_a_dictionary() -> None:
    text = """
        from transformers import TrainingArguments, Trainer
        cfg = {"learning_rate": 3e-5, "num_train_epochs": 4}
        args = TrainingArguments("out", per_device_train_batch_size=8, **cfg)
        Trainer(model=m, args=args, train_dataset=d)
    """
    found = values(text, Kind.LEARNING_RATE, Kind.EPOCHS, Kind.BATCH_SIZE)
    assert found == {"learning-rate": [3e-5], "epochs": [4], "batch-size": [8]}
    assert Kind.VALIDATION in absent(text)


def test_scalers_and_divisions_are_preprocessing() -> None:
    text = "from sklearn.preprocessing import StandardScaler\nx = StandardScaler().fit_transform(x)\ny = z / 255.\n"
    assert values(text, Kind.PREPROCESSING) == {
        "preprocessing": ["StandardScaler", 255.0]
    } or values(text, Kind.PREPROCESSING) == {"preprocessing": [255.0, "StandardScaler"]}


def test_things_that_look_like_fits_and_are_none() -> None:
    text = """
        import re
        from sklearn.linear_model import LogisticRegression
        pattern = re.compile("a", re.I)
        clf = LogisticRegression()
        clf.fit(x, y)
        scaler.fit(x)
    """
    assert not params(text)
