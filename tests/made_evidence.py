"""Evidence made by hand: a linear model, its labels, and a run with given losses; two programs
to fill in.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.registry import detector
from reenact.probe.trace import (
    Columns,
    Event,
    Experiments,
    OneBatch,
    ParameterFacts,
    Trace,
    no_rows,
)
from reenact.program.graph import (
    Layer,
    LossFacts,
    ModelGraph,
    OptimizerFacts,
    TaskType,
    TensorFacts,
    WeightFacts,
)
from reenact.testing.faults import evidence_of
from reenact.types import JsonValue, Place

KERAS = """
import keras
from keras import layers
from data import x, y
model = keras.Sequential([layers.Input((8,)), layers.Dense(16, activation="relu"), {output}])
model.compile("adam", loss={loss})
model.fit(x, y, epochs=20, batch_size=16, validation_split=0.2)
"""
TORCH = """
import torch
from torch import nn
from data import loader
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), {output})
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_of = nn.{loss}()
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
"""

LABELS = TensorFacts(
    "train",
    "label",
    (None,),
    "int64",
    0.0,
    2.0,
    1.0,
    0.8,
    0.0,
    0,
    3,
    (100, 100, 100),
    300,
    (0, 1, 2),
    True,
)
QUANTITIES = replace(
    LABELS,
    dtype="float32",
    classes=None,
    class_counts=None,
    class_values=None,
    integral=False,
)
YES_OR_NO = replace(LABELS, maximum=1.0, classes=2, class_counts=(150, 150), class_values=(0, 1))
LEARNED = OneBatch(30, tuple(1.1 * 0.8**step for step in range(30)), 1.0)
ONE_HOT = replace(LABELS, shape=(None, 3), maximum=1.0, one_hot=True)


def graph(task: TaskType, loss: str, width: int, *, framework: str = "torch") -> ModelGraph:
    weight = WeightFacts("weight", (width, 8), True, 0.0, 0.2, -0.4, 0.4, "0.weight")
    output = Layer(
        "0",
        "Linear",
        None,
        ((None, 8),),
        (None, width),
        None,
        {"out_features": width},
        (weight,),
    )
    return ModelGraph(
        framework,
        "Net",
        (output,),
        LossFacts(loss, None, {}, None),
        OptimizerFacts("Adam", 0.001, {}, None, 1),
        (),
        task,
        16,
        8 * width,
        8 * width,
    )


def trace(losses: list[float], **more: object) -> Trace:
    """A run with these losses, one batch of ten rows a step, ten steps an epoch."""
    columns = (
        "step",
        "epoch",
        "loss",
        "learning_rate",
        "batch_size",
        "carried",
        "optimizer",
        "training",
    )
    rows = [[step, step // 10, loss, 0.001, 10, 0, 0, 1] for step, loss in enumerate(losses)]
    steps = Columns(columns, np.array(rows, dtype=float)) if rows else no_rows(columns)
    made = Trace(
        steps,
        no_rows(("step", "layer", "phase")),
        no_rows(("step", "parameter")),
        ("0",),
        (ParameterFacts("0.weight", (3, 8), True, True),),
        (),
        (),
        graph(TaskType.MULTI_CLASS, "cross_entropy", 3),
        (LABELS,),
        (),
        None,
        True,
        1.0,
        0.1,
        (),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def findings_in(code: str, evidence: Evidence) -> tuple[Finding, ...]:
    return run_detectors((detector(code),), evidence)


def event(kind: str, place: Place | None = None, **facts: JsonValue) -> Event:
    return Event(kind, 1, 0, 0.0, facts, place)


def seen(run: Trace, text: str = "import torch\n", tried: Experiments | None = None) -> Evidence:
    return replace(evidence_of(text, run=False), trace=run, experiments=tried or Experiments())
