"""A value that a file of settings holds is placed there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reenact.diagnosis.judge import placed_in_settings, read_only
from reenact.faults.detector import Kind
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import detector
from reenact.probe.opened import Opened, OpenedFile
from reenact.program.program import read_program

PROGRAM = """
import pathlib
import torch
import yaml
def load():
    return type("Settings", (), yaml.safe_load(pathlib.Path(__file__).with_suffix(".yaml").read_text()))
cfg = load()
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
"""


def test_a_number_of_a_settings_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    settings = tmp_path / "train.yaml"
    settings.write_text("seed: 1\noptim:\n  lr: 9.0\n")
    evidence = read_only(read_program([str(tmp_path / "train.py")]))
    high = detector("UM005")
    found = [
        high.finding(evidence, "far", kind=kind) for kind in (Kind.LEARNING_RATE, Kind.MOMENTUM)
    ]
    assert [one.place.line for one in placed_in_settings(found, evidence) if one.place] == [9, 9]
    opened = Opened((OpenedFile(str(settings), settings.stat().st_size, 0, "x"),), ())
    moved = placed_in_settings(found, replace(evidence, opened=opened))
    assert [(str(one.place.file), one.place.line) for one in moved if one.place] == [
        ("train.yaml", 3),
        ("train.py", 9),
    ]
    settings.write_text("lr: 9.0\nlater:\n  lr: 9.0\n")
    assert placed_in_settings(found, replace(evidence, opened=opened)) == tuple(found)


def test_a_number_that_the_text_hands_on_unnamed_is_placed_where_its_key_is(
    tmp_path: Path,
) -> None:
    dynamic = "kinds[options.pop('name')](model.parameters(), **options)\n"
    data_class = "class Settings:\n    weight_decay: float = 1.0\n"
    argument = "parser.add_argument('--weight-decay', type=float, default=1.0)\n"
    settings = tmp_path / "train.yaml"
    settings.write_text("optimizer:\n  weight_decay: 1.0\n")
    opened = Opened((OpenedFile(str(settings), settings.stat().st_size, 0, "x"),), ())
    for text, files, wanted in (
        (dynamic, opened, ["train.yaml:2"]),
        (data_class + dynamic, None, ["train.py:2"]),
        (argument + dynamic, None, ["train.py:1"]),
        (data_class + argument + dynamic, None, []),
        # A variable of that name that nobody hands on by it says nothing.
        (data_class + "build(model.parameters())\n", None, []),
        ("class Settings:\n    wd: float = 1.0\n" + dynamic, None, []),
    ):
        (tmp_path / "train.py").write_text(text)
        evidence = replace(read_only(read_program([str(tmp_path / "train.py")])), opened=files)
        found = [detector("RE016").finding(evidence, "weight decay 1", study=FaultType.HWD)]
        placed = [one.place for one in placed_in_settings(found, evidence) if one.place is not None]
        assert [f"{place.file}:{place.line}" for place in placed] == wanted
