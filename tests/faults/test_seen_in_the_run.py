"""Faults that our own rules know by what a run showed: evidence made by hand, each beside a sound one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest

from made_evidence import (
    LABELS,
    LEARNED,
    QUANTITIES,
    event,
    findings_in,
    graph,
    seen,
    trace,
)
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.observation import Certainty
from reenact.probe.trace import (
    Columns,
    Event,
    Experiments,
    LearningRateRange,
    OneBatch,
    Overlap,
    ParameterFacts,
    Trace,
)
from reenact.program.graph import Layer, LossFacts, TaskType, WeightFacts
from reenact.program.hyperparameter import Kind
from reenact.testing.faults import evidence_of
from reenact.types import JsonValue, Place


def unlearned(explained: float, losses: list[float], batch: OneBatch = LEARNED) -> list[int | None]:
    run = trace(losses, events=(event("labels-explained", rows=400, explained=explained),))
    run = replace(
        run,
        graph=graph(TaskType.REGRESSION, "mse", 1),
        data=(replace(QUANTITIES, std=1.0),),
    )
    text = "import torch\nnotes = sorted(notes, key=len)\nrows = list(zip(notes, labels))\n"
    found = findings_in("RE053", seen(run, text, Experiments(one_batch=batch)))
    return [one.place.line if one.place is not None else None for one in found]


def test_labels_that_no_input_explains_are_placed_where_rows_are_sorted() -> None:
    assert unlearned(-0.01, [1.0] * 200) == [2]
    assert unlearned(0.3, [1.0] * 200) == [], "there was something to learn"
    assert unlearned(-0.01, [0.3] * 200) == [], "it was learned"
    assert unlearned(-0.01, [1.0] * 200, OneBatch(30, (1.0,) * 30, None)) == [], (
        "the model cannot learn"
    )


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        ({"same": 0.0, "own": 0.1, "labels": True, "drawn": True}, 1),
        ({"same": 0.0, "own": 0.9, "labels": True, "drawn": False}, 1),
        ({"same": 0.0, "own": 0.1, "labels": True, "drawn": False}, 0),
        ({"same": 0.0, "own": 0.1, "labels": False, "drawn": True}, 0),
        ({"same": 0.0, "own": 0.9, "labels": None, "drawn": False}, 0),
        ({"same": 0.9, "own": 0.9, "labels": True, "drawn": True}, 0),
    ],
)
def test_validation_rows_that_come_back_changed(facts: dict[str, JsonValue], count: int) -> None:
    text = "train = Rows(100, change)\nval = Rows(50, transform=change)\n"
    text += "model.fit(train, validation_data=val)\n"
    run = trace([1.0] * 40, events=(event("evaluated-again", rows=32, **facts),) * 2)
    found = findings_in("RE056", seen(run, text))
    assert [one.place.line for one in found if one.place is not None] == [2] * count


def test_measured_rows_that_are_equal_are_copies() -> None:
    inputs = replace(
        QUANTITIES,
        role="input",
        split="validation",
        shape=(None, 24),
        minimum=-3.2,
        maximum=3.1,
        rows_seen=150,
    )

    def expected(facts: object) -> list[Certainty]:
        overlap = Overlap("validation", 100, 40, complete=True)
        run = trace([1.0] * 20, overlaps=(overlap,), data=(LABELS, facts))
        return [one.certainty for one in findings_in("RE018", Evidence(trace=run))]

    assert expected(inputs) == [Certainty.PROOF]
    assert expected(replace(inputs, minimum=0.0, maximum=9.0)) == [Certainty.HINT], (
        "counts may repeat"
    )


def test_rows_that_a_function_of_the_program_draws_are_split_afterwards() -> None:
    text = """
from sklearn.utils import resample
from sklearn.model_selection import train_test_split
def balance(x, y):
    return resample(x, replace=True), y
def prepare(x, y):
    x, y = balance(x, y)
    x_train, x_val, y_train, y_val = train_test_split(x, y)
    return x_train, x_val, y_train, y_val
