"""Other tools beside the same programs: how one is attached, what counts of its findings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.dataset.kinds import categories
from benchmarks.dataset.others import (
    ATTACH,
    OtherFinding,
    OtherResult,
    Tool,
    others_card,
    tools,
)
from benchmarks.dataset.splits import split_named
from benchmarks.dataset.training import Training, Truth

pytestmark = pytest.mark.release

TOOL = Tool(
    "a-tool",
    "",
    "a_tool",
    ("WARN", "FAIL"),
    ("FAIL",),
    ("slow",),
    {"rate": ("learning-rate-too-high",)},
)
FAULTY = Training(
    "f", "f.py", sound=False, what="x", fault=(Truth("learning-rate-too-high", (1,)),)
)
SOUND = Training("s", "s.py", sound=True, what="x")
SPLIT = split_named("blind-6")
PROGRAM = """
import torch
torch.manual_seed(0)
body, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
model = torch.nn.Sequential(body, torch.nn.ReLU(), head)
other = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = torch.nn.CrossEntropyLoss()(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long))
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}")
"""
STAND_IN = """
from enum import Enum
from types import SimpleNamespace
Status = Enum("Status", {"PASS": "PASS", "FAIL": "FAIL"})
def check_model(model, inputs, optimizer, targets=None, loss_fn=None):
    value = float(loss_fn(model(*inputs), targets))
    text = f"{len(list(model.modules()))} modules, {tuple(inputs[0].shape)}, {value > 0}"
    results = [SimpleNamespace(name="one", status=Status.FAIL, message=text),
               SimpleNamespace(name="two", status=Status.PASS, message="")]
    return SimpleNamespace(results=results)
"""


def reported(case: Training, *findings: tuple[str, str], attached: bool = True) -> OtherResult:
    return OtherResult(
        case.id,
        attached,
        "",
        tuple(OtherFinding(rule, level, "") for rule, level in findings),
    )


def test_the_tools_speak_of_faults_that_there_are() -> None:
    known = set(categories())
    for tool in tools():
        assert {name for names in tool.says.values() for name in names} <= known
        assert set(tool.errors) <= set(tool.counted)
        assert not set(tool.left_out) & set(tool.says)


@pytest.mark.parametrize(
    ("faulty", "sound", "named", "alarms"),
    [
        ([("rate", "WARN")], [], "1 of 1", "0 of 1"),
        ([("rate", "FAIL")], [("rate", "WARN")], "1 of 1", "1 of 1"),
        (
            [("rate", "INFO"), ("slow", "FAIL")],
            [("slow", "FAIL"), ("other", "INFO")],
            "0 of 1",
            "0 of 1",
        ),
        ([("other", "FAIL")], [("other", "FAIL")], "0 of 1", "1 of 1"),
    ],
)
def test_what_counts(
    faulty: list[tuple[str, str]], sound: list[tuple[str, str]], named: str, alarms: str
) -> None:
    results = {"f": reported(FAULTY, *faulty), "s": reported(SOUND, *sound)}
    card = others_card(SPLIT, [FAULTY, SOUND], [(TOOL, results)], ["b-tool"])
    assert f"{card.measured['a-tool_named']:count}" == named
    assert f"{card.measured['a-tool_alarms']:count}" == alarms
    assert card.figures.endswith("not installed: b-tool")


def test_a_program_to_which_it_cannot_be_attached_does_not_count() -> None:
    results = {
        "f": reported(FAULTY, attached=False),
        "s": reported(SOUND, attached=False),
    }
    card = others_card(SPLIT, [FAULTY, SOUND], [(TOOL, results)], [])
    assert card.measured["a-tool_named"].whole == 0
    assert card.tables[2].rows[0][2] == "not attached"


def test_a_tool_gets_the_model_its_batch_and_its_loss_and_the_training_stays_as_it_is(
    tmp_path: Path, warm_interpreter: str
) -> None:
    (tmp_path / "torchtest2.py").write_text(STAND_IN)
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    out = tmp_path / "found.json"
    with_it = {
        "PYTHONPATH": f"{ATTACH}:{tmp_path}",
        "REENACT_OTHER_TOOL": "torchtest2",
        "REENACT_OTHER_OUT": str(out),
    }
    printed = [
        subprocess.run(
            [python, program],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        # A tool is attached where torch is imported: that needs an interpreter that starts.
        for python, more in ((warm_interpreter, {}), (sys.executable, with_it))
    ]
    assert printed[0] == printed[1]
    assert json.loads(out.read_text()) == {
        "attached": True,
        "error": "",
        "findings": [{"rule": "one", "level": "FAIL", "text": "4 modules, (5, 4), True"}],
    }
