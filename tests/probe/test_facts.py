"""What the trace of one known training says about it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from reenact.faults.evidence import Evidence
from reenact.probe.json_graph import infer_task
from reenact.program.graph import LossFacts, TensorFacts

PROGRAM = """
import json
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(120, 4) * 255
x[:, 3] = 1.0
y = torch.tensor([0] * 80 + [1] * 30 + [2] * 10)
dead = nn.Linear(8, 8)
nn.init.constant_(dead.bias, -1e6)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), dead, nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
train = DataLoader(TensorDataset(x[:100], y[:100]), batch_size=20, shuffle=True)
held_out = DataLoader(TensorDataset(x[90:], y[90:]), batch_size=30)
losses = []
for epoch in range(5):
    model.train()
    for xb, yb in train:
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    model.eval()
    with torch.no_grad():
        for xb, yb in held_out:
            model(xb)
print(json.dumps(losses))
"""

BROKEN = """
import torch

torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.eval()
for step in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(torch.randn(6, 2)), torch.randn(6, 1))
    if step >= 2:
        loss = loss * float("nan")
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def run(forks: Any) -> Any:
    return forks.run(PROGRAM)


@pytest.fixture(scope="module")
def broken(forks: Any) -> Any:
    return forks.run(BROKEN)


def test_steps_epochs_batch_size_and_losses_are_those_of_the_program(run: Any) -> None:
    assert run.trace.step_count == 25
    assert run.trace.epoch_count == 5
    assert set(run.trace.steps["batch_size"]) == {20}
    assert run.trace.losses.values == pytest.approx(json.loads(run.out), rel=1e-6)
    assert run.trace.complete


def test_the_schedule_of_the_learning_rate_is_seen(run: Any) -> None:
    expected = [0.4 * 0.5**epoch for epoch in range(5) for _ in range(5)]
    assert run.trace.steps["learning_rate"] == pytest.approx(expected)


def test_gradients_that_nobody_cleared_are_seen_as_carried(run: Any, broken: Any) -> None:
    assert set(run.trace.steps["carried"][1:]) == {1}
    assert set(broken.trace.steps["carried"]) == {0}


def test_the_mode_of_the_model_is_seen(run: Any, broken: Any) -> None:
    assert set(run.trace.steps["training"]) == {1}
    assert set(broken.trace.steps["training"]) == {0}


def test_each_of_the_first_twenty_steps_is_looked_at_closely(run: Any) -> None:
    assert list(run.trace.steps.where(sampled=1)["step"][:20]) == list(range(20))
    for layer in ("0", "1", "2", "3", "5"):
        assert set(range(20)) <= set(run.trace.layer(layer, "std").known.steps), layer
    for parameter in run.trace.parameter_facts:
        assert set(range(20)) <= set(run.trace.parameter(parameter.name, "weight_norm").known.steps)
    assert np.isfinite(run.trace.steps["grad_norm"][:20]).all()


def test_a_dead_layer_is_seen_as_dead_and_a_live_one_is_not(run: Any) -> None:
    relu = next(layer.name for layer in run.trace.graph.layers if layer.type == "ReLU")
    tanh = next(layer.name for layer in run.trace.graph.layers if layer.type == "Tanh")
    assert set(run.trace.layer(relu, "dead_unit_share").values) == {1.0}
    assert set(run.trace.layer(relu, "zero_share").values) == {1.0}
    assert run.trace.layer(tanh, "zero_share").values.max() < 0.5
    assert run.trace.layer(tanh, "saturated_share").values.max() > 0.5, (
        "inputs up to 255 saturate it"
    )


def facts(run: Any, split: str, role: str) -> Any:
    return next(found for found in run.trace.data if (found.split, found.role) == (split, role))


def test_inputs_and_labels_are_described(run: Any) -> None:
    inputs, labels = facts(run, "train", "input"), facts(run, "train", "label")
    assert inputs.minimum is not None
    assert 0 <= inputs.minimum <= 1
    assert inputs.maximum is not None
    assert 240 < inputs.maximum <= 255
    assert (inputs.nan_share, inputs.constant_features) == (0, 1)
    assert (labels.classes, labels.class_values) == (2, (0, 1))
    assert labels.class_counts == (80, 20)
    assert run.trace.graph.task == "multi-class"


def test_rows_that_validation_shares_with_training_are_counted(run: Any) -> None:
    [overlap] = run.trace.overlaps
    assert (overlap.split, overlap.rows, overlap.shared) == ("validation", 30, 10)
    assert overlap.complete


def test_a_loss_that_is_not_a_number_is_recorded(broken: Any) -> None:
    assert np.isnan(broken.trace.losses.values).tolist() == [False, False, True, True]
    assert broken.trace.parameters.where(step=3)["weight_bad_share"].max() == 1


