"""What a program reads in a project, and what it concludes from that."""

from __future__ import annotations

import pytest

from reenact.codegen.project import Project
from reenact.paper.criterion import CriterionCheck, Kind, Value
from reenact.paper.verify.mechanical import looked_up, read_project
from reenact.paper.verify.settings import settings_of
from reenact.paper.verify.verify import code_lines

MODEL = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 3))

    def forward(self, x):
        return self.net(x)
"""
TRAIN = """import torch
import yaml
from model import Net

config = yaml.safe_load(open("config.yaml"))
model = Net(config["width"])
optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
loss_fn = torch.nn.CrossEntropyLoss()


def fit(loader, lr=1.0):
    for epoch in range(config["epochs"]):
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
"""
CONFIG = "lr: 5e-2\nepochs: 100\nwidth: 64\nnoise: {rate: 0.2}\nbetas: [0.9, 0.999]\n"
CODE = read_project(Project({"train.py": TRAIN, "model.py": MODEL, "config.yaml": CONFIG}))


@pytest.mark.parametrize(
    ("kind", "subject", "value", "verdict"),
    [
        (Kind.PARAMETER, "learning rate", "0.05", Value.PASS),
        (Kind.PARAMETER, "initial learning rate", r"5 \times 10^{-2}", Value.PASS),
        (Kind.PARAMETER, "learning rate", "0.3", Value.FAIL),
        (Kind.PARAMETER, "learning rate", "0.9", None),
        (Kind.PARAMETER, "learning rate of the teacher", "0.05", None),
        (Kind.PARAMETER, "momentum", "0.9", Value.PASS),
        (Kind.PARAMETER, "number of epochs", "100", Value.PASS),
        (Kind.PARAMETER, "dropout probability", "10%", Value.PASS),
        (Kind.PARAMETER, "gamma ray", "7", None),
        (Kind.PARAMETER, "betas", "0.9, 0.999", None),
        (Kind.LAYER, "hidden units", "64", Value.PASS),
        (Kind.LAYER, "hidden units", "128", Value.FAIL),
        (Kind.LAYER, "activation", "ReLU", Value.PASS),
        (Kind.LAYER, "normalisation", "batch normalization", None),
        (Kind.OPTIMISER, "optimiser", "stochastic gradient descent", Value.PASS),
        (Kind.OPTIMISER, "optimiser", "Adam", Value.FAIL),
        (Kind.OPTIMISER, "optimiser", "our own", None),
        (Kind.LOSS, "loss", "cross-entropy", Value.PASS),
        (Kind.LOSS, "loss", "mean squared error", None),
        (Kind.SCHEDULE, "schedule", "cosine", None),
        (Kind.SHAPE, "input", "(32, 2)", None),
    ],
)
def test_a_check_against_the_code(
    kind: Kind, subject: str, value: str, verdict: Value | None
) -> None:
    found = looked_up(CriterionCheck(kind, subject, value), CODE)
    assert found.value is verdict, found
    assert found.seen
    assert (verdict is None) or found.lines


def test_values_followed_to_the_training_count_before_names() -> None:
    found = looked_up(CriterionCheck(Kind.PARAMETER, "learning rate", "0.05"), CODE)
    assert [str(line) for line in found.lines] == ["config.yaml:1"], (
        "the default of fit() is not in force"
    )


def test_several_values_under_one_name_are_for_the_judge() -> None:
    code = read_project(
        Project({"a.py": "tau = 0.5\n", "b.py": "def f(tau=2.0):\n    return tau\n"})
    )
    found = looked_up(CriterionCheck(Kind.PARAMETER, "temperature", "0.5"), code)
    assert found.value is None
    assert found.seen == "temperature has several values: a.py:1: tau = 0.5; b.py:1: tau = 2.0"


def test_two_optimisers_are_for_the_judge() -> None:
    code = read_project(
        Project({"a.py": "import torch\ntorch.optim.SGD([])\ntorch.optim.Adam([])\n"})
    )
    found = looked_up(CriterionCheck(Kind.OPTIMISER, "optimiser", "Adam"), code)
    assert (found.value, found.seen) == (None, "Adam stands in the code next to SGD.")


def test_a_schedule_of_ones_own_is_for_the_judge() -> None:
    other = "from torch.optim import lr_scheduler as s\ns.StepLR(o, 10)\n"
    cosine = CriterionCheck(Kind.SCHEDULE, "schedule", "cosine annealing")
    assert looked_up(cosine, read_project(Project({"a.py": other}))).value is Value.FAIL
    own = other + "s.LambdaLR(o, f)\n"
    assert looked_up(cosine, read_project(Project({"a.py": own}))).value is None


def test_named_values_of_every_kind_of_file() -> None:
    project = Project(
        {
            "a.py": (
                "import argparse\nRATE = 10 ** -3\nSIZES = (64, 64)\nself.depth = -2\ncfg = "
                "{'beta': 1 / 4}\n"
                "p = argparse.ArgumentParser()\np.add_argument('-n', '--num-epochs', type=int, "
                "default=7)\ndef f(a, b=2, *, c=3):\n    pass\nclass Config:\n    tau: float = "
                "0.5\nfor epoch in range(20):\n    pass\ncfg['kappa'] = 9\nloader = "
                "DataLoader(data, 16)\nhuge = 9 ** 9 ** 9\n"
            ),
            "b.json": '{"model": {"width": 8}, "list": [1, {"deep": 4}]}',
            "c.toml": "[x]\nalpha = 0.25  # why\n",
            "run.sh": "# python train.py --skipped 1\npython train.py --lr 0.1 --mode=fast\n",
            "broken.py": "def (",
            "broken.yaml": "a: [",
            "README.md": "lr: 5",
        }
    )
    found = {one.name: one.value for one in settings_of(project)}
    wanted = {
        "RATE": 0.001,
        "SIZES": (64, 64),
        "depth": -2,
        "beta": 0.25,
        "num-epochs": 7,
        "b": 2,
        "c": 3,
        "tau": 0.5,
        "epochs": 20,
        "kappa": 9,
        "batch size": 16,
        "width": 8,
        "list": (1,),
        "deep": 4,
        "alpha": 0.25,
        "lr": 0.1,
        "mode": "fast",
    }
    assert {name: found.get(name) for name in wanted} == wanted
    assert "skipped" not in found
    assert "huge" not in found


def test_what_a_dry_run_shortens_is_no_setting() -> None:
    text = (
        "epochs = 80\nif args.dry_run:\n    epochs = 1\nelse:\n    tau = 2\nsteps = 3 if dry_run "
        "else 500\n"
    )
    found = [(one.name, one.value) for one in settings_of(Project({"a.py": text}))]
    assert found == [("epochs", 80), ("tau", 2), ("steps", 500)]


def test_a_value_that_nothing_reads_is_no_pass() -> None:
    check = CriterionCheck(Kind.PARAMETER, "temperature", "0.5")
    unread = looked_up(
        check,
        read_project(Project({"config.yaml": "tau: 0.5\n", "a.py": "tau = 0.5\n"})),
    )
    assert unread.value is None
    assert "nothing seems to read it" in unread.seen
    for use in (
        "print(config['tau'])",
        "print(config.tau)",
        "run(**config)",
        "f(tau=0.5)",
        "config.get('tau')",
    ):
        code = read_project(Project({"config.yaml": "tau: 0.5\n", "a.py": f"{use}\n"}))
        assert looked_up(check, code).value is Value.PASS, use


@pytest.mark.parametrize("terms", [400, 900, 3000, 30000])
def test_endless_sums_do_no_harm(terms: int) -> None:
    code = read_project(
        Project(
            {
                "train.py": f"huge = {' + '.join(['1'] * terms)}\n",
                "b.py": "use(lr=0.1)\n",
            }
        )
    )
    assert (
        looked_up(CriterionCheck(Kind.PARAMETER, "learning rate", "0.1"), code).value is Value.PASS
    )


def test_one_seed_is_not_the_number_of_seeds() -> None:
    code = read_project(Project({"a.py": "seed = 0\n"}))
    assert looked_up(CriterionCheck(Kind.PARAMETER, "seeds", "10"), code).value is None


def test_lines_that_are_code() -> None:
    text = (
        '"""Doc\nstring."""\n\nx = 1  # note\n# comment\n\n\ndef f():\n    "doc"\n    return '
        '"""a\nb"""\n'
    )
    assert code_lines("a.py", text) == {4, 8, 10, 11}
    assert code_lines("broken.py", "def (\n# c\nx") == {1, 3}
    assert code_lines("config.yaml", "# c\n\nlr: 1\n") == {3}
    assert code_lines("README.md", "lr is 1") == frozenset()


METRIC = """import torch


