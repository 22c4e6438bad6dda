"""Which steps are looked at, how closely, and what the trace says when detail was given up."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from reenact.probe import injected
from reenact.probe.options import PRESETS

TINY_STEP = 0.0003
"""Seconds: a step that can never pay for a look."""


@pytest.fixture
def module() -> Any:
    injected.load()
    return importlib.import_module("reenact_probe.schedule")


def walk(schedule: Any, steps: int, price: float, epoch: int | None = None) -> list[int]:
    """The steps looked at in a run whose every look costs the same; `epoch` steps make an epoch."""
    seen = []
    for step in range(steps):
        if epoch is not None and (step + 1) % epoch == 0:
            schedule.epoch_ends(step)
        if schedule.next(step) == step:
            seen.append(step)
            schedule.looked(step)
            schedule.paid(price, TINY_STEP)
    return seen


def test_both_sides_know_the_same_presets(module: Any) -> None:
    assert tuple(module.PRESETS) == PRESETS


@pytest.mark.parametrize("epoch", [None, 7, 30, 64, 1000])
@pytest.mark.parametrize(
    ("preset", "first", "share"),
    [("quick", 20, 0.02), ("normal", 50, 0.1), ("deep", 100, 1)],
)
def test_the_promised_steps_are_looked_at_wherever_epochs_end(
    module: Any, preset: str, first: int, share: float, epoch: int | None
) -> None:
    seen = walk(module.Schedule(preset), 1003, 0.0001, epoch)
    assert seen[:first] == list(range(first))
    assert (len(seen) - first) / (1003 - first) >= share


def test_every_end_of_an_epoch_is_looked_at_while_that_is_cheap(module: Any) -> None:
    schedule = module.Schedule("quick")
    seen = walk(schedule, 1000, 0.001, epoch=8)
    assert set(range(7, 1000, 8)) <= set(seen)
    assert schedule._spent < schedule.EPOCH_ENDS


def test_ends_of_epochs_lose_their_look_when_looks_cost(module: Any) -> None:
    schedule = module.Schedule("quick")
    seen = walk(schedule, 1000, 0.1, epoch=8)
    assert len(seen) <= 20 + 1 + 1000 / 50


def test_long_epochs_bring_no_more_looks(module: Any) -> None:
    plain = walk(module.Schedule("quick"), 1000, 0.0001)
    assert len(walk(module.Schedule("quick"), 1000, 0.0001, epoch=100)) <= len(plain) + 1


def test_a_tiny_program_keeps_its_layers(module: Any) -> None:
    missing: list[str] = []
    schedule = module.Schedule("normal", missing.append)
    walk(schedule, 2000, 0.004)
    assert schedule._spent < schedule.CHEAP
    assert (schedule.detail, missing) == (module.FULL, [])


def test_a_run_whose_looks_cost_much_gives_up_detail_and_says_so(module: Any) -> None:
    missing: list[str] = []
    schedule = module.Schedule("normal", missing.append)
    walk(schedule, 2000, 0.05)
    assert schedule.detail == module.NORMS
    assert schedule.cap == schedule.FLOOR
    assert [sentence.split(" not recorded")[0] for sentence in missing] == [
        "gradients of layer outputs",
        "layer outputs and gradient statistics",
    ]


def test_a_run_that_can_pay_gives_up_nothing(module: Any) -> None:
    missing: list[str] = []
    schedule = module.Schedule("normal", missing.append)
    for _ in range(500):
        schedule.paid(0.05, 0.2)
    assert (schedule.detail, schedule.cap, missing) == (
        module.FULL,
        schedule.preset.cap,
        [],
    )


def test_bare_looks_at_the_first_steps_only(module: Any) -> None:
    assert walk(module.Schedule("bare"), 500, 0.001, epoch=10) == list(range(20))
