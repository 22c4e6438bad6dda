"""Faults that the text alone shows, and the places that a reader looks at."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from made_evidence import QUANTITIES, findings_in, trace
from reenact.faults.evidence import Evidence
from reenact.faults.registry import detector
from reenact.probe.trace import (
    Event,
    Experiments,
    OneBatch,
)
from reenact.testing.faults import evidence_of, findings
from reenact.types import Place


@pytest.mark.parametrize(("zeroed", "count"), [(1.0, 1), (2.0, 0)])
def test_a_divergence_summed_over_each_row_counts_where_inputs_are_ignored(
    zeroed: float, count: int
) -> None:
    text = BOUND.format(
        kl="-0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp(), dim=1).mean()",
        total="distance + kl",
        reduction="",
    )
    tried = Experiments(one_batch=OneBatch(20, (1.0,) * 20, None, (zeroed,) * 20))
    found = findings_in("RE054", replace(evidence_of(text, run=False), experiments=tried))
    assert [one.place.line for one in found if one.place is not None] == [5] * count


@pytest.mark.parametrize(("answer", "count"), [("x", 0), ("y", 1)])
def test_rows_that_a_model_makes_itself_are_not_held_out(answer: str, count: int) -> None:
    """Samples are drawn step by step from noise, which has another scale than the data."""
    text = f"""
@torch.no_grad()
def sample(net, x):
    for t in range(60):
        eps = net(x, t)
        {answer} = x - eps
    return {answer}
"""
    rows = [replace(QUANTITIES, role="input", mean=100.0, std=50.0)]
    rows.append(replace(rows[0], split="test", mean=0.0, std=1.0))
    evidence = replace(evidence_of(text, run=False), trace=trace([1.0] * 40, data=tuple(rows)))
    assert len(findings_in("RE007", evidence)) == count


FORWARD = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 8)
        self.two = nn.Linear(8, 3)
    def forward(self, x):
        x = self.one(x)
        return self.two(x)
"""


def test_places_that_a_reader_looks_at() -> None:
    (found,) = findings(detector("NL009"), FORWARD)
    assert found.place is not None
    assert found.place.line == 10, "where the activation is missing, not where the layer is made"
    evidence = evidence_of("x = 1\ndef step(loss):\n    loss.backward()\n", run=False)
    run = trace([1.0] * 20)
    run.steps.rows[:, run.steps.columns.index("carried")] = 1
    (found,) = findings_in("RE010", replace(evidence, trace=run))
    assert found.place is not None
    assert found.place.line == 3


LOOP = "for epoch in range(9):\n    loss = step()\n    loss.backward()\n    {line}\n"
BOUND = """
import torch.nn.functional as F
def loss_of(output, x, mean, log_var):
    distance = F.mse_loss(output, x{reduction})
    kl = {kl}
    return {total}
"""
SUMMED = """
def both(first, second):
    return first + second
"""
WEIGHTED = """
def both(first, second):
    return first + 0.01 * second
"""
POLICY = """
def losses(net, states, actions, returns):
    log_probs = F.log_softmax(net(states), -1)
    chosen = log_probs.gather(1, actions)
    policy_loss = {sign}(chosen * (returns - 1)).mean()
    policy_loss.backward()
"""
SURROGATE = """
ratio = (dist.log_prob(actions) - old).exp()
surrogate = ratio * adv
clipped = ratio.clamp(0.8, 1.2) * adv
policy_loss = {sign}torch.min(surrogate, clipped).mean()
policy_loss.backward()
"""
PAIRS = """
images, texts = pairs()
first = DataLoader(TensorDataset(images), shuffle={first})
second = DataLoader(TensorDataset(texts), shuffle=True)
for (a,), (b,) in zip(first, second):
    loss = contrast(a, b)
"""
NOISE = """
for step in range(9):
    x = batch()
    noise = torch.randn_like(x)
    noised = {noised}
    loss = F.mse_loss(model(noised), noise)
"""
STEP = """
import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop = keras.layers.Dropout(0.5)
    def {name}(self, batch):
        return self(batch, training=True)
"""
DISTIL = """
import torch.nn as nn
class Distiller:
    def __init__(self):
        self.divergence = nn.KLDivLoss(reduction="batchmean")
    def loss(self, student, teacher):
        given = F.{given}(student, dim=1)
        return self.divergence(given, F.softmax(teacher, dim=1))
"""
RARE = """
rare = np.flatnonzero(y)
more = np.random.choice({population}, 100, replace=True)
x, y = {rows}, y[more]
train, test = train_test_split(x)
"""
CUT = """
rare = np.flatnonzero(y)
more = np.random.choice({population}, size=len(y) - len(rare), replace=True)
x = {rows}
cut = int(0.8 * len(x))
train, test = x[:cut], x[{rest}:]
"""
FLIPPED = """
def item(img, mask):
    if random() < 0.5:
        {both}
    if random() < 0.5:
        img, mask = img[::-1], mask[::-1]
    return img, mask
"""
VALUES = """
memory.append((state, action, reward, after, steps > 9))
states, actions, rewards, after, ends = batch(memory)
later = critic(after)
later[ends] = 0
target = rewards + gamma * {value}
"""
REPLAYED = """
def play(env, net, memory):
    obs = env.reset()
    while learning:
        following, r, terminated, late = env.step(net(obs).argmax())
        memory.push(obs, r, following, float(terminated))
        obs = env.reset() if terminated or late else following
        s, r, s2, done = memory.sample(64)
        y = {target}
"""
RETURNS = """
dones.append(done)
for reward in reversed(rewards):
    total = reward + gamma * total
"""
SCORES = """
rows = [F.normalize(row, dim=1) for row in rows]
def contrast(a, b, tau={tau}):
    scores = {scores}
    return F.cross_entropy(scores, torch.arange(len(a)))
"""
HITS = """
def judge(model, loader, hits=0):
    for x, y in loader:
        hits {sign}= (model(x).argmax(1) == y).float().{counted}().item()
    return {share}
"""
JUDGED = """
shake = lambda row: row + torch.randn_like(row)
scale = lambda row: row / 255
rows = Images(shake)
others = Images({change})
def judge(model, batches):
    with torch.no_grad():
        for batch in batches:
            yield model(batch)
for batch in DataLoader(rows):
    loss(model(batch)).backward()
judge(model, DataLoader(others))
"""
AUGMENTED = """
noisy = transforms.Compose([transforms.{name}()])
data = Images(transform=noisy)
train_set, val_set = random_split(data, [80, 20])
{after}
"""


