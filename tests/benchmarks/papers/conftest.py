"""A tiny paper case in the format of the shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.sandbox.choose import choose

PAPER = """# Slow Slopes

## Abstract

We fit a line slowly.

## 1 Method

The slope is found by gradient descent with a learning rate of 0.05. We take 200 steps.
The error is the mean absolute error on 50 held-out points.

## 2 Results

| Method | Error |
| --- | --- |
| Mean | 2.5 |
| Slow Slopes | 0.07 |
"""
CASE = """title = "Slow Slopes"
expected = "reproduced"
scale = 1.0
seeds = 2
seconds = 0.1

[goal]
task = "fit a line"
method = "Slow Slopes"
metric = "error"

[metric]
name = "error"
unit = ""
higher_is_better = false

[reference]
value = 0.0705
spread = 0.01
seeds = 10

[[claims]]
metric = "error"
value = 0.07
method = "Slow Slopes"
goal = true

[[claims]]
metric = "error"
value = 2.5
method = "Mean"
"""
CRITERIA = """[[criteria]]
id = "H01"
quote = "gradient descent with a learning rate of 0.05"
parameter = "learning rate"
value = "0.05"
must = true

[[criteria]]
id = "H02"
quote = "We take 200 steps"
parameter = "gradient steps"
value = "200"
must = true

[[criteria]]
id = "H03"
quote = "The error is the mean absolute error on 50 held-out points"
parameter = "metric"
value = "mean absolute error"
must = true

[[criteria]]
id = "H04"
quote = "The error is the mean absolute error on 50 held-out points"
parameter = "held-out points"
value = "50"
must = false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of cases with one case."""
    case = tmp_path / "cases" / "slow-slopes"
    case.mkdir(parents=True)
    (case / "paper.md").write_text(PAPER)
    (case / "case.toml").write_text(CASE)
    (case / "criteria.toml").write_text(CRITERIA)
    return case.parent


@pytest.fixture
def paper(folder: Path) -> Paper:
    return read_paper(str(folder / "slow-slopes" / "paper.md"), box=choose(trust_code=True))