OWN_DATASET = """
import torch
from torch.utils.data import DataLoader, Dataset, random_split

class Names(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return torch.full((3,), float(index)), index % 2

torch.manual_seed(0)
train, held_out = random_split(Names(), [30, 10])
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for epoch in range(2):
    for xb, yb in DataLoader(train, batch_size=10):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    with torch.no_grad():
        for xb, yb in DataLoader(held_out, batch_size=10):
            model(xb)
"""


def test_part_of_a_data_set_of_ones_own_is_described_from_its_batches(
    forks: Any,
) -> None:
    ran = forks.run(OWN_DATASET)
    inputs, labels = facts(ran, "train", "input"), facts(ran, "train", "label")
    assert (inputs.shape, labels.class_values) == ((None, 3), (0, 1))
    assert facts(ran, "validation", "input").rows_seen >= 10
    [overlap] = ran.trace.overlaps
    assert (overlap.rows, overlap.shared) == (10, 0)


BOTH_EVALUATED = """
import torch

torch.manual_seed(0)
x, y = torch.randn(400, 3), torch.randint(0, 2, (400,))
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x[:300]), y[:300]).backward()
    optimizer.step()
    with torch.no_grad():
        model(x[:300])
        model(x[HELD:])
"""


@pytest.mark.parametrize(("held", "rows", "shared"), [(300, 100, 0), (250, 150, 50)])
def test_training_rows_that_are_evaluated_beside_others_do_not_leak(
    forks: Any, held: int, rows: int, shared: int
) -> None:
    [overlap] = forks.run(BOTH_EVALUATED.replace("HELD", str(held))).trace.overlaps
    assert (overlap.rows, overlap.shared, overlap.complete) == (rows, shared, True)


SHARES_AS_LABELS = """
import torch

torch.manual_seed(0)
x, y = torch.randn(64, 6), (torch.rand(64, 4) < 0.3).float()
model = torch.nn.Linear(6, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def test_a_loss_that_divides_by_its_rows_itself_is_read(forks: Any) -> None:
    ran = forks.run(SHARES_AS_LABELS)
    assert ran.trace.graph is not None
    assert not ran.trace.happened("probe-off")
    assert len(ran.trace.losses.known) == 4


NEW_HEAD = """
import torch

torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 3, (64,))
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5))
for head in (model[2], torch.nn.Linear(8, 3)):
    model[2] = head
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(4):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""


def test_a_head_that_is_put_in_later_belongs_to_the_model(forks: Any) -> None:
    ran = forks.run(NEW_HEAD)
    assert ran.trace.graph.unregistered == ()
    assert {one.name.partition(".")[0] for one in ran.trace.parameter_facts} == {
        "0",
        "2",
    }


ONE_OUTPUT = """
import json
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x[:, 0] > 0).long()
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
loader, whole = DataLoader(TensorDataset(x, y), batch_size=20), DataLoader(TensorDataset(x, y), batch_size=40)
right = []
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(xb)[:, 0], yb.float()).backward()
        optimizer.step()
    with torch.no_grad():
        for xb, yb in whole:
            right.append(((model(xb)[:, 0] > 0) == yb).float().mean().item())
print(json.dumps(right))
"""


def test_one_output_against_classes_in_one_dimension_is_parted_in_two(
    forks: Any,
) -> None:
    ran = forks.run(ONE_OUTPUT)
    found = [metric.value for metric in ran.trace.metrics if metric.name == "val_accuracy"]
    assert found == pytest.approx(json.loads(ran.out)), ran.err


def test_a_torch_that_is_only_imported_makes_no_graph(forks: Any) -> None:
    trace = forks.run("import torch\nprint(torch.ones(2))\n").trace
    assert trace.graph is None
    assert trace.step_count == 0


def labels(
    shape: tuple[int | None, ...],
    values: tuple[int, ...] | None,
    dtype: str = "float32",
) -> TensorFacts:
    counts = None if values is None else (10,) * len(values)
    number = None if values is None else len(values)
    spread = (0.0, 1.0, 0.5, 0.5, 0.0, 0)
    return TensorFacts(
        "train",
        "label",
        shape,
        dtype,
        *spread,
        number,
        counts,
        30,
        values,
        values is not None,
    )


TASKS = {
    "regression": (labels((None, 1), None), 1, "mse"),
    "binary": (labels((None, 1), (0, 1)), 1, "mse"),
    "multi-label": (labels((None, 4), (0, 1)), 4, "mse"),
    "multi-class": (labels((None,), (0, 1, 2, 3), "int64"), 4, "cross_entropy"),
}