def bound(kl: str, total: str, reduction: str = "") -> str:
    """The loss of a VAE; `KL` is the sum that a divergence is made of."""
    written = kl.replace("KL", "torch.sum(1 + log_var - mean.pow(2) - log_var.exp())")
    return BOUND.format(kl=written, total=total, reduction=reduction)


@pytest.mark.parametrize(
    ("code", "text", "line"),
    [
        ("RE047", LOOP.format(line="history.append(loss)"), 4),
        ("RE047", LOOP.format(line="history.append(loss.item())"), None),
        ("RE047", LOOP.format(line="history = []; history.append(loss)"), None),
        ("RE047", LOOP.format(line="history.append(other)"), None),
        (
            "RE047",
            LOOP.format(line="history.append(loss)").replace("range(9)", "loader"),
            None,
        ),
        ("RE054", bound("-0.5 * KL", "distance + kl"), 5),
        ("RE054", bound("-0.5 * KL", "distance + kl", ", reduction='sum'"), None),
        ("RE054", bound("-0.5 * KL", "distance + kl", ", size_average=False"), None),
        ("RE054", bound("-0.5 * KL / x.numel()", "distance + kl"), None),
        ("RE054", bound("-0.5 * KL", "distance + beta * kl"), None),
        ("RE054", f"{bound('-0.5 * KL', 'both(distance, kl)')}{SUMMED}", 5),
        ("RE054", f"{bound('-0.5 * KL', 'both(distance, kl)')}{WEIGHTED}", None),
        ("RE049", bound("0.5 * KL", "distance + kl"), 5),
        ("RE049", bound("0.5 * KL", "distance - kl"), None),
        ("RE049", bound("-0.5 * KL", "distance + kl"), None),
        ("RE049", bound("-0.5 / len(x) * KL", "distance + kl"), None),
        ("RE049", bound("0.5 / len(x) * KL", "distance + kl"), 5),
        ("RE049", POLICY.format(sign=""), 5),
        ("RE049", POLICY.format(sign="-"), None),
        (
            "RE049",
            POLICY.format(sign="").replace(".mean()", ".mean() - 0.01 * entropy"),
            5,
        ),
        (
            "RE049",
            POLICY.format(sign="0.5 * value_loss - ").replace(".mean()", ".mean() - entropy"),
            None,
        ),
        (
            "RE049",
            POLICY.format(sign="").replace("returns - 1", "-returns"),
            None,
        ),
        ("RE049", SURROGATE.format(sign=""), 5),
        ("RE049", SURROGATE.format(sign="-"), None),
        ("RE053", PAIRS.format(first="True"), 5),
        ("RE053", PAIRS.format(first="False"), None),
        ("RE053", NOISE.format(noised="add_noise(x)"), 6),
        ("RE053", NOISE.format(noised="x + noise"), None),
        ("RE053", FLIPPED.format(both="img = img[:, ::-1]"), 4),
        ("RE053", FLIPPED.format(both="img, mask = img[:, ::-1], mask[:, ::-1]"), None),
        ("RE059", VALUES.format(value="critic(after)"), 6),
        ("RE059", VALUES.format(value="critic(after) * (1 - ends)"), None),
        ("RE059", VALUES.format(value="later"), None),
        (
            "RE059",
            VALUES.format(value="critic(after)").replace("steps > 9", "steps"),
            None,
        ),
        ("RE059", RETURNS, None),
        ("RE059", REPLAYED.format(target="r + gamma * critic(s2).max(1).values"), 9),
        (
            "RE059",
            REPLAYED.format(target="r if done else r + gamma * critic(s2).max()"),
            None,
        ),
        ("RE060", SCORES.format(scores="a @ b.T * tau", tau="0.1"), 4),
        ("RE060", SCORES.format(scores="torch.matmul(a, b.T) * tau", tau="0.1"), 4),
        ("RE060", SCORES.format(scores="a @ b.T / tau", tau="0.1"), None),
        ("RE060", SCORES.format(scores="a @ b.T * tau", tau="14.0"), None),
        ("RE060", SCORES.format(scores="a @ b.T * tau.exp()", tau="0.1"), None),
        (
            "RE060",
            "import torch\nT = 4.0\nsoft = torch.softmax(teacher(x) * T, 1)\n"
            "loss = F.kl_div(student(x), soft)\n",
            3,
        ),
        ("RE001", DISTIL.format(given="softmax"), 8),
        ("RE001", DISTIL.format(given="log_softmax"), None),
        ("RE055", RARE.format(population="rare", rows="x[more]"), 3),
        ("RE055", RARE.format(population="names", rows="x[more]"), None),
        ("RE055", RARE.format(population="rare", rows="x[more] + noise"), None),
        ("RE055", CUT.format(population="rare", rows="x[more]", rest="cut"), 3),
        ("RE055", CUT.format(population="rare", rows="x[more]", rest="other"), None),
        (
            "RE055",
            CUT.format(population="rare", rows="x[more] + noise", rest="cut"),
            None,
        ),
        (
            "RE055",
            CUT.format(population="np.arange(3)", rows="x[more]", rest="cut"),
            None,
        ),
        ("RE056", AUGMENTED.format(name="RandomCrop", after=""), 4),
        ("RE056", AUGMENTED.format(name="ToTensor", after=""), None),
        (
            "RE056",
            AUGMENTED.format(name="RandomCrop", after="val_set.dataset = Images()"),
            None,
        ),
        ("RE056", JUDGED.format(change="shake"), 5),
        ("RE056", JUDGED.format(change="scale"), None),
        ("RE058", HITS.format(sign="", counted="mean", share="hits"), 4),
        ("RE058", HITS.format(sign="+", counted="sum", share="hits / len(loader)"), 4),
        (
            "RE058",
            HITS.format(sign="+", counted="mean", share="hits / len(loader.dataset)"),
            4,
        ),
        (
            "RE058",
            HITS.format(sign="+", counted="mean", share="hits / len(loader)"),
            None,
        ),
        (
            "RE058",
            HITS.format(sign="+", counted="sum", share="hits / len(loader.dataset)"),
            None,
        ),
    ],
)
def test_faults_that_the_text_alone_shows(code: str, text: str, line: int | None) -> None:
    found = [finding for finding in findings(detector(code), text) if finding.place is not None]
    assert [finding.place.line for finding in found if finding.place] == ([line] if line else [])


