"""Values of an optimizer that no line hands over by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.program.program import read_program
from reenact.program.training.written import written_at

TEXT = """import hydra
from hydra.utils import instantiate

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    optimizer = instantiate(cfg.optimizer, params=model.parameters())
    SETTINGS
main()
"""
NAMES = ("weight_decay", "wd")


@pytest.mark.parametrize(
    ("config", "settings", "found"),
    [
        ("optimizer:\n  lr: 0.1\n  weight_decay: 0.5\n", "", "config.yaml:3"),
        ("optimizer:\n  wd: 5e-1\n", "", "config.yaml:2"),
        ("optimizer:\n  wd: 0.5\nother:\n  wd: 0.5\n", "", None),
        ("optimizer:\n  wd: 0.1\n", "", None),
        ("lr: 1\n", "settings = {'weight_decay': 0.5}", "train.py:7"),
        ("lr: 1\n", "settings = dict(weight_decay=0.5)", "train.py:7"),
        ("lr: 1\n", "weight_decay: float = 0.5", "train.py:7"),
        ("lr: 1\n", "WD = 0.5; settings = dict(weight_decay=WD)", "train.py:7"),
        ("lr: 1\n", "WD = 0.4; settings = dict(weight_decay=WD)", None),
    ],
)
def test_the_one_place_that_gives_the_value(
    tmp_path: Path, config: str, settings: str, found: str | None
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text(config)
    (tmp_path / "train.py").write_text(TEXT.replace("SETTINGS", settings))
    place = written_at(read_program(("train.py",), tmp_path), NAMES, 0.5)
    assert (f"{place.file.name}:{place.line}" if place is not None else None) == found
    assert written_at(read_program(("train.py",), tmp_path), NAMES, None) is None
