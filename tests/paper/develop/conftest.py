"""A paper about a line, its project in plain Python, and everything that development needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.context import PaperContext, project_runner
from reenact.paper.criterion import Category, Criterion, Judged, Level, Value
from reenact.paper.develop.develop import develop
from reenact.paper.develop.development import Development
from reenact.paper.develop.questions import Brief
from reenact.paper.options import PaperOptions
from reenact.paper.verify.mechanical import Earlier
from reenact.sandbox.choose import choose

CONFIG = "SIZE = 16\nRATE = 0.1\nEPOCHS = 40\n"
DATA = '''"""Points on a line."""

import random

from config import SIZE


def sample_batch(seed):
    chance = random.Random(seed)
    xs = [chance.uniform(-1.0, 1.0) for _ in range(SIZE)]
    return {"x": xs, "y": [3.0 * x + 0.5 for x in xs]}
'''
MODEL = '''"""A line that learns."""

from config import RATE


def build_model(seed):
    return {"a": 0.0, "b": 0.0}


def loss_on(model, batch):
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    return sum(error * error for error in errors) / len(errors)


def update(model, batch):
    count = len(batch["x"])
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    model["a"] -= RATE * 2 * sum(error * x for error, x in zip(errors, batch["x"])) / count
    model["b"] -= RATE * 2 * sum(errors) / count
'''
TRAIN = '''"""Trains the line and measures it."""

import argparse
import json

from config import EPOCHS
from data import sample_batch
from evaluate import evaluate
from model import build_model, update

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
model = build_model(args.seed)
epochs = 2 if args.dry_run else max(1, round(EPOCHS * args.scale))
for epoch in range(epochs):
    update(model, sample_batch(100 * args.seed + epoch))
with open("metrics.json", "w") as file:
    json.dump(evaluate(model), file)
'''
EVALUATE = '''"""The error on points that were not trained on."""

from data import sample_batch
from model import loss_on


def evaluate(model):
    return {"mse": loss_on(model, sample_batch(99))}
'''
FILES = {
    "config.py": CONFIG,
    "data.py": DATA,
    "model.py": MODEL,
    "train.py": TRAIN,
    "evaluate.py": EVALUATE,
    "reproduce.sh": "python train.py --seed 0\n",
    "README.md": "# A line\n",
    "requirements.txt": "\n",
}
LEARNT = {
    "summary": "Fit a line by gradient descent.",
    "decisions": ["One batch an epoch."],
}
NOTHING: dict[str, Any] = {}


def criterion(name: str, fact: str, weight: int = 1) -> Criterion:
    return Criterion(
        name,
        fact,
        "training",
        "quote",
        ("1:1.1",),
        Level.CONFIGURATION,
        Category.SETUP,
        weight,
    )


CRITERIA = (
    criterion("F1", "The rate is 0.1."),
    criterion("F2", "There are 50 epochs.", 3),
)


def files(*names: str, **changed: str) -> dict[str, Any]:
    """An answer with these files of the project, some of them otherwise."""
    texts = {
        **FILES,
        **{name.replace("_py", ".py"): text for name, text in changed.items()},
    }
    return {"files": [{"path": name, "text": texts[name]} for name in names]}


def good() -> dict[str, Any]:
    """Answers that write the project at once."""
    return {
        "begin": LEARNT,
        "data/write": files("config.py", "data.py"),
        "data/learn": LEARNT,
        "method/write": files("model.py"),
        "method/learn": LEARNT,
        "experiment/write": files(
            "train.py", "evaluate.py", "reproduce.sh", "README.md", "requirements.txt"
        ),
        "refactor/refactor": NOTHING,
    }


def verify_line(project: Project, scope: Any, earlier: Earlier | None) -> tuple[Judged, ...]:
    """Looks for the two settings."""
    config = project.files["config.py"]
    wanted = {"F1": "RATE = 0.1\n", "F2": "EPOCHS = 50\n"}
    return tuple(
        Judged(
            name,
            Value.PASS if text in config else Value.FAIL,
            "check",
            f"config.py: {text in config}",
        )
        for name, text in wanted.items()
    )


@dataclass
class Bench:
    """Where development happens."""

    journal: Journal
    folder: Path
    models: list[Scripted] = field(default_factory=list)
    criteria: tuple[Criterion, ...] = CRITERIA

    def context(self, script: Any = None, *, out: bool = False, **given: Any) -> PaperContext:
        model = Scripted(script or {})
        self.models.append(model)
        options = PaperOptions(**{"wall_s": 60.0, "tries": 4, "rounds": 2, **given})
        runner = project_runner(options, choose(trust_code=True))
        return PaperContext(
            model,
            runner,
            options,
            self.journal,
            self.folder,
            self.folder / "out" if out else None,
        )

    def develop(
        self, answers: Mapping[str, Any], *, out: bool = False, **options: Any
    ) -> Development:
        script = {f"paper/develop/{place}": answer for place, answer in answers.items()}
        context = self.context(script, out=out, **options)
        brief = Brief("A line is fitted.", "Fit the line.", criteria=self.criteria)
        with self.journal.run(
            pipeline="paper", request={"options": options}, argv=(), what="a line"
        ) as run:
            return develop(brief, context, run, verify_line)

    def asked(self, word: str) -> list[str]:
        """What the last model was asked at steps with this word."""
        return [call.as_text() for call in self.models[-1].calls if word in call.step]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(Journal.in_memory(), tmp_path)


@pytest.fixture
def answers() -> Callable[[], dict[str, Any]]:
    return good


@pytest.fixture
def given() -> Callable[..., dict[str, Any]]:
    return files


@pytest.fixture
def line() -> Project:
    return Project(FILES)


@pytest.fixture
def verify() -> Callable[..., tuple[Judged, ...]]:
    return verify_line