@pytest.mark.parametrize(("name", "fires"), [("test_step", True), ("train_step", False)])
def test_a_step_of_keras_that_evaluates_in_training_mode(name: str, fires: bool) -> None:
    evidence = replace(
        evidence_of(STEP.format(name=name), run=False),
        trace=trace([1.0] * 20, graph=None),
    )
    assert [one.place.line for one in findings_in("RE011", evidence) if one.place] == (
        [8] if fires else []
    )


def test_numbers_that_are_not_finite_are_placed_where_numpy_warned() -> None:
    place = Place(PurePosixPath("train.py"), 19)
    warned = Event("warning", 0, 0, 0.0, {"message": "divide by zero encountered in log"}, place)
    other = Event(
        "warning",
        0,
        0,
        0.0,
        {"message": "deprecated"},
        Place(PurePosixPath("train.py"), 2),
    )
    run = replace(trace([math.nan] * 20), events=(other, warned))
    assert Evidence(trace=run).non_finite_at == place
    assert Evidence(trace=replace(run, events=(other,))).non_finite_at is None


SCALED = """
scaler = torch.amp.GradScaler("cpu"{given})
for x, y in loader:
    scaler.scale(loss_of(x, y)).backward()
    {before}
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
"""


@pytest.mark.parametrize(
    ("given", "before", "line"),
    [
        ("", "pass", 6),
        ("", "scaler.unscale_(optimizer)", None),
        (", enabled=half", "pass", None),
    ],
)
def test_clipping_before_gradients_are_unscaled(given: str, before: str, line: int | None) -> None:
    evidence = evidence_of(SCALED.format(given=given, before=before), run=False)
    found = findings_in("RE043", replace(evidence, trace=trace([1.0] * 20)))
    assert [one.place.line for one in found if one.place] == ([line] if line else [])
