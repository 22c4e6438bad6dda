"""What single rows tell: of their labels, and when they are evaluated again; steps that a
scaler skips.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from reenact.probe import injected

RANDOM = np.random.default_rng(0)
HEAD = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
x = torch.randn(640, 8); y = x[:, :3].argmax(1)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """
for epoch in range(3):
    for rows, labels in DataLoader(TensorDataset(x[:512], y[:512]), batch_size=64, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(rows), labels)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for rows, labels in held_out:
            net(rows)
"""


def part(name: str) -> Any:
    injected.load()
    return getattr(importlib.import_module("reenact_probe.rows"), name)


def explained(inputs: Any, labels: Any) -> float | None:
    signal = part("Signal")()
    for start in range(0, len(inputs), 32):
        signal.add(inputs[start : start + 32], labels[start : start + 32])
    facts = signal.facts()
    return None if facts is None else float(facts["explained"])


@pytest.mark.parametrize("wide", [4, 300])
def test_inputs_explain_their_own_labels_and_not_those_of_others(wide: int) -> None:
    inputs = RANDOM.normal(size=(400, wide)).astype("f4")
    labels = (inputs[:, : wide // 2].sum(axis=1) > 0).astype("i8")
    own, others = (
        explained(inputs, labels),
        explained(inputs, RANDOM.permutation(labels)),
    )
    assert own is not None
    assert others is not None
    assert own > 0.2
    assert others < 0.03


def test_tokens_are_counted_and_quantities_compared() -> None:
    tokens = RANDOM.integers(0, 50, size=(400, 12))
    amounts = (tokens < 10).sum(axis=1, keepdims=True).astype("f4")
    own, others = (
        explained(tokens, amounts),
        explained(tokens, RANDOM.permutation(amounts)),
    )
    assert own is not None
    assert others is not None
    assert own > 0.5
    assert others < 0.03


def test_rows_that_come_again_do_not_give_their_labels_away() -> None:
    inputs, labels = (
        RANDOM.normal(size=(200, 6)).astype("f4"),
        RANDOM.integers(0, 3, size=200),
    )
    share = explained(np.concatenate([inputs] * 3), np.concatenate([labels] * 3))
    assert share is not None
    assert share < 0.03


def test_few_rows_one_label_and_labels_of_steps_in_time_say_nothing() -> None:
    inputs = RANDOM.normal(size=(400, 6)).astype("f4")
    assert explained(inputs[:100], np.arange(100) % 2) is None
    assert explained(inputs, np.zeros(400, dtype="i8")) is None
    assert (
        explained(RANDOM.integers(0, 9, size=(400, 5)), RANDOM.integers(0, 9, size=(400, 5)))
        is None
    )


def test_rows_that_come_back_changed() -> None:
    again, rows = part("Again")(), RANDOM.normal(size=(20, 5)).astype("f4")
    drawn, counted = RANDOM.integers(0, 4, size=20), np.arange(20) % 4
    assert again.compare("a", rows, drawn) is None, "the first time"
    assert again.compare("a", rows, drawn) is None, "the same rows"
    moved = rows + 0.01 * RANDOM.normal(size=rows.shape).astype("f4")
    assert again.compare("a", moved, drawn) == {
        "rows": 20,
        "same": 0.0,
        "own": 1.0,
        "labels": True,
        "drawn": True,
    }
    others = again.compare("a", RANDOM.normal(size=rows.shape), counted)
    assert others["own"] < 0.5
    assert others["labels"] is False
    assert others["drawn"] is False


def test_a_run_shows_rows_that_are_augmented_when_they_are_evaluated(
    forks: Any,
) -> None:
    text = HEAD + (
        """
class Noisy(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, number):
        return x[512 + number] + 0.3 * torch.randn(8), y[512 + number]
