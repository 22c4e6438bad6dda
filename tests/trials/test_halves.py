"""Evaluation data taken apart: search sees one half, judge the other, the training itself stays
the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.program.program import read_program
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Part, Trial

pytestmark = pytest.mark.frameworks

HEAD = """import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras, numpy as np
from keras.layers import Dense

x = np.arange(400, dtype="float32").reshape(100, 4) / 400
y = (np.arange(100) % 7 == 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), Dense(1, activation="sigmoid")])
model.compile(loss="mse", optimizer="sgd", metrics=["mae"])
"""
WAYS = {
    "evaluate": "model.fit(x, y, epochs=2, verbose=0)\nprint(model.evaluate(x, y, verbose=0))\n",
    "data": "model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y))\n",
    "split": "model.fit(x, y, epochs=2, verbose=0, validation_split=0.6)\n",
    "few": (
        "model.fit(x, y, epochs=2, verbose=0)\nprint(model.evaluate(x[:40], y[:40], verbose=0))\n"
    ),
    "own": (
        "model.fit(x, y, epochs=2, verbose=0)\nprint('test mae:', "
        "float(abs(model.predict(x)).mean()))\n"
    ),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[Part, Outcome]]:
    trials = {}
    for way, text in WAYS.items():
        folder = tmp_path_factory.mktemp(way)
        (folder / "train.py").write_text(HEAD + text)
        program = read_program(("train.py",), folder)
        trials |= {(way, part): Trial(program, seed=1, part=part) for part in Part}
    with ProcessPool(2) as pool:
        outcomes = dict(zip(trials, pool.run(list(trials.values())), strict=True))
    return {way: {part: outcomes[way, part] for part in Part} for way in WAYS}


@pytest.mark.parametrize(
    ("way", "metric"),
    [("evaluate", "test_loss"), ("data", "val_loss"), ("split", "val_loss")],
)
def test_two_halves_make_the_whole(
    seen: dict[str, dict[Part, Outcome]], way: str, metric: str
) -> None:
    whole, search, judge = (seen[way][part] for part in (Part.WHOLE, Part.SEARCH, Part.JUDGE))
    assert whole.halved == 0
    assert search.halved > 0
    assert judge.halved > 0
    assert search.metrics[metric] != judge.metrics[metric]
    middle = (search.metrics[metric] + judge.metrics[metric]) / 2
    assert middle == pytest.approx(whole.metrics[metric], rel=1e-5)
    assert search.metrics["loss"] == whole.metrics["loss"] == judge.metrics["loss"]


@pytest.mark.parametrize("way", ["few", "own"])
def test_what_cannot_be_taken_apart_is_not_counted(
    seen: dict[str, dict[Part, Outcome]], way: str
) -> None:
    parts = seen[way]
    assert all(outcome.halved == 0 for outcome in parts.values())
    assert parts[Part.SEARCH].metrics == parts[Part.JUDGE].metrics


def test_the_part_is_part_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD)
    program = read_program(("train.py",), tmp_path)
    assert len({Trial(program, part=part).key for part in Part}) == 3
