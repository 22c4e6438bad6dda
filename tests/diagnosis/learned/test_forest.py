"""The exported forest says what scikit-learn's says, and its file holds no pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.detector.dataset import Dataset
from benchmarks.detector.fit import CLASSIFIERS, SHIPPED, probabilities
from benchmarks.detector.fit import fitted as learned_from
from benchmarks.detector.judgement import Statement, judged
from benchmarks.detector.learn import Learned
from benchmarks.detector.page import page
from benchmarks.detector.publish import SUREST, exported
from benchmarks.detector.scores import UNION, judge, measure
from reenact.diagnosis.learned.findings import CLASSES, MODEL, Forest, load
from reenact.errors import InputError
from reenact.types import tell_nobody

NAMES = tuple(f"f{number}" for number in range(12))


@pytest.fixture(scope="module")
def data() -> Dataset:
    chance = np.random.default_rng(0)
    x = chance.normal(0, 1, (160, 12)).astype(np.float32)
    y = np.stack([x[:, 0] > 0.3, x[:, 1] + x[:, 2] > 0.5, x[:, 3] < -0.8], axis=1).astype(np.int64)
    bases = np.arange(160) % 4
    healthy = y.sum(axis=1) == 0
    return Dataset(
        NAMES,
        CLASSES[:3],
        x,
        y,
        healthy,
        bases,
        np.arange(160) // 2,
        ("a", "b", "c", "d"),
    )


@pytest.fixture(scope="module")
def fitted(data: Dataset) -> object:
    return learned_from(SHIPPED, data.x, data.y)


@pytest.fixture(scope="module")
def forest(data: Dataset, fitted: object) -> Forest:
    return exported(fitted, data, probabilities(fitted, data.x))


def test_it_says_what_scikit_learn_says(forest: Forest, fitted: object) -> None:
    strange = np.random.default_rng(1).normal(0, 2, (300, 12)).astype(np.float32)
    assert np.abs(forest.raw(strange) - probabilities(fitted, strange)).max() < 1e-5


def test_rows_on_a_threshold_go_the_same_way(forest: Forest, fitted: object, data: Dataset) -> None:
    inner = forest.feature >= 0
    rows = np.repeat(data.x[:1], 400, axis=0)
    chosen = np.flatnonzero(inner)[:400]
    rows[np.arange(len(chosen)), forest.feature[chosen]] = forest.threshold[chosen]
    assert np.abs(forest.raw(rows) - probabilities(fitted, rows)).max() < 1e-5


def test_saved_and_loaded_it_is_the_same(forest: Forest, data: Dataset, tmp_path: Path) -> None:
    forest.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert (again.names, again.codes) == (forest.names, forest.codes)
    assert np.array_equal(again.raw(data.x), forest.raw(data.x))


def test_confidence_rises_with_the_trees_and_is_never_certain(forest: Forest) -> None:
    assert (np.diff(forest.curve_y, axis=1) >= 0).all()
    assert forest.curve_y.max() <= SUREST + 1e-6


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "model.npz")


def test_the_shipped_model_is_small_and_loads_without_pickle() -> None:
    assert MODEL.stat().st_size < 1_500_000
    with np.load(MODEL, allow_pickle=False) as found:
        assert all(found[name].dtype != object for name in found.files)
    shipped = load()
    assert {"LD001", "LD002", "LD003", "LD004", "LD005"} <= set(shipped.codes)
    assert shipped.raw(np.zeros((1, len(shipped.names)), dtype=np.float32)).shape == (
        1,
        len(shipped.codes),
    )


def test_scores_count_hits_and_false_alarms(data: Dataset) -> None:
    truth = data.y.astype(bool)
    perfect = judge(data, truth)
    assert (perfect.f1, perfect.detected, perfect.hit, perfect.false_alarms) == (
        1,
        1,
        1,
        0,
    )
    loud = judge(data, np.ones_like(truth))
    assert loud.false_alarms == 1
    assert loud.by_class["LD001"].precision == pytest.approx(truth[:, 0].mean())


@pytest.mark.release
def test_the_page_tells_both_ways_of_holding_out(data: Dataset, forest: Forest) -> None:
    report = measure(data, tell_nobody)
    strict = report.one_program_out
    assert set(strict) == {*CLASSIFIERS, UNION}
    assert strict[SHIPPED].f1 > 0.7
    judgement = judged(
        [Statement(base, 0.9, right) for base in "ab" for right in (True, True, False)]
    )
    text = page(Learned(forest, data, report, strict[SHIPPED], judgement, 160, 60.0))
    assert "a b c d".replace(" ", "`, `") in text
    assert all(f"| {name} | {scores.f1:.2f} |" in text for name, scores in strict.items())
    assert all(one.code in text for one in data.classes)
    assert "| 0.9 to 1.0 | 6 | 0.67 | 0.67 to 0.67 |" in text
