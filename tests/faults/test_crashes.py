"""Crashes: how exceptions are sorted, and where their findings stand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from made_evidence import KERAS, LABELS, findings_in, trace
from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import all_detectors, chosen, detector
from reenact.probe.crash import Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_sorting import crash_kind
from reenact.probe.outcome import Outcome, OutcomeKind, classify
from reenact.probe.trace import (
    Experiments,
    Metric,
    OneBatch,
    Trace,
)
from reenact.testing.faults import evidence_of, findings
from reenact.types import Place


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "AttributeError",
            "module 'numpy' has no attribute 'float'. `np.float` was a deprecated alias; data type",
        ),
        (
            "ImportError",
            "cannot import name 'KerasClassifier' from 'keras.wrappers.scikit_learn'",
        ),
        ("NameError", "name 'to_categorical' is not defined"),
        ("TypeError", "Model.fit() got an unexpected keyword argument 'nb_epoch'"),
    ],
)
def test_a_name_that_is_not_there_is_not_a_type_mismatch(kind: str, message: str) -> None:
    assert crash_kind(Crash(kind, message, None, "", (), (kind, "Exception"))) is CrashKind.NAME


def test_every_crash_has_one_finding() -> None:
    crash = Crash(
        "ModuleNotFoundError",
        "No module named 'x'",
        None,
        "",
        (),
        ("ModuleNotFoundError",),
    )
    ended = Evidence(outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))
    expected = run_detectors([one for one in all_detectors() if one.code.startswith("RE9")], ended)
    assert [found.code for found in expected] == ["RE906"]


def test_a_missing_package_names_the_interpreter_and_how_to_name_another() -> None:
    crash = Crash(
        "ModuleNotFoundError",
        "No module named 'torch'",
        None,
        "",
        (),
        ("ModuleNotFoundError",),
    )
    outcome = classify(1, crash, trained=False, python="/usr/bin/python3")
    (found,) = run_detectors(chosen(("RE906",)), Evidence(outcome=outcome))
    for text in (found.saw, outcome.sentence):
        assert "No module named 'torch'" in text
        assert "/usr/bin/python3" in text
        assert "Pass --python PATH, or activate the environment that has it" in text


@pytest.mark.parametrize(
    "run",
    [
        trace([]),
        trace([1.0]),
        trace([math.nan] * 30),
        trace([math.inf, 1.0] * 20),
        trace([1.0] * 30, graph=None, data=()),
        trace([0.0] * 30, metrics=(Metric("accuracy", math.nan, 1, 0, 0.0, "user"),)),
        trace(
            [1.0] * 30,
            data=(replace(LABELS, class_counts=(), mean=None, std=None, minimum=None),),
        ),
    ],
    ids=["nothing", "one step", "NaN", "infinite", "no graph", "zero", "empty labels"],
)
@pytest.mark.parametrize("family", ["reenact", "deepchecker"])
def test_no_rule_stumbles_over_poor_evidence(run: Trace, family: str) -> None:
    evidence = Evidence(trace=run, experiments=Experiments(one_batch=OneBatch(0, (), None)))
    rules = [one for one in all_detectors() if one.family == family]
    assert all(found.saw for found in run_detectors(rules, evidence))


def crashed(message: str, kind: str = "ValueError") -> Evidence:
    crash = Crash(kind, message, Place(PurePosixPath("train.py"), 8, 0), "", (), (kind,))
    text = KERAS.format(output="layers.Dense(3)", loss='"categorical_crossentropy"')
    read = evidence_of(text, run=False)
    return replace(read, outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))


def test_a_shape_error_is_placed_at_the_layer_that_it_names() -> None:
    message = "Input 0 of layer 'dense' is incompatible with the layer: expected axis -1 (dtype)"
    (found,) = findings_in("RE901", crashed(message))
    assert (found.fault, found.layer) == (FaultType.LCN, "dense")
    assert found.place is not None
    assert found.place.line == 5


def test_labels_of_another_form_are_placed_at_the_loss() -> None:
    message = (
        "Arguments `target` and `output` must have the same shape. Received: target.shape=(32,)"
    )
    (found,) = findings_in("RE902", crashed(message))
    assert found.fault is FaultType.LCH
    assert found.place is not None
    assert found.place.line == 6
    assert [one.new for one in found.suggestions] == ["sparse_categorical_crossentropy"]


def test_what_stands_in_a_comment_is_not_done() -> None:
    text = KERAS.format(
        output='layers.Dense(3, activation="softmax")',
        loss='"categorical_crossentropy"',
    )
    assert (
        findings(detector("RE002"), f"{text}# loss_of = keras.losses.X(from_logits=True)\n") == ()
    )
    assert findings(detector("RE002"), f"{text}loss_of = keras.losses.X(from_logits=True)\n")


def with_data(
    text: str, inputs: tuple[int | None, ...], labels: tuple[int | None, ...]
) -> Evidence:
    """A program that ended in its first step, outside of any layer, with data of these shapes."""
    crash = Crash(
        "RuntimeError",
        "The size of tensor a must match",
        Place(PurePosixPath("t.py"), 9, 0),
        "",
        (),
    )
    ended = Outcome(OutcomeKind.CRASHED, 1, crash=crash)
    data = (replace(LABELS, shape=labels), replace(LABELS, role="input", shape=inputs))
    run = trace([], graph=None, data=data)
    return replace(evidence_of(text, run=False), trace=run, outcome=ended)


def test_a_shape_that_fits_no_labels_is_placed_at_the_layers_that_made_it() -> None:
    text = KERAS.replace("layers.Input((8,))", "layers.Input((8, 2)), layers.Conv1D(4, 3)").format(
        output="layers.Dense(3)", loss='"mse"'
    )
    (found,) = findings_in("RE901", with_data(text, (None, 8, 2), (None, 3)))
    assert (found.layer, "gives rank 3, labels have rank 2" in found.saw) == (
        "dense_1",
        True,
    )
    (found,) = findings_in("NL011", with_data(text, (None, 8, 2), (None, 3)))
    assert (found.layer, found.certainty, found.fault) == (
        "dense",
        "proof",
        FaultType.LRM,
    )
    flat = text.replace("layers.Conv1D(4, 3)", "layers.Conv1D(4, 3), layers.Flatten()")
    (found,) = findings_in("RE901", with_data(flat, (None, 8, 2), (None, 3)))
    assert found.place is not None
    assert (found.layer, found.place.line) == ("", 9)


def test_inputs_of_another_rank_are_placed_where_the_model_says_what_it_takes() -> None:
    text = KERAS.replace("Input((8,))", "Input(shape=(8,))").format(
        output="layers.Dense(3)", loss='"mse"'
    )
    (found,) = findings_in("RE901", with_data(text, (None, 4, 8), (None, 3)))
    assert found.place is not None
    assert found.place.line == 5
    assert "takes rows of shape (8,) and is given (4, 8)" in found.saw
