"""`reenact mutate` as a reader uses it: the list of operators, the list of mutants, their diffs."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from reenact.cli.training import mutate

SCRIPT = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for epoch in range(30):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
"""


def printed(*words: str) -> str:
    answer = CliRunner().invoke(mutate, list(words), standalone_mode=False)
    assert answer.exception is None, answer.exception
    return answer.output


def test_the_operators_are_listed_with_what_they_cover() -> None:
    assert "they cover 16 of DeepCrime's 24" in printed("--operators")


def test_mutants_are_listed_and_their_diffs_written(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    words = (
        "--operator",
        "HLR",
        "--operator",
        "epochs",
        "--most",
        "2",
        "--out",
        str(tmp_path / "out"),
    )
    found = json.loads(printed(*words, "--output-format", "json", str(script)))
    assert [one["operator"] for one in found["data"]] == ["learning-rate"] * 2 + ["epochs"] * 2
    written = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in written][::3] == [
        "001-learning-rate.diff",
        "004-epochs.diff",
    ]
    assert "-optimizer = torch.optim.Adam(model.parameters(), lr=0.01)" in written[0].read_text()
    assert script.read_text() == SCRIPT


def test_without_a_program_there_is_nothing_to_do() -> None:
    answer = CliRunner().invoke(mutate, [])
    assert answer.exit_code == 2
    assert "Name a training program" in answer.output
