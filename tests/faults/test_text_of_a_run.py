"""What the text shows of a program that ran: evidence made by hand, each fault beside a sound one."""

from __future__ import annotations

from dataclasses import replace

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
from reenact.faults.observation import Certainty
from reenact.probe.trace import (
    Columns,
    Event,
    Experiments,
)
from reenact.program.graph import Layer, LossFacts, TaskType, WeightFacts


@pytest.mark.parametrize(
    ("sizes", "given", "fires"),
    [
        ("b, t, c", "x.reshape(b, c, t)", True),
        ("b, t, c", "x.reshape(b, t, c)", False),
        ("b, t, c", "x.transpose(1, 2).reshape(b, c, t)", False),
        ("b, t, c", "x.view(b, t * c)", False),
        ("b, t, c", "self.query(x).view(b, self.heads, t, c // self.heads)", True),
        ("b, t, c", "self.query(x).view(b, t, self.heads, c // self.heads)", False),
        ("n", "x.view(x.size(0), x.size(2), x.size(1))", True),
    ],
)
def test_axes_that_are_swapped_by_a_view(sizes: str, given: str, fires: bool) -> None:
    text = f"def forward(self, x):\n    {sizes} = x.shape\n    return {given}\n"
    found = findings_in("RE048", seen(trace([1.0] * 20), text))
    assert [one.place.line for one in found if one.place is not None] == [3] * fires


HEADS = """
def forward(self, x):
    b, t, c = x.shape
    q = self.q(x).view(b, t, 4, c // 4).transpose(1, 2)
    y = (q @ q.transpose(-2, -1)).softmax(-1) @ q
    return y.{turned}reshape(b, t, c)
"""


def test_heads_that_are_joined_behind_their_tokens() -> None:
    for turned, count in (("", 1), ("transpose(1, 2).", 0)):
        found = findings_in("RE048", seen(trace([1.0] * 20), HEADS.format(turned=turned)))
        assert [one.place.line for one in found if one.place is not None] == [6] * count


ROWS = """
train_mask, test_mask = split(x)
out = model(x)
loss = F.cross_entropy({given})
loss.backward()
right = (out.argmax(1) == y)[test_mask]
"""


def test_a_loss_over_the_rows_of_every_split() -> None:
    for given, count in (
        ("out, y", 1),
        ("out[train_mask], y[train_mask]", 0),
        ("out[labelled], y[labelled]", 0),
        ("model(x)[numbers()], y[numbers()]", 0),
        ("out[:, 0], y", 1),
    ):
        found = findings_in("RE018", seen(trace([1.0] * 20), ROWS.format(given=given)))
        assert [one.place.line for one in found if one.place is not None] == [4] * count


def test_a_condition_that_is_always_true_freezes_everything() -> None:
    text = "for name, p in named:\n    if {test}:\n        p.requires_grad = False\n"
    for test, count in (
        ('"bias" or "norm" in name', 1),
        ('"bias" in name or "norm" in name', 0),
    ):
        found = findings_in("RE051", seen(trace([1.0] * 20), text.format(test=test)))
        assert [one.place.line for one in found if one.place is not None] == [2] * count


AVERAGE = """
class EMA:
    def __init__(self, model, decay):
        self.decay = decay
    def update(self, model):
        {kept}
        for s, p in zip(self.shadow, model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)
ema = EMA(model, decay=0.999)
"""


def test_an_average_that_is_slower_than_the_run() -> None:
    def lines(steps: int, text: str) -> list[int]:
        found = findings_in("RE061", seen(trace([1.0] * steps), text))
        return [one.place.line for one in found if one.place is not None]

    plain = AVERAGE.format(kept="pass")
    assert lines(300, plain) == [9]
    assert lines(3000, plain) == []
    assert lines(300, AVERAGE.format(kept="self.decay = min(0.999, (1 + n) / (10 + n))")) == []
    assert lines(300, plain.replace("shadow", "target")) == [9], "a name decides nothing"
    learned_from = "with torch.no_grad():\n    y = ema.shadow(x)\nloss = F.mse_loss(model(x), y)\n"
    assert lines(300, f"{plain}{learned_from}loss.backward()\n") == [], (
        "a target network is slow on purpose"
    )
    asked = "with torch.no_grad():\n    print(F.mse_loss(ema(x), y))\n"
    assert lines(300, plain + asked) == [9], "an average is only judged"
    gradients = plain.replace("(p, alpha", "(p.grad, alpha")
    assert lines(300, gradients) == [], "an optimizer of one's own averages gradients"


