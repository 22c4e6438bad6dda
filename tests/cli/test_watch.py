from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest

from reenact.report.views.trace import sparkline
from warm import warm_reenact

pytestmark = pytest.mark.usefixtures("warm_python")

PROGRAM = """
import sys
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 3)
for epoch in range(30):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    optimizer.step()
print("done", sys.argv[1:])
sys.exit(7)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "train.py").write_text(PROGRAM)
    return folder


def reenact(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_reenact(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_watch_keeps_exit_code_output_and_arguments_and_stores_the_trace(
    folder: Path,
) -> None:
    ended = reenact(folder, "watch", "train.py", "--flag", "3")
    assert ended.returncode == 7
    assert ended.stdout.splitlines()[0] == "done ['--flag', '3']"
    assert "30 in " in ended.stdout or "30\n" in ended.stdout
    assert "train.py:7:23" in ended.stdout, "the line that made the first layer"
    assert (folder / ".reenact" / "traces" / "train-1" / "header.json").is_file()


def test_watch_as_json_leaves_stdout_to_the_result(folder: Path) -> None:
    ended = reenact(folder, "watch", "--output-format", "json", "--out", "trace", "train.py")
    document = json.loads(ended.stdout)
    assert ended.returncode == 7
    assert "done" in ended.stderr
    assert document["data"]["steps"] == 30
    assert document["data"]["outcome"] == "exited"
    assert document["data"]["losses"][0] > document["data"]["losses"][-1]


def test_graph_ends_the_program_after_the_first_steps(folder: Path) -> None:
    ended = reenact(folder, "graph", "--output-format", "json", "train.py")
    assert ended.returncode == 0, ended.stderr
    graph = json.loads(ended.stdout)["data"]
    assert "done" not in ended.stderr
    assert [layer["type"] for layer in graph["layers"]] == ["Linear", "Tanh", "Linear"]
    assert graph["task"] == "regression"
    assert graph["layers"][0]["place"] == "train.py:7:23"


@pytest.mark.parametrize("verb", ["watch", "graph", "params"])
def test_a_program_that_is_not_there_is_a_sentence(folder: Path, verb: str) -> None:
    ended = reenact(folder, verb, "nowhere.py")
    assert ended.returncode == 2
    assert "nowhere.py" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_graph_of_a_program_without_training_is_inconclusive(folder: Path) -> None:
    (folder / "idle.py").write_text("print('nothing to train')\n")
    ended = reenact(folder, "graph", "idle.py")
    assert ended.returncode == 3
    assert "No model was seen in training" in ended.stderr


def test_a_curve_shows_rise_fall_and_what_is_no_number() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([1.0, 1.0, 1.0]) == "▁▁▁"
    assert sparkline([1.0, math.inf, 2.0, math.nan]) == "▁!█!"
    assert len(sparkline([float(i) for i in range(1000)])) == 36
    assert sparkline([math.nan]) == "not a number"


def test_a_curve_over_decades_is_logarithmic() -> None:
    assert sparkline([1e-4, 1e-2, 1.0, 1e2]) == "▁▃▆█"


def test_two_dashes_may_stand_before_the_arguments(folder: Path) -> None:
    ended = reenact(folder, "watch", "--out", "dashes", "train.py", "--", "--flag", "3")
    assert ended.stdout.splitlines()[0] == "done ['--flag', '3']"


@pytest.mark.usefixtures("cold_python")
def test_a_program_from_elsewhere_is_watched_in_the_sandbox(folder: Path) -> None:
    box = folder / "elsewhere"
    box.mkdir()
    (box / "train.py").write_text(PROGRAM)
    ended = reenact(
        box,
        "watch",
        "--sandbox",
        "--out",
        str(folder / "boxed"),
        "--output-format",
        "json",
        "train.py",
    )
    assert ended.returncode == 7, ended.stderr
    assert "done []" in ended.stderr
    assert json.loads(ended.stdout)["data"]["steps"] == 30
    assert sorted(path.name for path in box.iterdir()) == ["train.py"]


def test_the_tier_that_confines_nothing_is_refused_until_the_user_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_SANDBOX", "none")
    ended = reenact(folder, "watch", "--sandbox", "--out", "untrusted", "train.py")
    assert ended.returncode == 2
    assert "--trust-code" in ended.stderr
