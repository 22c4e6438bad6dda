"""Values are followed to the place that must be edited, and nowhere else."""

# ruff: noqa: E501  # programs of a few statements stand on one line
from __future__ import annotations

from textwrap import dedent

import pytest

from reenact.program.hyperparameter import Hyperparameter, Kind, Written
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of

HEAD = "import torch\nfrom torch import nn\nfrom torch.optim import SGD\np = []\n"


def rates(
    text: str, arguments: tuple[str, ...] = (), others: dict[str, str] | None = None
) -> list[Hyperparameter]:
    program = program_from_text(HEAD + dedent(text), arguments=arguments, others=others)
    return [
        param
        for param in hyperparameters_of(program)
        if param.kind is Kind.LEARNING_RATE and not param.absent
    ]


def the_rate(
    text: str, arguments: tuple[str, ...] = (), others: dict[str, str] | None = None
) -> Hyperparameter:
    found = rates(text, arguments, others)
    assert len(found) == 1, [(param.value, param.text) for param in found]
    return found[0]


ONE_TENTH = {
    "literal": "SGD(p, lr=0.1)",
    "positional": "SGD(p, 0.1)",
    "constant": "LR = 0.1\nSGD(p, lr=LR)",
    "two names": "LR = 0.1\nrate = LR\nSGD(p, lr=rate)",
    "unpacked": "lr, bs = 0.1, 32\nSGD(p, lr=lr)",
    "unpacked list": "both = [0.1, 32]\nlr, bs = both\nSGD(p, lr=lr)",
    "walrus": "SGD(p, lr=(rate := 0.1))",
    "cast": 'import os\nSGD(p, lr=float(os.environ.get("LR", "0.1")))',
    "dictionary": 'C = {"lr": 0.1}\nSGD(p, lr=C["lr"])',
    "nested dictionary": 'C = {"opt": {"lr": 0.1}}\no = C["opt"]\nSGD(p, lr=o["lr"])',
    "get": 'C = {"lr": 0.1}\nSGD(p, lr=C.get("lr", 5))',
    "get default": 'C = {}\nSGD(p, lr=C.get("lr", 0.1))',
    "key in a constant": 'K = "lr"\nC = {"lr": 0.1}\nSGD(p, lr=C[K])',
    "spread": 'B = {"lr": 0.1}\nC = {"bs": 1, **B}\nSGD(p, lr=C["lr"])',
    "spread over": 'B = {"lr": 0.5}\nC = {**B, "lr": 0.1}\nSGD(p, lr=C["lr"])',
    "keywords from a dictionary": 'C = {"lr": 0.1}\nSGD(p, **C)',
    "dict call": 'C = dict(lr=0.1)\nSGD(p, lr=C["lr"])',
    "update": 'C = {"lr": 0.5}\nC.update({"lr": 0.1})\nSGD(p, lr=C["lr"])',
    "update by keyword": 'C = {"lr": 0.5}\nC.update(lr=0.1)\nSGD(p, lr=C["lr"])',
    "merged": 'C = {"lr": 0.5}\nC |= {"lr": 0.1}\nSGD(p, lr=C["lr"])',
    "entry stored": 'C = {}\nC["lr"] = 0.1\nSGD(p, lr=C["lr"])',
    "stored twice": "from types import SimpleNamespace\nc = SimpleNamespace(lr=0.5)\nc.lr = 0.2\nc.lr = 0.1\nSGD(p, lr=c.lr)",
    "stored after the use": "from types import SimpleNamespace\nc = SimpleNamespace(lr=0.1)\nSGD(p, lr=c.lr)\nc.lr = 0.9",
    "namespace": "from types import SimpleNamespace\nc = SimpleNamespace(lr=0.1)\nSGD(p, lr=c.lr)",
    "namedtuple": 'from collections import namedtuple\nH = namedtuple("H", "lr bs")\nh = H(lr=0.1, bs=3)\nSGD(p, lr=h.lr)',
    "class attribute": "class C:\n    lr = 0.1\nSGD(p, lr=C.lr)",
    "inherited": "class B:\n    lr = 0.1\nclass C(B):\n    pass\nSGD(p, lr=C.lr)",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float = 0.1\nc = C()\nSGD(p, lr=c.lr)",
    "dataclass given": "from dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float = 0.5\nc = C(lr=0.1)\nSGD(p, lr=c.lr)",
    "dataclass by position": "from dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float = 0.5\nc = C(0.1)\nSGD(p, lr=c.lr)",
    "annotation": "from dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float = 0.1\ndef go(c: C):\n    SGD(p, lr=c.lr)",
    "property": "class C:\n    @property\n    def lr(self):\n        return 0.1\nc = C()\nSGD(p, lr=c.lr)",
    "keyword default": "def go(rate=0.1):\n    SGD(p, lr=rate)\ngo()",
    "given at the call": "def go(rate=0.5):\n    SGD(p, lr=rate)\ngo(rate=0.1)",
    "given by position": "def go(a, rate=0.5):\n    SGD(p, lr=rate)\ngo(1, 0.1)",
    "through two functions": "def inner(r):\n    SGD(p, lr=r)\ndef outer(rate):\n    inner(rate)\nouter(0.1)",
    "returned": "def config():\n    return {'lr': 0.1}\nc = config()\nSGD(p, lr=c['lr'])",
    "None default, or": "def go(rate=None):\n    rate = rate or 0.1\n    SGD(p, lr=rate)\ngo()",
    "None default, if": "def go(rate=None):\n    if rate is None:\n        rate = 0.1\n    SGD(p, lr=rate)\ngo()",
    "stored in self": "class T:\n    def __init__(self, lr=0.5):\n        self.lr = lr\n    def go(self):\n        SGD(p, lr=self.lr)\nT(lr=0.1).go()",
    "method through an attribute": "class T:\n    def fit(self, rate=0.5):\n        SGD(p, lr=rate)\nclass App:\n    def __init__(self):\n        self.t = T()\n    def go(self):\n        self.t.fit(rate=0.1)",
    "class from a table": "class Net(nn.Module):\n    def __init__(self, rate=0.5):\n        SGD(p, lr=rate)\nMODELS = {'net': Net}\nm = MODELS['net'](rate=0.1)",
    "class chosen from a table": "class Net(nn.Module):\n    def __init__(self, rate=0.5):\n        SGD(p, lr=rate)\nMODELS = {'net': Net}\ndef make(name):\n    return MODELS[name](rate=0.1)",
    "partial": "import functools\ndef build(rate=0.5):\n    SGD(p, lr=rate)\nfunctools.partial(build, rate=0.1)()",
    "named partial": "import functools\ndef build(x, rate=0.5):\n    SGD(p, lr=rate)\nb = functools.partial(build, rate=0.1)\nb(3)",
    "object moved": "class Net(nn.Module):\n    def learn(self, rate=0.5):\n        SGD(p, lr=rate)\nmodel = Net()\nmodel = model.to('cpu')\nmodel.learn(rate=0.1)",
    "again under the main guard": 'lr = 0.5\nif __name__ == "__main__":\n    lr = 0.1\n    SGD(p, lr=lr)',
    "straight run": "lr = 0.5\nprint(lr)\nlr = 0.1\nSGD(p, lr=lr)",
    "branch known": "QUICK = True\nlr = 0.1 if QUICK else 0.5\nSGD(p, lr=lr)",
    "click": 'import click\n@click.command()\n@click.option("--lr", default=0.1)\ndef main(lr):\n    SGD(p, lr=lr)',
    "typer": "import typer\ndef main(lr: float = typer.Option(0.1)):\n    SGD(p, lr=lr)\ntyper.run(main)",
    "flags": 'from absl import flags\nFLAGS = flags.FLAGS\nflags.DEFINE_float("lr", 0.1, "rate")\nSGD(p, lr=FLAGS.lr)',
}