@pytest.mark.parametrize("task", TASKS)
def test_the_labels_tell_the_task_where_the_loss_does_not(task: str) -> None:
    facts_of_labels, width, loss = TASKS[task]
    assert infer_task(facts_of_labels, (None, width), LossFacts(loss, None, {}, None)) == task


ODD = """
import copy
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

bend = nn.ReLU()


class Shard:
    def __init__(self, batch_sampler):
        self.batch_sampler = batch_sampler

    def __iter__(self):
        return iter(self.batch_sampler)

    def __len__(self):
        return len(self.batch_sampler)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = BLOCKS
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        for block in self.blocks:
            x = bend(block(x))
        return self.head(x)


torch.manual_seed(0)
x = torch.randn(40, 4)
y = torch.arange(40) % 4 - 1
rows = TensorDataset(x, y)
loader = DataLoader(rows, batch_sampler=Shard(BatchSampler(RandomSampler(rows), 10, False)))
net = Net()
target = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for xb, yb in loader:
        with torch.no_grad():
            target(xb)
        optimizer.zero_grad()
        weights = torch.ones(3)
        F.cross_entropy(net(xb), yb, weight=weights, ignore_index=-1).backward()
        optimizer.step()
"""


GIVING = """
import torch
from torch import nn
from torch.distributions import Categorical

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 3)
    def forward(self, x, step):
        h = self.body(x)
        return RESULT
net = Net()
judge = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    given = net(torch.randn(10, 4), step)
    optimizer.zero_grad()
    judge(SCORES, torch.arange(10) % 3).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("result", "scores", "outputs"),
    [
        pytest.param("self.one(h)", "given", 1, id="one"),
        pytest.param("self.one(h) * self.two(h)", "given", 1, id="one of two layers"),
        pytest.param("(self.one(h), h.detach(), None)", "given[0]", 1, id="one to learn from"),
        pytest.param("{'a': self.one(h), 'b': [self.two(h)]}", "given['a']", 2, id="two"),
        pytest.param("Categorical(logits=self.one(h))", "given.logits", None, id="an object"),
        pytest.param(
            "self.one(h) if step < 2 else self.two(h)", "given", None, id="by turns another"
        ),
        pytest.param("h", "net.one(given)", 2, id="a head that is called apart"),
    ],
)
def test_how_many_tensors_a_model_gives(
    forks: Any, result: str, scores: str, outputs: int | None
) -> None:
    program = GIVING.replace("RESULT", result).replace("SCORES", scores)
    assert forks.run(program).trace.graph.outputs == outputs


def test_what_is_not_in_the_model_stands_where_it_is_made_if_it_has_weights(
    forks: Any,
) -> None:
    program = ODD.replace("BLOCKS", "[Block() for _ in range(2)]")
    graph = forks.run(program).trace.graph
    assert graph.unregistered == ("linear", "linear_2", "linear_3", "linear_4"), (
        "of the net and of its copy"
    )
    assert graph.unregistered_at.line == line_of(program, "self.blocks = ")
    graph = forks.run(ODD.replace("BLOCKS", "nn.ModuleList(Block() for _ in range(2))")).trace.graph
    assert (graph.unregistered, graph.unregistered_at) == ((), None)


def test_samplers_of_batches_copies_and_labels_that_do_not_count(forks: Any) -> None:
    trace = forks.run(ODD.replace("BLOCKS", "nn.ModuleList([Block()])")).trace
    [loader] = trace.happened("loader")
    assert loader.facts["sampler"] == "RandomSampler"
    assert {event.facts["learns"] for event in trace.happened("evaluation")} == {False}
    assert (
        trace.graph.loss.settings["ignore_index"],
        trace.graph.loss.settings["weight"],
    ) == (-1, "given")
    assert Evidence(trace=trace).labels.class_values == (0, 1, 2)


def line_of(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


IDENTITIES = """
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, items = torch.randn(200, 6), torch.randint(50, (200,))
model, table = torch.nn.Linear(6, 8), torch.nn.Embedding(50, 8)
optimizer = torch.optim.Adam([*model.parameters(), *table.parameters()], lr=0.01)
loader, whole = (DataLoader(TensorDataset(x, items), batch_size=size) for size in (20, 40))
for epoch in range(3):
    for rows, ids in loader:
        optimizer.zero_grad()
        (model(rows) - table(ids)).square().mean().backward()
        optimizer.step()
    with torch.no_grad():
        for rows, ids in whole:
            model(rows)
"""


def test_numbers_beside_rows_that_are_no_classes_of_the_output_give_no_accuracy(forks: Any) -> None:
    metrics = forks.run(IDENTITIES).trace.metrics
    assert [one.name for one in metrics if one.name == "val_accuracy"] == []