"""
    (found,) = findings_in("RE055", evidence_of(text, run=False))
    assert found.place is not None
    assert found.place.line == 7
    first = text.replace("    x, y = balance(x, y)\n", "").replace(
        "    return x_train",
        "    x_train, y_train = balance(x_train, y_train)\n    return x_train",
    )
    assert findings_in("RE055", evidence_of(first, run=False)) == ()


def test_an_evaluation_in_training_mode_stands_where_the_model_is_asked() -> None:
    place = Place(PurePosixPath("train.py"), 7)
    run = trace([1.0] * 40, events=(event("evaluation", place, training=True),))
    assert run.graph is not None
    drop = Layer("1", "Dropout", None, ((None, 3),), (None, 3), None, {"p": 0.5}, ())
    run = replace(run, graph=replace(run.graph, layers=(*run.graph.layers, drop)))
    assert [one.place for one in findings_in("RE011", seen(run))] == [place]


def test_an_evaluation_stands_where_eval_is_named_and_not_called() -> None:
    place = Place(PurePosixPath("train.py"), 3)
    run = trace([1.0] * 40, events=(event("evaluation", place, training=True),))
    assert run.graph is not None
    drop = Layer("1", "Dropout", None, ((None, 3),), (None, 3), None, {"p": 0.5}, ())
    run = replace(run, graph=replace(run.graph, layers=(*run.graph.layers, drop)))
    text = "import torch\nmodel.eval\nscore = model(x)\n"
    (found,) = findings_in("RE011", seen(run, text))
    assert found.place is not None
    assert found.place.line == 2
    assert found.saw.startswith("model.eval is not called; 1 of 1 passes")
    (called,) = findings_in("RE011", seen(run, text.replace("model.eval\n", "model.eval()\n")))
    assert called.place == place


def asked(*facts: dict[str, JsonValue], text: str = "import torch\n", column: int = 0) -> int:
    place = Place(PurePosixPath("train.py"), 2, column)
    events = tuple(Event("evaluation", 1 + n, 0, 0.0, one, place) for n, one in enumerate(facts))
    run = trace([1.0] * 40, events=events)
    assert run.graph is not None
    drop = Layer("1", "Dropout", None, ((None, 3),), (None, 3), None, {"p": 0.5}, ())
    run = replace(run, graph=replace(run.graph, layers=(*run.graph.layers, drop)))
    return len(findings_in("RE011", seen(run, text)))


def test_dropout_that_is_averaged_over_and_passes_that_nobody_reads() -> None:
    once: dict[str, JsonValue] = {"training": True, "again": False}
    assert asked(once, once) == 1
    assert asked({"training": True, "again": True}) == 0, (
        "the same rows several times, to be averaged"
    )
    assert asked(once, text="import torch\nscore = model(x)\n") == 1
    assert asked(once, text="import torch\nprint(model(x))\n", column=6) == 1
    assert asked(once, text="import torch\nmodel(x)\n") == 0, "batch norm takes new statistics"


def test_a_rate_that_is_no_step_is_left_alone() -> None:
    rates = tuple(10 ** (-7 + 0.5 * step) for step in range(15))
    tried = Experiments(
        learning_rates=LearningRateRange(
            rates, tuple(1.4 - r * 20 if r < 2e-2 else 3.0 for r in rates)
        )
    )

    def findings(name: str, rate: float) -> list[int]:
        events = (
            event("optimizer", number=0, type="Adam"),
            event("optimizer", number=1, type=name),
        )
        run = trace([1.0] * 40, events=events)
        run.steps.rows[-1, run.steps.columns.index("optimizer")] = 1
        run.steps.rows[-1, run.steps.columns.index("learning_rate")] = rate
        return [len(findings_in(code, seen(run, tried=tried))) for code in ("RE019", "UM005")]

    assert findings("SGD", 1.0) == [1, 1]
    assert findings("LBFGS", 1.0) == [0, 0]
    assert findings("Prodigy", 1.0) == [0, 0]


@pytest.mark.parametrize(
    ("monitor", "certain"),
    [("val_accuracy", Certainty.STRONG), ("val_loss", Certainty.HINT)],
)
def test_the_accuracy_of_a_regression(monitor: str, certain: Certainty) -> None:
    text = f"""