@pytest.mark.parametrize("text", ONE_TENTH.values(), ids=ONE_TENTH.keys())
def test_one_tenth_is_found_where_it_stands(text: str) -> None:
    param = the_rate(text)
    assert param.value == 0.1
    assert param.text in ("0.1", '"0.1"')


UNDECIDED = {
    "two branches": "import random\nif random.random() > 0.5:\n    lr = 0.5\nelse:\n    lr = 0.1\nSGD(p, lr=lr)",
    "stored in a branch": "import random\nfrom types import SimpleNamespace\nc = SimpleNamespace(lr=0.5)\nif random.random() > 0.5:\n    c.lr = 0.1\nSGD(p, lr=c.lr)",
    "multiplied": "lr = 0.05\nlr *= 2\nSGD(p, lr=lr)",
    "comes back in a loop": "lr = 0.5\nfor _ in range(3):\n    SGD(p, lr=lr)\n    lr = lr / 2",
    "computed from data": "lr = len(p)\nSGD(p, lr=lr)",
}


@pytest.mark.parametrize("text", UNDECIDED.values(), ids=UNDECIDED.keys())
def test_what_is_unknown_stays_where_it_is_used(text: str) -> None:
    param = the_rate(text)
    assert isinstance(param.value, str)
    assert "SGD(p, lr=" + param.text in text


