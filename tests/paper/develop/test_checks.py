"""Sampled tests and dry runs of real projects in real boxes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.paper.develop.checks import Checked, Stage, checked

Check = Callable[..., Checked]
TORCH = """import torch
from torch import nn

SHAPES = {"": (None, 1), "0": (16, WIDTH)}


def build_model(seed):
    return nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1))


def loss_on(model, batch):
    x, y = torch.tensor(batch["x"])[:, None], torch.tensor(batch["y"])[:, None]
    return ((model(x) - y) ** 2).mean()
"""


@pytest.fixture
def look(bench: Any) -> Check:
    def make(project: Project, stage: Stage = Stage.EXPERIMENT, **options: Any) -> Checked:
        with bench.journal.run(pipeline="paper", request={}, argv=(), what="x", fresh=True) as run:
            context = bench.context(**options)
            return checked(stage, project, context.runner, context.options.scale, run)

    return make


def test_the_line_passes_and_facts_are_learnt(look: Check, line: Project) -> None:
    found = look(line)
    assert found.problems == ()
    assert "batch['x']: float of shape (16,), from -0.499 to 0.816" in found.facts
    assert "The loss falls when one mini-batch is repeated." in found.facts
    assert any("leaves the metrics mse" in fact for fact in found.facts)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("data.py", "random.Random(seed)", "random", "another batch when called again"),
        ("data.py", "3.0 * x + 0.5", "float('nan')", "16 of 16 values are not finite"),
        (
            "data.py",
            '"x": xs',
            '"x": xs[100]',
            "data.py:11: IndexError: list index out of range",
        ),
        ("model.py", "RATE * 2", "-RATE * 2", "does not fall"),
        ("model.py", "return sum(error", "return 1e400 * sum(error", "inf, not finite"),
        ("train.py", "json.dump(evaluate(model), file)", "pass", "Expecting value"),
        ("train.py", '"metrics.json"', '"other.json"', "left no metrics.json"),
        (
            "train.py",
            "evaluate(model), file",
            '{"mse": float("nan")}, file',
            "NaN is not a JSON number",
        ),
        ("train.py", "evaluate(model), file", '{"mse": "low"}, file', "mse='low'"),
        (
            "train.py",
            "model = build_model",
            "raise SystemExit(3)\nmodel = build_model",
            "exit code 3",
        ),
        (
            "evaluate.py",
            "batch(99)",
            "batch(99)['z']",
            "evaluate.py:8: It ended with exit code 1. KeyError",
        ),
    ],
)
def test_each_defect_is_seen_by_running(
    look: Check, line: Project, name: str, old: str, new: str, words: str
) -> None:
    assert old in line.files[name]
    found = look(line.changed({name: line.files[name].replace(old, new)}))
    assert words in str(found.problems[0]), found.problems


def test_a_method_without_steps_is_judged_by_the_dry_run(look: Check, line: Project) -> None:
    plain = line.files["model.py"].replace("loss_on", "error_on").replace("update", "fit_once")
    uses = {name: line.files[name].replace("loss_on", "error_on") for name in ("evaluate.py",)}
    train = line.files["train.py"].replace("update", "fit_once")
    found = look(line.changed({"model.py": plain, "train.py": train, **uses}))
    assert found.problems == ()
    assert any("the dry run judges" in fact for fact in found.facts)


def test_a_stand_in_is_declared_and_the_users_folder_is_seen(
    look: Check, line: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "points.txt").write_text("1.0 2.0\n")
    reads = (
        "import os\nfrom pathlib import Path\nSTAND_IN = 'drawn, not measured'\n\n\ndef "
        "sample_batch(seed):\n    place = Path(os.environ['DATA_DIR']) / 'points.txt'\n    "
        "return [float(x) for x in place.read_text().split()]\n"
    )
    found = look(Project({"config.py": "A = 1\n", "data.py": reads}), Stage.DATA, data=folder)
    assert found.problems == ()
    assert found.stand_in == "drawn, not measured"
    assert "batch: float of shape (2,), from 1 to 2" in found.facts


@pytest.mark.release
def test_a_torch_model_is_trained_by_our_own_rule_and_its_shapes_are_compared(
    look: Check, line: Project
) -> None:
    early = {name: line.files[name] for name in ("config.py", "data.py")}
    good, bad = (
        Project({**early, "model.py": TORCH.replace("WIDTH", width)}) for width in ("4", "5")
    )
    found = look(good, Stage.METHOD, wall_s=300.0)
    assert found.problems == (), found.problems
    assert "The model has 13 trainable parameters in 4 tensors." in found.facts
    assert "the model gives shape (16, 1), as declared." in found.facts
    assert "0 gives shape (16, 4); declared is (16, 5)." in str(
        look(bad, Stage.METHOD, wall_s=300.0).problems[0]
    )
