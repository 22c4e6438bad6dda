"""Cores and devices, as a program can see them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.probe import machine as seen
from reenact.probe.machine import machine


def test_cores_are_those_of_this_process() -> None:
    assert machine()["usable cores"] == str(len(os.sched_getaffinity(0)))
    assert machine() == machine()


def test_cards_are_named_as_their_driver_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, devices = tmp_path / "nvidia", tmp_path / "dev"
    card = driver / "gpus" / "0000:01:00.0"
    card.mkdir(parents=True)
    devices.mkdir()
    (card / "information").write_text("Model: \t\t NVIDIA H200\nIRQ:   42\n")
    (devices / "nvidia0").touch()
    (devices / "null").touch()
    monkeypatch.setattr(seen, "_DRIVER", driver)
    monkeypatch.setattr(seen, "_DEVICES", devices)
    assert machine()["devices"] == "NVIDIA H200 nvidia0"


def test_the_share_that_a_container_gets_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen, "_GROUPS", tmp_path)
    before = machine()
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert machine()["share of the cores"].split() == ["50000", "100000"]
    assert machine() != before