PARSER = "import argparse\np_ = argparse.ArgumentParser()\n"

COMMAND_LINES = [
    (
        'p_.add_argument("--lr", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("--lr", "0.1"),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("--lr=0.1",),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("--", "--lr", "0.1"),
        0.5,
    ),
    (
        'p_.add_argument("--learning-rate", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.learning_rate)',
        ("--learn", "0.1"),
        0.1,
    ),
    (
        'p_.add_argument("-l", "--lr", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("-l0.1",),
        0.1,
    ),
    (
        'p_.add_argument("--lr", nargs="?", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("--lr", "0.1"),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na, _ = p_.parse_known_args()\nSGD(p, lr=a.lr)',
        ("--lr", "0.1"),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na = vars(p_.parse_args())\nSGD(p, lr=a["lr"])',
        ("--lr", "0.1"),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\np_.set_defaults(lr=0.1)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        (),
        0.1,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na = p_.parse_args([])\nSGD(p, lr=a.lr)',
        ("--lr", "0.1"),
        0.5,
    ),
    (
        'p_.add_argument("--lr", default=0.5)\na = p_.parse_args(["--lr", "0.1"])\nSGD(p, lr=a.lr)',
        ("--lr", "7"),
        0.1,
    ),
    (
        's = p_.add_subparsers()\nt = s.add_parser("train")\nt.add_argument("--lr", default=0.1)\n'
        'e = s.add_parser("eval")\ne.add_argument("--lr", default=0.5)\na = p_.parse_args()\nSGD(p, lr=a.lr)',
        ("train",),
        0.1,
    ),
]


@pytest.mark.parametrize(("text", "arguments", "value"), COMMAND_LINES)
def test_the_command_line_is_read_as_argparse_reads_it(
    text: str, arguments: tuple[str, ...], value: float
) -> None:
    param = the_rate(PARSER + text, arguments)
    assert param.value == value
    assert param.written is Written.ARGPARSE


def test_both_values_are_reported_when_the_command_line_is_in_force() -> None:
    param = the_rate(
        PARSER + 'p_.add_argument("--lr", default=0.5)\nSGD(p, lr=p_.parse_args().lr)',
        ("--lr", "0.1"),
    )
    assert (param.value, param.default, param.overridden, param.text) == (
        0.1,
        0.5,
        "--lr",
        "0.5",
    )


YAML = "# rates\nbase: &base\n  lr: 0.1   # usual\ntrain:\n  <<: *base\nlist: [0.1, 3]\n"


