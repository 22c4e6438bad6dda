"""NeuraLint's rules: what their examples do not reach, and the healthy programs they must leave alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import findings_in as made_findings
from made_evidence import graph, seen, trace
from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.registry import detector
from reenact.probe.crash import Crash, LayerInput
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.program.graph import Layer, TaskType, WeightFacts
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph

TORCH = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
KERAS = "import keras\nfrom keras import layers\n"


def findings_in(code: str, source: str, crash: Crash | None = None) -> tuple[Finding, ...]:
    program = program_from_text(source)
    outcome = Outcome(OutcomeKind.CRASHED, 1, crash=crash) if crash is not None else None
    return run_detectors(
        (detector(code),), Evidence(program, static_graph(program), outcome=outcome)
    )


def keras_model(layers: str, loss: str) -> str:
    return (
        f"{KERAS}model = keras.Sequential([{layers}])\nmodel.compile('adam', {loss})\nmodel.fit(x, "
        f"y)\n"
    )


def torch_model(layers: str, loss: str) -> str:
    return (
        f"{TORCH}model = nn.Sequential({layers})\noptimizer = "
        "torch.optim.Adam(model.parameters())\nfor x, y in data:\n    optimizer.zero_grad()\n    "
        f"{loss}.backward()\n    optimizer.step()\n"
    )


def crashed(
    message: str, layer: str = "", shape: tuple[int, ...] = (), dtype: str = "float32"
) -> Crash:
    inputs = (LayerInput(shape, dtype, "cpu"),) if shape else ()
    return Crash("RuntimeError", message, None, "", (), layer=layer, layer_inputs=inputs)


SOFTMAX_RULES = ("NL008", "NL012", "NL015", "NL017", "NL020", "UM007", "UM009")
FINE = [
    keras_model(
        "layers.Dense(8, activation='relu'), layers.Dense(3, activation='softmax')",
        "'categorical_crossentropy'",
    ),
    keras_model(
        "layers.Dense(3), layers.Activation('softmax')",
        "'sparse_categorical_crossentropy'",
    ),
    keras_model("layers.Dense(3), layers.Softmax()", "'sparse_categorical_crossentropy'"),
    keras_model(
        "layers.Dense(3)",
        "keras.losses.SparseCategoricalCrossentropy(from_logits=True)",
    ),
    keras_model("layers.Dense(1, activation='sigmoid')", "'binary_crossentropy'"),
    keras_model("layers.Dense(5, activation='sigmoid')", "'binary_crossentropy'"),
    keras_model("layers.Dense(1)", "'mse'"),
    keras_model("layers.Dense(2, activation='tanh')", "'mse'"),
    torch_model("nn.Linear(4, 3)", "F.cross_entropy(model(x), y)"),
    torch_model("nn.Linear(4, 3), nn.LogSoftmax(dim=1)", "F.nll_loss(model(x), y)"),
    torch_model("nn.Linear(4, 3)", "F.nll_loss(F.log_softmax(model(x), 1), y)"),
    torch_model("nn.Linear(4, 3), nn.LogSoftmax(dim=1)", "F.cross_entropy(model(x), y)"),
    torch_model("nn.Linear(4, 1)", "F.binary_cross_entropy(torch.sigmoid(model(x)), y)"),
    torch_model("nn.Linear(4, 1)", "F.binary_cross_entropy_with_logits(model(x), y)"),
    torch_model("nn.Linear(4, 1)", "F.mse_loss(model(x), y)"),
]


@pytest.mark.parametrize("source", FINE)
@pytest.mark.parametrize("code", SOFTMAX_RULES)
def test_nobody_asks_for_a_softmax_that_is_there_or_not_wanted(code: str, source: str) -> None:
    assert findings_in(code, source) == ()


def test_a_missing_log_softmax_and_the_change_that_adds_it() -> None:
    (found,) = findings_in("NL008", torch_model("nn.Linear(4, 3)", "F.nll_loss(model(x), y)"))
    assert [suggestion.new for suggestion in found.suggestions] == ["log_softmax"]


@pytest.mark.parametrize(
    ("layers", "loss", "fault"),
    [
        ("layers.Dense(1, activation='tanh')", "'binary_crossentropy'", "ACH"),
        ("layers.Dense(4, activation='softmax')", "'binary_crossentropy'", "LCH"),
        ("layers.Dense(1, activation='sigmoid')", "'categorical_crossentropy'", "LCH"),
        ("layers.Dense(4, activation='sigmoid')", "'categorical_crossentropy'", "ACH"),
    ],
)
def test_output_and_loss_that_do_not_fit(layers: str, loss: str, fault: str) -> None:
    (found,) = findings_in("NL020", keras_model(layers, loss))
    assert found.fault == fault


def test_one_class_of_one() -> None:
    (found,) = findings_in("NL015", torch_model("nn.Linear(4, 1)", "F.cross_entropy(model(x), y)"))
    assert found.fault == "LCN"


def test_two_models_settle_nothing() -> None:
    twice = (
        torch_model("nn.Linear(4, 3)", "F.nll_loss(model(x), y)")
        + "other = nn.Sequential(nn.Linear(2, 1))\n"
    )
    assert findings_in("NL008", twice) == ()


MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.c = nn.Linear(8, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        x = x + self.b(self.act(self.a(x)))
        return self.c(self.q(x) @ self.k(x).T)

model = Net()
"""