import keras
model.compile("adam", "mse", metrics=["accuracy"])
stop = keras.callbacks.EarlyStopping(monitor="{monitor}")
"""
    run = trace([1.0] * 40, data=(QUANTITIES,))
    run = replace(
        run,
        graph=graph(TaskType.REGRESSION, "mean_squared_error", 1, framework="keras"),
    )
    (found,) = findings_in("RE058", seen(run, text))
    assert found.certainty is certain
    classes = replace(
        run,
        data=(LABELS,),
        graph=graph(TaskType.MULTI_CLASS, "categorical_crossentropy", 3),
    )
    assert findings_in("RE058", seen(classes, text)) == ()


def test_a_range_test_of_few_steps_tells_why_a_training_stands_still() -> None:
    rates = tuple(10 ** (-7 + 0.5 * step) for step in range(12))
    losses = tuple(
        1.38 - 0.12 * min(1.0, rate / 1e-2) ** 0.7 if rate < 2e-2 else 3.0 for rate in rates
    )
    tried = Experiments(one_batch=LEARNED, learning_rates=LearningRateRange(rates, losses))

    def expected(rate: float, last: float, tried: Experiments) -> list[Certainty]:
        run = trace(list(np.linspace(1.38, last, 40)))
        run.steps.rows[:, run.steps.columns.index("learning_rate")] = rate
        return [one.certainty for one in findings_in("RE019", seen(run, tried=tried))]

    assert expected(2e-5, 1.37, tried) == [Certainty.STRONG]
    assert expected(2e-5, 0.9, tried) == [], "it learned"
    assert expected(2e-5, 1.37, replace(tried, one_batch=OneBatch(30, (1.38,) * 30, None))) == []


def test_a_loss_of_a_table_stands_where_it_runs() -> None:
    text = """