def metric_classifier(features):
    return torch.utils.data.DataLoader(features, batch_size=64)
"""
TABLES = "teacher: {lr: 0.1}\nstudent: {lr: 0.01}\n"


@pytest.mark.parametrize(
    ("subject", "value", "scope", "verdict"),
    [
        ("batch size", "64", "training", None),
        ("batch size", "32", "training", None),
        ("batch size", "64", "the classifier of the metric", Value.PASS),
        ("batch size", "32", "the classifier of the metric", Value.FAIL),
    ],
)
def test_a_setting_counts_only_where_its_scope_is(
    subject: str, value: str, scope: str, verdict: Value | None
) -> None:
    code = read_project(Project({"score.py": METRIC}))
    found = looked_up(CriterionCheck(Kind.PARAMETER, subject, value), code, scope)
    assert found.value is verdict
    assert found.lines, "the judge is shown where it stands"


def test_of_two_settings_of_a_kind_the_judge_decides() -> None:
    code = read_project(Project({"config.yaml": TABLES, "a.py": "use(**config)\n"}))
    for scope in ("training", "training of the teacher", "training of the student"):
        found = looked_up(CriterionCheck(Kind.PARAMETER, "learning rate", "0.1"), code, scope)
        assert found.value is None
        assert "several values" in found.seen


def test_the_training_of_one_network_is_not_that_of_another() -> None:
    code = read_project(Project({"config.yaml": "student: {lr: 0.1}\n", "a.py": "use(**config)\n"}))
    rate = CriterionCheck(Kind.PARAMETER, "learning rate", "0.1")
    assert looked_up(rate, code, "training of the student").value is Value.PASS
    assert looked_up(rate, code, "training of the teacher").value is None
