"""A project whose metric is known, and what measuring needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.context import PaperContext, project_runner
from reenact.paper.options import PaperOptions
from reenact.paper.review.claims import PaperClaim
from reenact.sandbox.choose import choose

MODEL = """def update(model, batch):
    model["skill"] = 1.0 if batch["x"] == batch["y"] else 0.5
"""
TRAIN = """import json
import sys

from model import update

seed = int(sys.argv[2])
scale = float(sys.argv[-1]) if "--scale" in sys.argv else 1.0
print("accuracy 1.0, believe me")
model = {"skill": 0.1}
update(model, {"x": [*range(8)], "y": [*range(8)]})
accuracy = (90 + seed) / 100 * scale * model["skill"]
json.dump({"accuracy": accuracy, "steps": 7}, open("metrics.json", "w"))
"""


def make_claim(name: str = "C1", value: float = 91.0, unit: str = "%", **more: Any) -> PaperClaim:
    stated: dict[str, Any] = {
        "metric": "accuracy",
        "higher_is_better": True,
        "method": "Ours",
        "dataset": "Blobs",
        "setting": "40 epochs",
        "spread": None,
        "place": "4:2",
        "quote": "91.0",
    }
    return PaperClaim(id=name, value=value, unit=unit, **{**stated, **more})


@pytest.fixture
def claim() -> Callable[..., PaperClaim]:
    return make_claim


@pytest.fixture
def project() -> Project:
    return Project({"train.py": TRAIN, "model.py": MODEL, "metrics.json": '{"accuracy": 1.0}'})


@pytest.fixture
def context(journal: Journal, traces: Path) -> Callable[..., PaperContext]:
    def make(script: Any = None, **given: Any) -> PaperContext:
        options = PaperOptions(**{"run_wall_s": 60.0, **given})
        runner = project_runner(options, choose(trust_code=True))
        return PaperContext(Scripted(script or {}), runner, options, journal, traces)

    return make


@pytest.fixture
def journal() -> Journal:
    return Journal.in_memory()


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    return tmp_path / "traces"