HANDED_OVER = """
def move(a, b, keep):
    for p, q in zip(a.parameters(), b.parameters()):
        p.data = keep * p.data + (1 - keep) * q.data
for x, y in rows:
    F.mse_loss(net(x), {compared}).backward()
    move(slow, net, 0.999)
"""


@pytest.mark.parametrize(("compared", "count"), [("y", 1), ("slow(x)", 0)])
def test_a_copy_that_a_function_is_handed(compared: str, count: int) -> None:
    text = HANDED_OVER.format(compared=compared)
    assert len(findings_in("RE061", seen(trace([1.0] * 300), text))) == count


def test_classes_of_the_data_set_that_the_loss_does_not_see() -> None:
    run = trace([1.0] * 20)
    assert run.graph is not None
    assert seen(run).labels == LABELS

    def compared(*shape: int) -> Evidence:
        loss = LossFacts("binary_cross_entropy", None, {}, None, compared=(shape, shape))
        return seen(replace(run, graph=replace(run.graph, loss=loss)))

    assert compared(16, 64).labels is None, "an image is given back"
    assert compared(16, 3).labels == LABELS, "the classes as one-hot rows"
    assert compared(16).labels == LABELS
    columns = replace(
        LABELS, shape=(None, 2), class_values=tuple(range(12)), classes=12, maximum=11.0
    )
    many = replace(run, data=(columns,))
    assert seen(many).labels == columns
    loss = LossFacts("binary_cross_entropy_with_logits", None, {}, None, compared=((16,), (16,)))
    assert seen(replace(many, graph=replace(run.graph, loss=loss))).labels is None, (
        "columns of categories"
    )


CRITIC = """
kind = F.cross_entropy(classes(code), y)
side = F.binary_cross_entropy_with_logits(critic(code), where)
"""


def test_labels_that_may_be_those_of_the_loss_beside_it() -> None:
    loss = LossFacts("binary_cross_entropy_with_logits", None, {}, None)
    run = trace([1.0] * 20)
    assert run.graph is not None
    run = replace(run, graph=replace(run.graph, loss=loss))
    for text, sure in (
        (CRITIC, Certainty.HINT),
        (CRITIC.replace("F.cross_entropy", "of"), Certainty.PROOF),
    ):
        assert [one.certainty for one in findings_in("RE004", seen(run, text))] == [sure]


PARTS = """
def parts(x, back, mean, log_var):
    near = F.binary_cross_entropy(back, x)
    far = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return near, far
near, far = parts(x, *model(x))
loss = {loss}
"""


def test_a_divergence_that_is_added_where_its_function_is_called() -> None:
    for loss, count in (("near + far", 1), ("near + 0.01 * far", 0)):
        found = findings_in("RE054", seen(trace([1.0] * 20), PARTS.format(loss=loss)))
        assert [one.place.line for one in found if one.place is not None] == [4] * count


BY_ROW = """
def elbo(x, back, mean, log_var):
    near = F.binary_cross_entropy_with_logits(back, x)
    far = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp(), dim=1).mean()
    return near + far, near, far
"""
SUMMED = BY_ROW.replace(
    "F.binary_cross_entropy_with_logits(back, x)", "(back - x).pow(2).sum(1).mean()"
)


@pytest.mark.parametrize(
    ("text", "largest", "count"),
    [(BY_ROW, 0.004, 1), (BY_ROW, 2.0, 0), (SUMMED, 0.004, 0)],
)
def test_a_divergence_of_each_row_whose_codes_have_become_noise(
    text: str, largest: float, count: int
) -> None:
    facts = WeightFacts("weight", (8, 8), True, 0.0, 0.2, -0.4, 0.4, "code.weight")
    code = Layer("code", "Linear", None, ((8, 8),), (8, 8), None, {"out_features": 8}, (facts,))
    model = graph(TaskType.REGRESSION, "mse", 8)
    columns = ("step", "layer", "phase", "minimum", "maximum")
    rows = np.array([[step, 0, 0, -largest, largest] for step in range(5)])
    made = trace(
        [1.0] * 20,
        graph=replace(model, layers=(code, *model.layers)),
        layers=Columns(columns, rows),
        layer_names=("code", "0"),
    )
    found = findings_in("RE054", seen(made, text))
    assert [one.place.line for one in found if one.place is not None] == [4] * count


