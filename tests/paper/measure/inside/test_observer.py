"""The contract's `update`: as it is, taken out, and with permuted labels."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest

NAMES = ("observer", "predictions", "quantities")


@pytest.fixture
def observer() -> Iterator[Any]:
    """The module as it is imported in the box: next to the others of its folder."""
    sys.path.insert(0, str(files("reenact.paper.measure.inside")))
    yield importlib.import_module("observer")
    sys.path.pop(0)
    for name in NAMES:
        sys.modules.pop(name, None)


def adds(model: list[float], batch: Any) -> None:
    model.append(sum(x * y for x, y in zip(*batch, strict=True)))


def updated(observer: Any, mode: str, update: Any, batch: Any) -> tuple[Any, list[float], Any]:
    seen = observer.Observer(mode)
    module = SimpleNamespace(update=update)
    observer.observe_update(seen, module)
    model = [0.0]
    return module.update(model, batch), model, seen


BATCH = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0])


def test_it_runs_as_it_is(observer: Any) -> None:
    result, model, seen = updated(observer, "plain", adds, BATCH)
    assert (result, model, seen.updates) == (None, [0.0, 30.0], 1)


def test_taken_out_the_model_stays_and_the_answer_is_as_usual(observer: Any) -> None:
    result, model, seen = updated(observer, "no-updates", adds, BATCH)
    assert (result, model, seen.updates) == (None, [0.0], 1)
    made, model, _ = updated(observer, "no-updates", lambda model, batch: [*model, 1.0], BATCH)
    assert made is model
    both, model, _ = updated(
        observer, "no-updates", lambda model, batch: ([*model, 1.0], 0.25), BATCH
    )
    assert both[0] is model
    assert both[1] == 0.25


def test_permuted_parts_no_longer_belong_together(observer: Any) -> None:
    _, model, seen = updated(observer, "permuted-labels", adds, BATCH)
    assert seen.permuted == 1
    assert model[1] != 30.0
    assert BATCH[1] == [1.0, 2.0, 3.0, 4.0], "the program's own batch is left alone"


@pytest.mark.parametrize("batch", [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, 2.0],)])
def test_a_batch_that_cannot_be_permuted_is_reported(observer: Any, batch: Any) -> None:
    _, _, seen = updated(observer, "permuted-labels", lambda model, batch: None, batch)
    assert seen.permuted == 0
    assert "equally long parts" in seen.not_permuted
