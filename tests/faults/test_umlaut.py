"""UMLAUT's rules: branches that their examples do not reach, on small evidence made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.registry import detector
from reenact.probe.crash import Crash, LayerInput
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.trace import Columns, Metric, Overlap, Trace, no_rows
from reenact.program.graph import Layer, ModelGraph, TaskType, TensorFacts
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph

INPUTS = TensorFacts(
    "train", "input", (None, 4), "float32", -3.0, 3.0, 0.0, 1.0, 0.0, 0, None, None, 100
)


def layer(type_name: str, **settings: str) -> Layer:
    return Layer(type_name.lower(), type_name, None, (), None, None, dict(settings), ())


def trace(
    losses: tuple[float, ...] = (1.0,),
    metrics: tuple[Metric, ...] = (),
    data: tuple[TensorFacts, ...] = (),
    layers: tuple[Layer, ...] = (layer("Linear"),),
    overlaps: tuple[Overlap, ...] = (),
    rates: tuple[float, ...] = (),
) -> Trace:
    known = rates or (0.01,) * len(losses)
    rows = np.array(
        [[n, loss, rate] for n, (loss, rate) in enumerate(zip(losses, known, strict=True))]
    )
    graph = ModelGraph("torch", "Net", layers, None, None, data, TaskType.MULTI_CLASS, 32, 1, 1)
    empty = no_rows(("step",))
    return Trace(
        Columns(("step", "loss", "learning_rate"), rows),
        empty,
        empty,
        (),
        (),
        metrics,
        (),
        graph,
        data,
        overlaps,
        None,
        True,
        1.0,
        0.0,
        (),
    )


def findings_in(
    code: str,
    seen: Trace | None,
    source: str = "import torch\n",
    outcome: Outcome | None = None,
) -> tuple[Finding, ...]:
    program = program_from_text(source)
    return run_detectors((detector(code),), Evidence(program, static_graph(program), seen, outcome))


def values(name: str, *numbers: float) -> tuple[Metric, ...]:
    return tuple(
        Metric(name, value, step, step, 0.0, "keras") for step, value in enumerate(numbers)
    )


def inputs(**changed: object) -> tuple[TensorFacts, ...]:
    return (replace(INPUTS, **changed),)  # type: ignore[arg-type]


WIDE = inputs(minimum=0.0, maximum=255.0, mean=120.0, std=70.0)


@pytest.mark.parametrize(
    ("data", "layers", "fires"),
    [
        (WIDE, (layer("Linear"),), True),
        (inputs(), (layer("Linear"),), False),
        (
            inputs(minimum=0.0, maximum=1.0, mean=0.3, std=0.3),
            (layer("Linear"),),
            False,
        ),
        (
            inputs(minimum=-2.1, maximum=2.6, mean=0.4, std=1.2),
            (layer("Conv2d"),),
            False,
        ),
        (WIDE, (layer("Embedding"), layer("Linear")), False),
        (WIDE, (layer("BatchNorm1d"), layer("Linear")), False),
        (WIDE, (layer("Rescaling"), layer("Conv2D")), False),
        (WIDE, (layer("Linear"), layer("BatchNorm1d")), True),
        (
            inputs(minimum=None, maximum=None, mean=None, std=None),
            (layer("Linear"),),
            False,
        ),
    ],
)
def test_unscaled_inputs(
    data: tuple[TensorFacts, ...], layers: tuple[Layer, ...], fires: bool
) -> None:
    assert bool(findings_in("UM001", trace(data=data, layers=layers))) is fires


@pytest.mark.parametrize(
    ("shape", "conv", "fires"),
    [
        ((None, 32, 32, 3), layer("Conv2d"), True),
        ((None, 3, 32, 32), layer("Conv2d"), False),
        ((None, 3, 32, 48), layer("Conv2d"), False),
        ((None, 3, 32, 32), layer("Conv2D", data_format="channels_last"), True),
        ((None, 28, 28, 1), layer("Conv2D", data_format="channels_last"), False),
        ((None, 1, 28, 28), layer("Conv2D", data_format="channels_first"), False),
        ((None, 4), layer("Linear"), False),
    ],
)
def test_layout_of_pictures(shape: tuple[int | None, ...], conv: Layer, fires: bool) -> None:
    seen = trace(data=inputs(shape=shape), layers=(conv,))
    assert bool(findings_in("UM002", seen)) is fires


def test_whole_numbers_are_fine_for_an_embedding() -> None:
    data = inputs(dtype="int64")
    assert findings_in("UM003", trace(data=data))
    assert (
        findings_in("UM003", trace(data=data, layers=(layer("Embedding"), layer("Linear")))) == ()
    )


def test_a_crash_over_types() -> None:
    given = (LayerInput((8, 4), "torch.float64", "cpu"),)
    message = "mat1 and mat2 must have the same dtype, but got Double and Float"
    crash = Crash("RuntimeError", message, None, "", (), layer="Linear", layer_inputs=given)
    (found,) = findings_in("UM003", trace(), outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))
    assert found.saw == "Linear was given float64"


def test_nan_inputs_are_surer_when_the_loss_is_lost() -> None:
    (mild,) = findings_in("UM004", trace(data=inputs(nan_share=0.01)))
    (sure,) = findings_in("UM004", trace(losses=(1.0, float("nan")), data=inputs(nan_share=0.01)))
    assert mild.confidence < sure.confidence


def test_a_warm_up_is_no_low_learning_rate() -> None:
    assert findings_in("UM006", trace(losses=(1.0, 1.0), rates=(0.0, 0.001))) == ()
    (found,) = findings_in("UM006", trace(losses=(1.0, 1.0), rates=(-0.1, -0.1)))
    assert found.fault == "HLR"


@pytest.mark.parametrize(
    ("optimizer", "low", "high"),
    [
        ("Adam(p, lr=0.02)", 0.0, 0.5),
        ("Adam(p, lr=2.0)", 0.8, 1.0),
        ("SGD(p, lr=0.1)", 0.0, 0.5),
        ("Adadelta(p, lr=1.0)", 0.0, 0.2),
    ],
)
def test_a_high_learning_rate_depends_on_the_optimiser(
    optimizer: str, low: float, high: float
) -> None:
    source = (
        f"import torch\np = torch.nn.Linear(2, 1).parameters()\nopt = torch.optim.{optimizer}\n"
    )
    (found,) = findings_in("UM005", None, source)
    assert low <= found.confidence <= high
    assert found.why.startswith(f"{optimizer.partition('(')[0]} is usually given")


FALLING = tuple(1 / (n + 1) for n in range(8))


@pytest.mark.parametrize(
    ("held", "fires"),
    [
        ((1.0, 0.6, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), True),
        ((1.0, 0.6, 0.5, 0.52, 0.5, 0.51, 0.5, 0.52), False),
        ((1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.6), False),
        ((), False),
        ((1.0,), False),
    ],
)
def test_overfitting_must_last(held: tuple[float, ...], fires: bool) -> None:
    assert bool(findings_in("UM011", trace(FALLING, values("val_loss", *held)))) is fires


def test_a_model_that_diverges_does_not_overfit() -> None:
    held = values("val_loss", 1.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert findings_in("UM011", trace(FALLING[::-1], held)) == ()


def test_validation_on_training_rows() -> None:
    metrics = values("val_accuracy", 0.5, 0.6)
    (found,) = findings_in(
        "UM012", trace(metrics=metrics, overlaps=(Overlap("validation", 100, 100),))
    )
    assert found.confidence > 0.8
    both = (Overlap("test", 100, 100), Overlap("test", 100, 0))
    assert findings_in("UM012", trace(metrics=metrics, overlaps=both)) == ()


def test_a_good_validation_accuracy_alone_says_nothing() -> None:
    """An easy task gets above 0.95: the release fires there, also on sound trainings."""
    held = values("val_accuracy", 0.9, 0.97, 0.99)
    assert findings_in("UM012", trace(metrics=held)) == ()
    assert findings_in("UM012", trace(metrics=held + values("accuracy", 0.9, 0.97, 0.99))) == ()


def test_a_lead_over_training_counts_for_little() -> None:
    own = values("accuracy", 0.5, 0.6, 0.7)
    ahead = trace(metrics=own + values("val_accuracy", 0.5, 0.6, 0.76))
    (found,) = findings_in("UM012", ahead)
    assert found.confidence < 0.5
    assert found.saw == "validation accuracy 0.76, +0.06 against training"
    near = trace(metrics=own + values("val_accuracy", 0.5, 0.6, 0.74))
    assert findings_in("UM012", near) == ()
    early = trace(
        metrics=values("accuracy", 0.5, 0.6) + values("val_accuracy", 0.5, 0.9),
    )
    assert findings_in("UM012", early) == ()


FIT = """
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
"""


def test_any_evaluation_on_other_rows_is_validation() -> None:
    assert findings_in("UM013", None, FIT)
    assert findings_in("UM013", None, FIT + "model.evaluate(x_test, y_test)\n") == ()
    assert findings_in("UM013", trace(metrics=values("val_loss", 1.0)), FIT) == ()
    shared = trace(metrics=values("test_loss", 1.0), overlaps=(Overlap("test", 100, 100),))
    assert findings_in("UM013", shared, FIT)


def test_only_classifiers_owe_an_accuracy() -> None:
    seen = trace(metrics=values("loss", 1.0))
    assert findings_in("UM014", seen)
    assert seen.graph is not None
    assert (
        findings_in("UM014", replace(seen, graph=replace(seen.graph, task=TaskType.REGRESSION)))
        == ()
    )
    assert findings_in("UM014", trace(metrics=values("val_auc", 0.5))) == ()
    assert findings_in("UM014", trace()) == ()


def test_dropout_of_a_half_passes() -> None:
    model = (
        "import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout({}))\n"
    )
    assert findings_in("UM010", None, model.format(0.5)) == ()
    (found,) = findings_in("UM010", None, model.format(0.6))
    assert [suggestion.new for suggestion in found.suggestions] == [0.2, 0.3, 0.5]