import torch.nn.functional as F
LOSSES = {"squares": lambda a, b: F.mse_loss(a, b)}
"""
    run, place = trace([1.0] * 4), Place(PurePosixPath("train.py"), 60)
    assert run.graph is not None
    ran = replace(run, graph=replace(run.graph, loss=LossFacts("cross_entropy", None, {}, place)))
    assert seen(ran, text).place_of(Kind.LOSS) == place
    same = replace(run, graph=replace(run.graph, loss=LossFacts("mse", None, {}, place)))
    assert seen(same, text).place_of(Kind.LOSS) != place


def with_gradients(zero: float, *events: Event) -> Trace:
    columns = ("step", "parameter", "grad_present", "grad_zero_share", "weight_std")
    rows = np.array([[step, 0, 1, zero, 0.2] for step in range(10)], dtype=float)
    return trace([1.0] * 40, parameters=Columns(columns, rows), events=events)


def test_gradients_that_are_lost_in_half_precision() -> None:
    text = 'import torch\nwith torch.autocast("cpu", dtype=torch.float16):\n    pass\n'
    half, scaled = event("half-precision"), event("loss-scaled")
    (found,) = findings_in("RE057", seen(with_gradients(0.99, half), text))
    assert found.place is not None
    assert found.place.line == 2
    assert findings_in("RE057", seen(with_gradients(0.99, half, scaled), text)) == ()
    assert findings_in("RE057", seen(with_gradients(0.99), text)) == ()
    assert findings_in("RE057", seen(with_gradients(0.2, half), text)) == ()


def test_a_scaler_that_lets_no_step_be_taken() -> None:
    assert findings_in("RE045", seen(trace([], events=(event("step-skipped"),) * 30)))
    assert not findings_in("RE045", seen(trace([], events=(event("step-skipped"),) * 8))), (
        "it looks for a scale"
    )
    assert not findings_in("RE045", seen(trace([1.0] * 90, events=(event("step-skipped"),) * 30)))


def frozen(kernel: WeightFacts, *others: WeightFacts) -> list[str]:
    made = [
        Layer(
            str(number),
            "Linear",
            None,
            ((None, 64),),
            (None, 32),
            None,
            {"out_features": 32},
            (weight,),
        )
        for number, weight in enumerate((kernel, *others))
    ]
    passes = Columns(
        ("step", "layer", "phase"),
        np.array([[0, n, 0] for n in range(len(made))], dtype=float),
    )
    run = trace([1.0] * 20, layers=passes, layer_names=tuple(layer.name for layer in made))
    assert run.graph is not None
    return [
        one.saw
        for one in findings_in(
            "RE051", seen(replace(run, graph=replace(run.graph, layers=tuple(made))))
        )
    ]


def test_layers_that_are_frozen_as_they_were_made() -> None:
    random = WeightFacts(
        "weight", (32, 64), False, 0.001, 0.125 / 3**0.5, -0.1249, 0.1249, "0.weight"
    )
    head = WeightFacts("weight", (32, 64), True, 0.002, 0.07, -0.12, 0.12, "1.weight")
    assert len(frozen(random, head)) == 1
    assert frozen(replace(random, trainable=True), head) == []
    assert frozen(replace(random, maximum=0.3), head) == [], "it was trained before"
    assert frozen(random, replace(random, trainable=True, path="1.weight")) == [], (
        "a target network"
    )


def test_a_transformer_that_is_frozen_as_its_configuration_made_it() -> None:
    """All its kernels are drawn with one spread, whatever their shape; training takes them
    apart.
    """
    shapes = [(64, 64)] * 4 + [(128, 64), (64, 128)]
    made = [
        WeightFacts(
            "weight",
            shape,
            False,
            1e-4,
            0.02 * (1 + 0.002 * n),
            -0.079,
            0.081 + n / 1e5,
            f"{n}.weight",
        )
        for n, shape in enumerate(shapes)
    ]
    head = WeightFacts("weight", (4, 64), True, 0.0, 0.02, -0.05, 0.06, "6.weight")
    assert len(frozen(*made, head)) == 1
    trained = [replace(one, std=one.std * (1 + 0.1 * n)) for n, one in enumerate(made)]
    assert frozen(*trained, head) == []
    assert frozen(*made[:4], head) == [], "four of one shape may be alike by chance"


def test_own_matrices_that_are_drawn_too_wide() -> None:
    facts = tuple(ParameterFacts(f"layers.{n}.mix", (64, 64), True, True) for n in range(3))
    columns = ("step", "parameter", "weight_std")
    rows = Columns(columns, np.array([[0, n, 1.0] for n in range(3)], dtype=float))
    text = "import torch\nmix = torch.nn.Parameter(torch.randn(64, 64))\n"

    def expected(last: float) -> list[int]:
        outputs = np.array([[0, n, 0, last ** (n / 2)] for n in range(3)])
        layers = Columns(("step", "layer", "phase", "std"), outputs)
        run = trace(
            [1e6] * 20,
            parameter_facts=facts,
            parameters=rows,
            layers=layers,
            layer_names=("a", "b", "c"),
        )
        return [
            one.place.line for one in findings_in("RE024", seen(run, text)) if one.place is not None
        ]

    assert expected(1e4) == [2]
    assert expected(1.0) == [], "tokens are drawn as wide"


def critic(growth: float, text: str = "import torch\n") -> int:
    run = trace([-0.05] * 400)
    columns = (*run.steps.columns, "weight_norm")
    losses = -np.linspace(0.05, growth, 400)
    rows = np.column_stack([run.steps.rows, np.linspace(5, 15, 400)])
    rows[:, columns.index("loss")] = losses
    rows[::2, columns.index("optimizer")] = 1
    return len(findings_in("RE032", seen(replace(run, steps=Columns(columns, rows)), text)))


def test_a_critic_that_nothing_holds() -> None:
    assert critic(120.0) == 1
    assert critic(2.0) == 0
    assert (
        critic(
            120.0,
            "import torch\nfor p in critic.parameters():\n    p.data.clamp_(-0.1, 0.1)\n",
        )
        == 0
    )


def test_a_variance_without_a_floor() -> None:
    pixels = replace(QUANTITIES, role="input", constant_features=3)
    falls = [*np.linspace(70, -60, 200), *([-60.0] * 20 + [-10.0] * 20) * 4]
    text = (
        "def nll(x, mean, log_var):\n    return (log_var + (x - mean) ** 2 / "
        "log_var.exp()).sum(-1)\n"
    )

    def expected(losses: list[float], text: str = text) -> list[int]:
        found = findings_in("RE032", seen(trace(losses, data=(pixels,)), text))
        return [one.place.line for one in found if one.place is not None]

    assert expected([float(loss) for loss in falls]) == [2]
    assert (
        expected([float(loss) for loss in falls], text + "log_var = log_var.clamp(min=-5)\n") == []
    )
    assert expected([float(loss) for loss in np.linspace(70, -60, 400)]) == []


def test_embeddings_that_are_brought_to_length_one_along_the_batch() -> None:
    place = Place(PurePosixPath("train.py"), 4)
    along = trace([1.0] * 20, events=(event("normalized", place, axis=0, shape=[64, 32]),))
    assert [one.place for one in findings_in("RE048", seen(along))] == [place]
    own = trace([1.0] * 20, events=(event("normalized", place, axis=1, shape=[64, 32]),))
    assert findings_in("RE048", seen(own)) == ()
    assert findings_in("RE048", seen(along, "shared = rows.T @ others\n")) == ()


@pytest.mark.parametrize(("text", "tried"), [("", True), ("import gymnasium\n", False)])
def test_usual_values_are_not_tried_where_an_agent_makes_its_own_data(
    text: str, tried: bool
) -> None:
    made = (
        "import torch\nnet = torch.nn.Linear(4, 2)\nsteps = torch.optim.Adam(net.parameters(), "
        "lr=0.01)\n"
    )
    run = trace([1.0 - 0.001 * step for step in range(60)])
    assert bool(findings_in("RE040", seen(run, text + made))) is tried


def test_gradients_of_one_of_two_optimizers_that_nobody_clears() -> None:
    text = "first.zero_grad()\nloss.backward()\nfirst.step()\nsecond.step()\n"

    def found(carried: tuple[float, float]) -> tuple[Finding, ...]:
        run = trace([1.0] * 40)
        for name, values in (("optimizer", (0, 1)), ("carried", carried)):
            run.steps.rows[:, run.steps.columns.index(name)] = np.tile(values, 20)
        return findings_in("RE010", seen(run, text))

    assert len(found((0, 1))) == 1
    assert found((0, 0)) == ()


def test_a_range_test_is_of_the_optimizer_that_steps_first() -> None:
    """A second training, as of a student, has a rate of its own."""
    rates = tuple(10 ** (-7 + 0.5 * step) for step in range(12))
    losses = tuple(2.0 - min(1.0, rate / 1e-2) if rate < 2e-2 else 5.0 for rate in rates)
    run = trace([1.4] * 40)
    run.steps.rows[:, run.steps.columns.index("learning_rate")] = [0.002] * 20 + [0.2] * 20
    run.steps.rows[:, run.steps.columns.index("optimizer")] = [0] * 20 + [1] * 20
    tried = Experiments(learning_rates=LearningRateRange(rates, losses))
    assert not any("range" in one.saw for one in findings_in("RE019", seen(run, tried=tried)))
    run.steps.rows[:, run.steps.columns.index("optimizer")] = 0
    assert any("range" in one.saw for one in findings_in("RE019", seen(run, tried=tried)))


@pytest.mark.parametrize(("kept", "lines"), [("", [3]), ("rows = ", [])])
def test_scaled_rows_that_nobody_takes(kept: str, lines: list[int]) -> None:
    text = f"rows, labels = table()\nscaler = StandardScaler()\n{kept}scaler.fit_transform(rows)\n"
    found = findings_in("RE005", seen(trace([1.0] * 40), text))
    assert [one.place.line for one in found if one.place is not None] == lines