held_out = DataLoader(Noisy(), batch_size=64)
"""
        + LOOP
    )
    noisy = forks.run(text).trace
    again = noisy.happened("evaluated-again")
    assert again
    assert all(event.facts["labels"] is True and event.facts["same"] == 0 for event in again)
    (labels,) = noisy.happened("labels-explained")
    assert labels.facts["explained"] > 0.2
    still = forks.run(text.replace(" + 0.3 * torch.randn(8)", "")).trace
    assert not still.happened("evaluated-again")


def test_a_pass_in_training_mode_is_placed_at_its_call(forks: Any) -> None:
    text = HEAD + "held_out = DataLoader(TensorDataset(x[512:], y[512:]), batch_size=64)\n" + LOOP
    trace = forks.run(text).trace
    lines = text.splitlines()
    places = {event.place for event in trace.happened("evaluation")}
    assert {lines[place.line - 1].strip() for place in places if place is not None} == {"net(rows)"}
    (trained,) = trace.happened("training-pass")
    assert trained.place is not None
    assert "cross_entropy(net(rows)" in lines[trained.place.line - 1]


def test_rows_that_one_line_asks_about_several_times(forks: Any) -> None:
    text = HEAD + "held_out = DataLoader(TensorDataset(x[512:], y[512:]), batch_size=64)\n" + LOOP
    drawn = text.replace(
        "            net(rows)\n", "            runs = [net(rows) for _ in range(3)]\n"
    )
    for program, again in ((text, False), (drawn, True)):
        events = forks.run(program).trace.happened("evaluation")
        assert any(event.facts["again"] for event in events) is again


def test_rows_beside_the_loader_of_the_training_are_another_split(forks: Any) -> None:
    text = HEAD + LOOP.replace(
        "        for rows, labels in held_out:\n            net(rows)\n",
        "        net(x[480:])\n",
    )
    overlaps = forks.run(text).trace.overlaps
    assert (160, 32) in [(overlap.rows, overlap.shared) for overlap in overlaps]


def test_weights_are_described_as_they_were_met_first(forks: Any) -> None:
    text = (
        HEAD
        + "held_out = []\nprint(net[0].weight.std(correction=0).item())\n"
        + LOOP
        + LOOP.replace("rows, labels in DataLoader", "rows, labels in DataLoader").replace(
            "for epoch",
            "optimizer = torch.optim.SGD(net.parameters(), lr=0.5)\nfor epoch",
        )
    )
    ran = forks.run(text)
    assert ran.trace.graph is not None
    assert ran.trace.graph.layers[0].weights[0].std == pytest.approx(float(ran.out.split()[0]))


def test_steps_that_a_scaler_skips_are_noted(forks: Any) -> None:
    text = (
        HEAD
        + """
scaler = torch.amp.GradScaler("cpu")
for step in range(5):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = (net(x.half()) * 60000).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    )
    trace = forks.run(text).trace
    assert trace.step_count == 0
    assert len(trace.happened("step-skipped")) == 5
    assert trace.happened("half-precision")
    assert trace.happened("loss-scaled")


@pytest.mark.parametrize(("scale", "spread"), [(0.1, 0.1), (1.0, 1.0)])
def test_features_of_held_out_rows_beside_those_of_the_training(
    scale: float, spread: float
) -> None:
    injected.load()
    data = importlib.import_module("reenact_probe.data").Data()
    rows = RANDOM.normal(size=(400, 6))
    for name, values in (
        ("train", rows[:200]),
        ("validation", 5 * np.arange(6) + scale * rows[200:]),
    ):
        data.split(name, 1).update("input", values.astype("f4"), "float32")
    train, held = data.as_dict(10)["tensors"]
    assert train["feature_spread"] is None
    assert held["feature_spread"] == pytest.approx(spread, rel=0.3)


def test_rare_features_that_held_out_rows_lack_do_not_count() -> None:
    injected.load()
    data = importlib.import_module("reenact_probe.data").Data()
    rows = np.concatenate([RANDOM.random((400, 40)) < 0.004, RANDOM.normal(size=(400, 6))], axis=1)
    for name, values in (("train", rows[:300]), ("validation", rows[300:])):
        data.split(name, 1).update("input", values.astype("f4"), "float32")
    assert data.as_dict(10)["tensors"][1]["feature_spread"] == pytest.approx(1.0, rel=0.3)


def test_the_places_of_rows_in_their_batch_are_no_labels() -> None:
    signal = injected.part("rows").Signal()
    for _ in range(8):
        signal.add(RANDOM.normal(size=(64, 4)), RANDOM.permutation(64))
    assert signal.facts() is None
    for _ in range(8):
        signal.add(RANDOM.normal(size=(64, 4)), RANDOM.integers(64, size=64))
    assert signal.facts() is not None
