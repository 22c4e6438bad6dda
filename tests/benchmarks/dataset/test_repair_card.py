"""From repairs of foreign programs to the share that is better or as good as the fix; and one
of ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.dataset.asked import Asked
from benchmarks.dataset.foreign import Fixed, Foreign
from benchmarks.dataset.layout_foreign import LEAST
from benchmarks.dataset.repair_card import LEAST_PAIRS, repair_scorecard
from benchmarks.dataset.result import Results, TrainingRepair
from benchmarks.dataset.runner import repair_all
from benchmarks.dataset.splits import split_named
from benchmarks.dataset.training import Training, Truth
from reenact.types import ExitCode

FOREIGN = Foreign("owner/repository", "0" * 64)
CASE = Training(
    "one",
    "train.py",
    sound=False,
    what="for tests",
    fault=(Truth("ACH", (7,)),),
    foreign=FOREIGN,
)
SPLIT = split_named("foreign-tuning")
# With the fix it passes the most frequent class: at Adam's own rate 24 steps do not come so far,
# and a program that is no better than a constant answer is not called better.
BODY = """import numpy as np
from keras import Sequential
from keras.layers import Dense
from keras.optimizers import Adam
rows = np.random.default_rng(0).normal(size=(200, 4))
model = Sequential([Dense(8, activation="relu"), Dense(1, activation="{last}")])
model.compile(loss="binary_crossentropy", optimizer=Adam(0.02), metrics=["accuracy"])
model.fit(rows, (rows.sum(axis=1) > 1).astype("float32"), epochs=8, verbose=0, validation_split=0.4)
"""


def came(decision: str, *, as_good: bool | None = None) -> TrainingRepair:
    return TrainingRepair(
        "one",
        "",
        10,
        "code",
        "start",
        decision=decision,
        as_good=as_good,
        before=(0.1,) * 6,
        after=(0.9,) * 6,
    )


def test_what_does_not_train_is_not_counted_and_goals_need_enough_programs() -> None:
    cases = [replace(CASE, id=str(number)) for number in range(LEAST + 1)]
    results = (
        [came("improved", as_good=True)] * 20 + [came("nothing-found")] * 5 + [came("not-trained")]
    )
    card = repair_scorecard(SPLIT, cases, results, whole=True)
    assert "0.80" in card.goals[0].reached
    assert "(20 of 25)" in card.goals[0].reached
    assert card.exit_code is ExitCode.OK
    few = repair_scorecard(SPLIT, cases[:3], results[:3], whole=True)
    assert few.exit_code is ExitCode.INCONCLUSIVE
    worse = [came("improved", as_good=False)] * LEAST
    missed = repair_scorecard(SPLIT, cases[:LEAST], worse, whole=True)
    assert LEAST_PAIRS <= LEAST
    assert missed.exit_code is ExitCode.FOUND


def test_a_repair_with_another_budget_is_another_result(tmp_path: Path) -> None:
    results = Results(tmp_path, TrainingRepair)
    results.put(came("improved"))
    assert results.get(came("")) == came("improved")
    assert results.get(replace(came(""), budget="5x")) is None


@pytest.mark.slow
def test_a_program_of_ours_is_repaired_in_the_box_beside_its_fix(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "checkouts" / "repository" / "mine"
    folder.mkdir(parents=True)
    hashes = {}
    for name, last in (("train.py", "softmax"), ("fixed.py", "sigmoid")):
        (folder / name).write_text(BODY.format(last=last), encoding="utf-8")
        hashes[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    fixed = Fixed("mine/fixed.py", hashes["fixed.py"])
    foreign = replace(FOREIGN, sha256=hashes["train.py"], fixed=fixed)
    training = replace(CASE, path="mine/train.py", foreign=foreign)
    asked = Asked(repair=True, budget="12t", seeds=6, checkouts=tmp_path / "checkouts")
    (found,) = repair_all([training], asked, tmp_path / "results")
    assert found.better, found
    assert "sigmoid" in found.diff
    assert len(found.author) == len(found.after) == 6
    assert found.as_good is not None
    assert repair_all([training], asked, tmp_path / "results") == [found]