TWO_HEADS = """
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.litres = nn.Linear(8, 1)
        self.spoiled = nn.Linear(8, 1)
    def forward(self, x):
        return self.litres(x), self.spoiled(x)
litres, spoiled = Net()(x)
loss = F.mse_loss(litres, y) + F.binary_cross_entropy_with_logits(spoiled, z)
"""


@pytest.mark.parametrize(("scale", "count"), [(2e5, 1), (2.0, 0)])
def test_raw_quantities_of_one_head_drown_the_classes_of_another(scale: float, count: int) -> None:
    labels = replace(QUANTITIES, mean=4000.0, std=900.0, maximum=7000.0)
    model = graph(TaskType.BINARY, "binary_cross_entropy_with_logits", 1)
    made = trace([scale * (40 - step) for step in range(20)], graph=model, data=(labels,))
    found = findings_in("RE006", seen(made, TWO_HEADS))
    assert [one.place.line for one in found if one.place is not None] == [12] * count
    assert findings_in("RE004", seen(made, TWO_HEADS)) == (), "they are no labels of the other loss"


@pytest.mark.parametrize(
    ("scale", "text", "count"),
    [
        (2e5, TWO_HEADS, 1),
        (2.0, TWO_HEADS, 0),
        (2e5, TWO_HEADS + "total = parts.sum(1)\n", 0),
    ],
)
def test_classes_that_drown_beside_quantities_nobody_saw(
    scale: float, text: str, count: int
) -> None:
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    made = trace([scale * (40 - step) for step in range(20)], graph=model, data=(LABELS,))
    found = findings_in("RE006", seen(made, text))
    assert [one.place.line for one in found if one.place is not None] == [12] * count


def test_gaps_between_quantiles_bend_a_part_of_the_output() -> None:
    bent = Layer(
        "softplus",
        "softplus",
        None,
        ((16,),),
        (16,),
        "softplus",
        {"functional": True},
        (),
    )
    model = graph(TaskType.REGRESSION, "", 3)
    output = replace(model.layers[0], output_shape=(16, 3))
    for given, activation in (((16,), None), ((16, 3), "softplus")):
        layers = (output, replace(bent, input_shapes=(given,)))
        evidence = seen(trace([1.0] * 20, graph=replace(model, layers=layers, loss=None)))
        assert evidence.last_activation == activation


@pytest.mark.parametrize(("spread", "line"), [(0.15, 3), (0.8, None)])
def test_features_of_held_out_rows_that_vary_less(spread: float, line: int | None) -> None:
    inputs = replace(QUANTITIES, role="input", shape=(None, 80), mean=0.0, std=1.0)
    held = replace(inputs, split="validation", feature_spread=spread)
    text = "import torch\ntrain_set = Rows(a)\nval_set = Rows(b, mean=a.mean(), std=a.std())\n"
    text += "model.fit(train_set, validation_data=val_set)\n"
    found = findings_in("RE007", seen(trace([1.0] * 20, data=(inputs, held)), text))
    assert [one.place.line for one in found if one.place is not None] == ([line] if line else [])


LAST = """
class Net:
    def __init__(self):
        self.rnn = nn.GRU(8, 8, batch_first=True)
    def forward(self, x, lengths):
        out, _ = self.rnn({given})
        return out[:, -1]
"""


def test_the_last_step_of_rows_that_were_padded() -> None:
    def lines(loss: float, text: str, *events: Event) -> list[int]:
        run = trace(list(np.linspace(1.1, loss, 60)), events=events)
        tried = Experiments(one_batch=LEARNED)
        return [one.place.line for one in findings_in("RE036", seen(run, text, tried)) if one.place]

    plain = LAST.format(given="x")
    assert lines(1.0, plain, event("padded")) == [7]
    assert lines(1.0, plain) == [], "all rows are of one length"
    assert lines(0.1, plain, event("padded")) == [], "it learned all the same"
    assert lines(1.0, LAST.format(given="pack_padded_sequence(x, lengths)"), event("padded")) == []
