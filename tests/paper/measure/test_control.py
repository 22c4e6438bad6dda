"""Which claims need a control, and what a reader gets of one."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.paper.measure.control import ControlStatus, NumberControl, Source, is_trained_for


@pytest.mark.parametrize(
    ("metric", "method", "setting", "trained"),
    [
        ("test accuracy", "Ours", "40 epochs", True),
        ("something new", "Ours", "", True),
        ("number of errors", "Ours", "", True),
        ("number of parameters", "Ours", "", False),
        ("training time", "Ours", "", False),
        ("peak memory", "Ours", "", False),
        ("FLOPs", "Ours", "", False),
        ("accuracy", "Untrained network", "", False),
        ("accuracy", "Majority class", "", False),
        ("accuracy", "Ours", "before training", False),
        ("accuracy", "Random guessing", "", False),
        ("accuracy", "Ours", "trained without pretraining", True),
        ("accuracy", "Pruning before training", "", True),
        ("accuracy", "SNIP", "pruned at initialization", True),
        ("accuracy", "Random initialization", "from scratch", True),
        ("accuracy", "Majority voting of 5 networks", "", True),
        ("accuracy", "Ours", "without training noise", True),
        ("accuracy per million parameters", "Ours", "", True),
        ("number of correct answers", "Ours", "", True),
        ("training time to reach 90 % accuracy", "Ours", "", True),
    ],
)
def test_only_what_training_makes_is_controlled(
    claim: Any, metric: str, method: str, setting: str, trained: bool
) -> None:
    assert is_trained_for(claim(metric=metric, method=method, setting=setting)) is trained


def test_every_way_in_which_a_number_is_refused_or_doubted() -> None:
    refused = {
        status for status in ControlStatus if NumberControl(status, Source.RECOMPUTED).refused
    }
    assert refused == {
        ControlStatus.SAME,
        ControlStatus.PERMUTED,
        ControlStatus.UNCHANGED,
        ControlStatus.OTHER,
        ControlStatus.SEED,
    }
    assert NumberControl(ControlStatus.PASSED, Source.NOT_CONFIRMED).refused
    assert not NumberControl(ControlStatus.PASSED, Source.AS_REPORTED).refused
    assert (
        "no control"
        in NumberControl(ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, "it failed").doubt
    )
    assert NumberControl(ControlStatus.PASSED, Source.RECOMPUTED, constant=0.5).doubt == ""
    near_chance = NumberControl(
        ControlStatus.PASSED, Source.RECOMPUTED, constant=0.5, constant_is_as_good=True
    )
    assert "a constant answer gives 0.5" in near_chance.doubt


@pytest.mark.parametrize(
    ("source", "could", "only"),
    [
        (Source.AS_REPORTED, True, True),
        (Source.AS_REPORTED, False, False),
        (Source.RECOMPUTED, True, False),
    ],
)
def test_only_reported_is_what_could_have_been_seen(
    source: Source, could: bool, only: bool
) -> None:
    assert (
        NumberControl(ControlStatus.PASSED, source, should_recompute=could).is_only_reported is only
    )


def test_one_line_for_a_reader() -> None:
    control = NumberControl(
        ControlStatus.PASSED,
        Source.RECOMPUTED,
        trained=0.0091,
        untrained=0.41,
        at="dry run",
        constant=0.4,
    )
    assert control.sentence("mse") == (
        "control: mse 0.41 without updates, 0.0091 trained (dry run); recomputed from predictions;"
        " a constant answer gives 0.4"
    )
    nothing = NumberControl(
        ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, "no step was seen"
    ).sentence("mse")
    assert nothing == (
        "control: no control possible; no step was seen; as reported by the program;"
        " no constant answer is known either"
    )