@pytest.mark.parametrize(
    "text",
    [
        'c = yaml.safe_load(open("c.yaml"))\nSGD(p, lr=c["base"]["lr"])',
        'with open("c.yaml") as f:\n    c = yaml.load(f, Loader=yaml.SafeLoader)\nSGD(p, lr=c["base"]["lr"])',
        'c = yaml.safe_load(open("c.yaml"))\nSGD(p, lr=c["train"]["lr"])',
        'c = yaml.safe_load(open("c.yaml"))\nSGD(p, lr=float(c["list"][0]))',
        'c = yaml.safe_load(Path(__file__).with_name("c.yaml").read_text())\nSGD(p, lr=c["base"]["lr"])',
        'from types import SimpleNamespace\nc = SimpleNamespace(**yaml.safe_load(open("c.yaml"))["base"])\nSGD(p, lr=c.lr)',
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float = 0.5\n"
        'c = C(**yaml.safe_load(open("c.yaml"))["base"])\nSGD(p, lr=c.lr)',
        'def load(path):\n    return yaml.safe_load(open(path))\na = load("a.yaml")\nb = load("c.yaml")\nSGD(p, lr=b["base"]["lr"])',
    ],
)
def test_values_in_yaml_are_placed_in_the_file(text: str) -> None:
    head = "import yaml\nfrom pathlib import Path\n"
    param = the_rate(head + text, others={"c.yaml": YAML, "a.yaml": "base: {lr: 0.7}\n"})
    assert param.value == 0.1
    assert str(param.place.file) == "c.yaml"
    assert param.written is Written.DATA_FILE


def test_a_dataclass_filled_from_a_whole_file() -> None:
    text = """
        import yaml
        from dataclasses import dataclass
        @dataclass
        class Config:
            lr: float = 0.5
        c = Config(**yaml.safe_load(open("c.yaml")))
        SGD(p, lr=c.lr)
    """
    param = the_rate(text, others={"c.yaml": "lr: 0.1\n"})
    assert (param.value, str(param.place.file)) == (0.1, "c.yaml")


def test_one_constant_used_twice_is_one_hyperparameter() -> None:
    param = the_rate("LR = 0.1\nSGD(p, lr=LR)\nSGD(p, lr=LR)")
    assert len(param.uses) == 2


def test_a_function_called_twice_has_two_places() -> None:
    found = rates("def go(rate):\n    SGD(p, lr=rate)\ngo(0.1)\ngo(0.2)")
    assert [param.value for param in found] == [0.1, 0.2]


def test_values_in_other_files() -> None:
    others = {
        "config.py": "LR = 0.1\n",
        "pkg/__init__.py": "",
        "pkg/deep.py": "RATE = 0.1\n",
    }
    for text in (
        "import config\nSGD(p, lr=config.LR)",
        "import config as C\nSGD(p, lr=C.LR)",
        "from config import LR\nSGD(p, lr=LR)",
        "from config import *\nSGD(p, lr=LR)",
        "from pkg.deep import RATE as r\nSGD(p, lr=r)",
        "from pkg import deep\nSGD(p, lr=deep.RATE)",
    ):
        param = the_rate(text, others=others)
        assert param.value == 0.1
        assert str(param.place.file) in ("config.py", "pkg/deep.py")
        assert param.id.file == "train.py"


def test_a_step_that_is_called_through_a_partial_application_is_read() -> None:
    text = """
        import functools
        opt = SGD(p, lr=0.1)
        def step(x, rate):
            x.sum().backward()
            opt.step()
        train = functools.partial(step, rate=0.3)
        for epoch in range(3):
            train(torch.ones(2))
    """
    kinds = {param.kind for param in hyperparameters_of(program_from_text(HEAD + dedent(text)))}
    assert {Kind.LEARNING_RATE, Kind.ZERO_GRAD} <= kinds
