"""Programs that do not simply run to their end get a clear outcome, with the place where there
is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("warm_python")

BAD = Path(__file__).parents[1] / "corpus_bad"
STATED = json.loads((BAD / "expected.json").read_text(encoding="utf-8"))
KINDS = {
    "missing_data.py": "needs-data",
    "missing_module.py": "needs-package",
    "reads_stdin.py": "reads-stdin",
    "exits_three.py": "exited",
    "kills_itself.py": "killed",
    "shape_mismatch.py": "crashed",
    "no_training.py": "no-training-seen",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("file", KINDS)
def test_the_outcome_is_the_stated_one(file: str, run_watched: Callable[..., Any]) -> None:
    stated = STATED[file]
    seen = run_watched(BAD, file)
    outcome = seen.watched.outcome
    assert outcome.kind == KINDS[file], outcome.sentence
    assert outcome.exit_code == stated.get("exit_code", -stated.get("signal", 0))
    assert outcome.signal == stated.get("signal")
    check_crash(outcome, stated)
    if file == "shape_mismatch.py":
        check_layer(outcome.crash)
    if stated["steps"] and "signal" not in stated:
        assert seen.trace.step_count == stated["steps"]


def check_layer(crash: Any) -> None:
    """The layer that did not fit is named, with its line and what it was given."""
    assert (crash.layer, crash.layer_place.line) == ("Linear", 9)
    assert crash.layer_inputs[0].shape == (6, 4 * 6 * 6)


def check_crash(outcome: Any, stated: dict[str, Any]) -> None:
    if "exception" not in stated:
        assert outcome.crash is None
        return
    assert outcome.crash.type == stated["exception"]
    assert outcome.crash.place.line == stated["line"]
    assert stated.get("says", "") in outcome.crash.message + outcome.note
    assert "None" not in outcome.sentence


def test_a_program_that_never_ends_is_ended(run_watched: Callable[..., Any]) -> None:
    seen = run_watched(BAD, "endless.py", max_time=2)
    assert seen.watched.outcome.kind == "timeout"
    assert seen.watched.outcome.sentence == "The program did not end within 2 s."


def test_a_program_that_never_ends_is_stopped_after_the_asked_steps(
    run_watched: Callable[..., Any],
) -> None:
    seen = run_watched(BAD, "endless.py", stop_after=7)
    assert seen.watched.outcome.kind == "stopped"
    assert seen.trace.step_count == 7


def test_an_interpreter_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    from reenact.probe.options import WatchOptions
    from reenact.probe.watch import watch
    from reenact.program.program import read_program

    watched = watch(
        read_program(("empty.py",), BAD),
        WatchOptions(tmp_path / "trace", python="no/such/python"),
    )
    assert watched.outcome.kind == "not-started"
    assert "no/such/python" in watched.outcome.sentence


@pytest.mark.parametrize(
    ("frame", "mentioned"),
    [("lib/keras/src/tree/optree_impl.py:13", True), ("a.py:1", False)],
)
def test_keras_without_tensorflow_is_pointed_to_the_other_engine(
    frame: str, mentioned: bool
) -> None:
    from reenact.probe.crash import Crash
    from reenact.probe.outcome import classify

    crash = Crash(
        "ModuleNotFoundError",
        "No module named 'tensorflow'",
        None,
        "import keras",
        (frame,),
        bases=("ModuleNotFoundError", "ImportError"),
    )
    outcome = classify(1, crash, trained=False)
    assert outcome.kind == "needs-package"
    assert ("KERAS_BACKEND=torch" in outcome.sentence) is mentioned


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("/env/keras/src/datasets/mnist.py", "the data set mnist of keras"),
        ("/env/torchvision/datasets/cifar.py", "the data set cifar of torchvision"),
        (
            "/env/sklearn/datasets/_california_housing.py",
            "the data set california_housing of sklearn",
        ),
    ],
)
def test_data_that_must_be_downloaded_is_named(file: str, named: str) -> None:
    from pathlib import PurePosixPath

    from reenact.probe.crash import Crash
    from reenact.probe.outcome import classify
    from reenact.types import Place

    place = Place(PurePosixPath("train.py"), 3, 0)
    frames = (
        "/work/train.py:3 in <module>",
        f"{file}:30 in load",
        "/env/sklearn/datasets/_base.py:9 in get",
    )
    crash = Crash("URLError", "no route", place, "", frames, ("URLError",))
    outcome = classify(1, crash, trained=False)
    assert outcome.kind == "needs-data"
    assert named in outcome.sentence
    assert "train.py:3" in outcome.sentence


def test_a_program_that_the_user_ended_to_have_it_judged() -> None:
    from reenact.probe.outcome import OutcomeKind, classify

    ended = classify(-15, None, trained=True, interrupted=True, verdict_asked=True)
    assert (ended.kind, ended.by_user) == (OutcomeKind.INTERRUPTED, True)
    assert ended.sentence == "The program was stopped by you."
    interrupted = classify(-2, None, trained=True, interrupted=True)
    assert (interrupted.kind, interrupted.by_user) == (OutcomeKind.INTERRUPTED, False)
    assert interrupted.sentence == "The program was interrupted."