@pytest.mark.parametrize("code", ["NL003", "NL009", "UM008", "NL011", "NL001"])
def test_residuals_and_attention_are_linear_on_purpose(code: str) -> None:
    assert findings_in(code, TORCH + MODULE) == ()


def test_a_part_that_the_text_does_not_show_may_bend() -> None:
    layers = "nn.Linear(20, 8), bend(), nn.Linear(8, 8), bend(), nn.Linear(8, 1)"
    assert findings_in("NL009", torch_model(layers, "F.mse_loss(model(x), y)")) == ()


def test_one_activation_object_at_several_places_bends_at_each() -> None:
    """A trace names it once: the later places of the sequence have no layer of their own."""
    text = (
        f"{TORCH}model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(), nn.Linear(8, 8), "
        f"nn.Linear(8, 3))\n"
    )

    def layer(name: str, kind: str) -> Layer:
        weight = WeightFacts("weight", (8, 8), True, 0.01, 0.2, -0.4, 0.4, f"{name}.weight")
        settings = {"in_features": 8, "out_features": 8} if kind == "Linear" else {}
        own = (weight,) if kind == "Linear" else ()
        return Layer(name, kind, None, ((None, 8),), (None, 8), None, settings, own)

    for between, count in (((layer("1", "Dropout"),), 1), ((), 0)):
        layers = (
            layer("0", "Linear"),
            *between,
            layer("2", "Linear"),
            layer("4", "Linear"),
        )
        run = trace(
            [1.0] * 20,
            graph=replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), layers=layers),
        )
        assert len(made_findings("NL009", seen(run, text))) == count


def test_the_waist_of_an_autoencoder_is_doubted_less() -> None:
    waist = "nn.Linear(20, 2), nn.Linear(2, 20)"
    (found,) = findings_in("NL009", torch_model(waist, "F.mse_loss(model(x), x)"))
    assert found.confidence < 0.5


def test_the_order_of_layers_is_not_read_off_an_init() -> None:
    module = MODULE.replace(
        "self.act = nn.ReLU()", "self.d = nn.Dropout(0.5); self.n = nn.BatchNorm1d(8)"
    )
    assert findings_in("NL006", TORCH + module) == ()


def test_a_batch_that_lost_its_rows() -> None:
    message = "Expected input batch_size (150) to match target batch_size (300)."
    (found,) = findings_in("NL014", TORCH, crashed(message))
    assert "150" in found.saw
    assert findings_in("NL014", TORCH, crashed("something else")) == ()


def test_crashes_that_tell_of_ranks() -> None:
    (found,) = findings_in("NL011", TORCH + MODULE, crashed("shapes", "Linear", (8, 4, 6, 6)))
    assert "(8, 4, 6, 6)" in found.saw
    (found,) = findings_in("NL001", TORCH + MODULE, crashed("shapes", "Conv2d", (8, 36)))
    assert "rank 4" in found.saw
    assert findings_in("NL001", TORCH + MODULE, crashed("shapes", "Conv2d", (3, 8, 8))) == ()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("NL013", "Kernel size can't be greater than actual input size"),
        (
            "NL013",
            "Given input size: (4x1x1). Calculated output size: (4x0x0). Output size is too small",
        ),
        (
            "NL013",
            "Computed output size would be negative. Received: `inputs shape=(None, 2, 2, 1)`",
        ),
        ("NL021", "shape '[200, 60]' is invalid for input of size 12800"),
        (
            "NL021",
            "The total size of the tensor must be unchanged. Received: input_shape=(64,)",
        ),
    ],
)
def test_crashes_that_tell_of_sizes(code: str, message: str) -> None:
    assert findings_in(code, TORCH, crashed(message))
    assert findings_in(code, TORCH, crashed("index out of range")) == ()


def test_global_pooling_needs_no_flatten() -> None:
    pooled = (
        "layers.Conv2D(4, 3), layers.GlobalAveragePooling2D(), layers.Dense(3, "
        "activation='softmax')"
    )
    assert findings_in("NL011", keras_model(pooled, "'categorical_crossentropy'")) == ()
    flat = "layers.Conv2D(4, 3), layers.MaxPooling2D(2), layers.Dense(3, activation='softmax')"
    (found,) = findings_in("NL011", keras_model(flat, "'categorical_crossentropy'"))
    assert [suggestion.new for suggestion in found.suggestions] == ["Flatten"]


def test_an_output_that_starts_at_zero_is_doubted_less() -> None:
    zero = "layers.Dense(8, activation='relu'), layers.Dense(1, kernel_initializer='zeros')"
    (found,) = findings_in("NL004", keras_model(zero, "'mse'"))
    assert found.confidence < 0.5
    assert found.fault == "WCI"
