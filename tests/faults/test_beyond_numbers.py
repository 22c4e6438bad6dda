"""Runs whose numbers are infinite, NaN, zero or too large to be squared: no detector fails on them,
and numpy warns nobody of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from made_evidence import event, findings_in, graph, seen, trace
from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.registry import all_detectors
from reenact.probe.trace import (
    Columns,
    Experiments,
    LearningRateRange,
    Metric,
    OneBatch,
    OwnRate,
    Trace,
)
from reenact.program.graph import TaskType
from reenact.testing.faults import evidence_of

CLASSIFIER = """
import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs())
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(6):
    for rows in torch.randperm(240).split(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x[240:]).argmax(1) == y[240:]).float().mean().item()
    model.train()
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {accuracy:.3f}")
"""
REGRESSION = """
import torch
from torch import nn
from reenact.testing.toys import blobs

x, _ = map(torch.from_numpy, blobs())
y = x @ torch.linspace(-1, 1, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.Sigmoid(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for start in range(0, 240, 20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[start : start + 20])[:, 0], y[start : start + 20])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
"""
BEYOND = (0.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 1e-320)
KEYS = (
    "step",
    "epoch",
    "layer",
    "parameter",
    "phase",
    "optimizer",
    "batch_size",
    "carried",
    "training",
)
"""Columns that say what a row is about; the others are measured."""
DRAWS = 40


def beyond(table: Columns, chance: np.random.Generator) -> Columns:
    """Each measured column as it was, with some values replaced, or all from some row on."""
    rows = table.rows.copy()
    for column in range(len(table.columns)):
        if table.columns[column] in KEYS:
            continue
        how = chance.integers(3)
        if how == 1:
            hit = chance.random(len(rows)) < chance.choice([0.05, 0.5, 0.95])
            rows[hit, column] = chance.choice(BEYOND, size=hit.sum())
        elif how == 2:
            rows[chance.integers(len(rows) + 1) :, column] = chance.choice(BEYOND)
    return Columns(table.columns, rows)


def beyond_metric(metric: Metric, chance: np.random.Generator) -> Metric:
    return replace(metric, value=float(chance.choice([metric.value, *BEYOND])))


def beyond_run(run: Trace, chance: np.random.Generator) -> Trace:
    return replace(
        run,
        steps=beyond(run.steps, chance),
        layers=beyond(run.layers, chance),
        parameters=beyond(run.parameters, chance),
        metrics=tuple(beyond_metric(one, chance) for one in run.metrics),
    )


def beyond_tried(chance: np.random.Generator) -> Experiments:
    def course() -> tuple[float, ...]:
        return tuple(float(value) for value in chance.choice([2.3, 0.1, *BEYOND], size=30))

    return Experiments(
        OneBatch(30, course(), 0.5, course()),
        LearningRateRange(tuple(1e-6 * 1.5**number for number in range(30)), course()),
        OwnRate(0.1, course(), course(), course()),
    )


def beyond_evidence(evidence: Evidence) -> Iterator[Evidence]:
    for seed in range(DRAWS):
        chance = np.random.default_rng(seed)
        run = beyond_run(evidence.watched, chance)
        yield replace(evidence, trace=run, experiments=beyond_tried(chance))


@pytest.mark.parametrize("program", [CLASSIFIER, REGRESSION], ids=["classifier", "regression"])
def test_no_detector_fails_or_warns_on_numbers_beyond_all_bounds(program: str) -> None:
    evidence = evidence_of(program, run=True)
    assert evidence.step_count == 72
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for spoiled in beyond_evidence(evidence):
            run_detectors(all_detectors(), spoiled)


@pytest.mark.parametrize("weight", [1e-320, 1e308])
def test_a_step_that_no_number_compares_with_its_weights(weight: float) -> None:
    """A quotient of ten to the 600 is too large for a number, and one of ten to -600 is zero."""
    columns = ("step", "parameter", "weight_mean_abs", "update_mean_abs")
    moved = 1e308 if weight < 1 else 1e-320
    rows = np.array([[step, 0, weight, moved] for step in range(9)])
    run = trace([2.3] * 40, parameters=Columns(columns, rows))
    found = findings_in("TC005", seen(run)), findings_in("TC006", seen(run))
    assert [len(one) for one in found] == ([1, 0] if weight < 1 else [0, 1])


def test_the_progress_of_a_loss_that_becomes_infinite_warns_nobody() -> None:
    losses = [2.3] * 20 + [math.inf] * 20 + [math.nan] * 20
    made = graph(TaskType.REGRESSION, "mse", 1)
    run = trace(losses, graph=made, events=(event("epoch"),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_detectors(all_detectors(), seen(run))
