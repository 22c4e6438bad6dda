"""One batch again and again, and a growing learning rate: healthy models learn, broken ones
cannot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.faults.facts.usable_rates import usable_range
from reenact.probe import injected
from reenact.probe.experiment import read_experiments, run_experiments
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Experiments, LearningRateRange, Root
from reenact.program.program import read_program

OPTIONS = WatchOptions(Path("trace"), preset="bare", experiments=1.5, seed=1)
SHORT = replace(OPTIONS, experiments=0.3)
"""For what is seen of shapes, where nothing has to learn."""

DATA = """
import torch, torch.nn.functional as F
from torch import nn
x = torch.randn(24, 6)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
b = (x[:, 0] > 0).float()[:, None]
"""
LOOP = """
for epoch in range(1000):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    print("stepped")
"""
MLP = (
    DATA
    + """
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss(weight=torch.ones(3))
optimizer = torch.optim.Adam(net.parameters(), lr=LR)
"""
    + LOOP
)
CNN = (
    DATA
    + """
x = torch.randn(12, 1, 8, 8); y = torch.arange(12) % 3
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
"""
    + LOOP
)
LSTM = (
    DATA
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 24, batch_first=True)
        self.head = nn.Linear(24, 3)
    def forward(self, sequence, gate):
        return self.head(self.lstm(sequence)[0][:, -1] * gate)
net = Net(); x = torch.randn(16, 5, 6); y = torch.arange(16) % 3
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = lambda scores, labels: -F.log_softmax(scores, 1)[torch.arange(16), labels].mean()
for epoch in range(1000):
    optimizer.zero_grad()
    criterion(net(x, gate=torch.ones(16, 1)), y).backward()
    optimizer.step()
"""
)
LIGHTNING = (
    DATA
    + """
import logging, warnings
import lightning as L
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3))
    def training_step(self, batch, index):
        return F.cross_entropy(self.net(batch[0]), batch[1])
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=12)
L.Trainer(max_epochs=900, accelerator="cpu", logger=False, enable_checkpointing=False,
          enable_progress_bar=False, enable_model_summary=False).fit(Lit(), loader)
"""
)
KERAS = """
import keras, numpy as np
x = np.random.randn(32, 6).astype("float32"); y = (x[:, 0] > 0).astype("int64") + (x[:, 1] > 0.5)
layers = [keras.layers.Dense(24, activation="relu"), keras.layers.Dense(3, activation="softmax")]
model = keras.Sequential(layers)
schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 100, 0.9)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy")
"""
FIT = KERAS + "model.fit(x, y, batch_size=16, epochs=900, verbose=0)\n"
BY_BATCH = KERAS + "while True:\n    model.train_on_batch(x, y)\n"
HEALTHY = {
    "mlp": (MLP.replace("LR", "0.01"), 0.01),
    "cnn": (CNN, 0.05),
    "lstm": (LSTM, 1e-2),
    "lightning": (LIGHTNING, 0.01),
    "fit": (FIT, 0.01),
    "train-on-batch": (BY_BATCH, 0.01),
}


def bounds(tested: LearningRateRange | None) -> tuple[float, float]:
    assert tested is not None
    usable = usable_range(tested.rates, tested.losses)
    assert usable is not None
    return usable


def experiment(forks: Any, source: str) -> Experiments:
    ran = forks.run(source, options=OPTIONS)
    assert ran.code == 0, ran.err
    assert "stepped" not in ran.out
    return read_experiments(ran.folder)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_learns_one_batch_at_a_usual_rate(name: str, forks: Any) -> None:
    source, rate = HEALTHY[name]
    experiments = experiment(forks, source)
    assert experiments.missing == ()
    one, rates = experiments.one_batch, experiments.learning_rates
    assert one is not None
    assert rates is not None
    assert one.losses[-1] < 0.2 * one.losses[0]
    assert one.accuracy == (None if name == "lstm" else 1.0)
    assert one.zeroed_losses[-1] > 0.5 * one.zeroed_losses[0]
    low, high = bounds(rates)
    assert low <= 2 * rate <= 4 * high


@pytest.mark.release
def test_a_rate_of_ten_lies_outside_the_range_and_does_not_hinder_one_batch(
    forks: Any,
) -> None:
    experiments = experiment(forks, MLP.replace("LR", "10.0"))
    assert experiments.one_batch is not None
    assert experiments.one_batch.accuracy == 1.0
    assert experiments.learning_rates is not None
    assert bounds(experiments.learning_rates)[1] < 5


BROKEN = {
    "softmax over one unit": """
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softmax(dim=1)); y = b
criterion = nn.BCELoss()
""",
    "zeros": """
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for weight in net.parameters():
    nn.init.zeros_(weight)
criterion = nn.CrossEntropyLoss()
""",
    "cut off": """
class Cut(nn.Module):
    def forward(self, features):
        return features.detach()
net = nn.Sequential(nn.Linear(6, 2), Cut(), nn.ReLU(), nn.Linear(2, 3))
for weight in net[3].parameters():
    weight.requires_grad = False
net[3].bias.requires_grad = True
criterion = nn.CrossEntropyLoss()
""",
    "never given": """
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
left_out = True
""",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_cannot(name: str, forks: Any) -> None:
    given = "[net[2].bias]" if "left_out" in BROKEN[name] else "net.parameters()"
    experiments = experiment(
        forks,
        f"{DATA}{BROKEN[name]}optimizer = torch.optim.SGD({given}, lr=0.1)\n{LOOP}",
    )
    one = experiments.one_batch
    assert one is not None
    assert one.accuracy is not None
    assert one.accuracy < 1
    assert one.losses[-1] > 0.5 * one.losses[0]


REASONS = {
    "several optimizers": DATA
    + """
net, other, criterion = nn.Linear(6, 3), nn.Linear(2, 6), nn.CrossEntropyLoss()
optimizer, second = (torch.optim.Adam(part.parameters()) for part in (net, other))
"""
    + LOOP,
    "function with its own gradient": DATA
    + """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, tensor): return 2 * tensor
    @staticmethod
    def backward(context, gradient): return 2 * gradient
inner = nn.Linear(6, 3)
net, criterion = (lambda rows: Twice.apply(inner(rows))), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(inner.parameters())
"""
    + LOOP,
    "no weight that can be trained": DATA
    + """
frozen, extra = nn.Linear(6, 3).requires_grad_(False), torch.zeros(3, requires_grad=True)
net, criterion = (lambda rows: frozen(rows) + extra), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(frozen.parameters())
"""
    + LOOP,
    "no optimizer was seen": DATA,
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_cannot_be_done_has_a_reason(reason: str, forks: Any) -> None:
    experiments = experiment(forks, REASONS[reason])
    assert reason in experiments.missing[0]
    assert experiments.one_batch is None
    assert experiments.learning_rates is None


@pytest.mark.release
def test_what_the_program_does_in_place_is_done_again_each_time(forks: Any) -> None:
    source = (
        DATA
        + """
class Net(nn.Linear):
    def forward(self, rows):
        rows *= 3
        rows[:, 0] = 1
        first, *others = super().forward(rows).T
        penalty = torch.tensor(0.0)
        penalty += 1e-3 * self.weight.square().sum()
        self.penalty = penalty
        return torch.stack([first, *others], 1)
net = Net(6, 3)
criterion = lambda scores, labels: F.cross_entropy(scores, labels) + net.penalty
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
with torch.no_grad():
    rows = x * 3
    rows[:, 0] = 1
    before = float(F.cross_entropy(nn.Linear.forward(net, rows), y) + 1e-3 * net.weight.square().sum())
print(before)
"""
        + LOOP
    )
    ran = forks.run(source, options=OPTIONS)
    experiments = read_experiments(ran.folder)
    assert experiments.missing == ()
    assert experiments.one_batch is not None
    assert experiments.learning_rates is not None
    assert experiments.one_batch.losses[0] == pytest.approx(float(ran.out), rel=1e-5)
    assert experiments.learning_rates.losses[0] == pytest.approx(float(ran.out), rel=1e-4)


def test_weights_moved_by_hand_and_steps_that_ask_again_learn_a_batch_but_have_no_range(
    forks: Any,
) -> None:
    by_hand = experiment(
        forks,
        DATA
        + """
w = torch.zeros(6, 1, requires_grad=True)
for _ in range(900):
    loss = ((x @ w - x[:, :1]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
""",
    )
    again = experiment(
        forks,
        DATA
        + """
net, optimizer = nn.Linear(6, 1), None
optimizer = torch.optim.LBFGS(net.parameters())
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), x[:, :1])
    loss.backward()
    return loss
while True:
    optimizer.step(closure)
""",
    )
    for experiments, word in ((by_hand, "by hand"), (again, "LBFGS")):
        one_batch = experiments.one_batch
        assert one_batch is not None
        assert one_batch.losses[-1] < 0.2 * one_batch.losses[0]
        assert one_batch.accuracy is None
        assert experiments.learning_rates is None
        assert word in experiments.missing[0]


@pytest.mark.usefixtures("warm_python")
def test_a_process_of_its_own_ends_before_the_first_step(tmp_path: Path) -> None:
    """The compiled model is read as the one it was made from; the program's result never comes."""
    body = MLP.replace("LR", "0.01").replace("criterion(net(x)", "criterion(fast(x)")
    body = body.replace("criterion = ", "fast = torch.compile(net)\ncriterion = ")
    (tmp_path / "train.py").write_text(body + 'open("result", "w").write("done")\n')
    experiments = run_experiments(
        read_program(("train.py",), tmp_path), tmp_path / "trace", max_time=300
    )
    assert experiments.missing == ()
    assert experiments.one_batch is not None
    assert experiments.one_batch.accuracy == 1.0
    assert not (tmp_path / "result").exists()


@pytest.mark.usefixtures("warm_python")
def test_a_program_that_fails_before_its_first_step_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text('import torch\nraise ValueError("no data")\n')
    experiments = run_experiments(
        read_program(("train.py",), tmp_path), tmp_path / "trace", max_time=300
    )
    assert experiments.one_batch is None
    assert "before the first step" in experiments.missing[0]
    assert "ValueError" in experiments.missing[0]


BY_HAND = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(24, 6), torch.randn(24)), batch_size=24):
    LOSS.backward()
    optimizer.step()
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("loss", "shapes"),
    [
        ("((1 + y.abs()) * (model(x) - y) ** 2).mean()", ((24, 1), (24,))),
        ("((y[:, None] - model(x)[:, 0]) ** 2).mean()", ((24,), (24, 1))),
        ("(-y.clone() * model(x).sigmoid().log()).mean()", None),
        ("(y * model(x).sigmoid().log()).mean()", ((24, 1), (24,))),
        ("((model(x)[:, 0] - y) ** 2).mean()", None),
        ("((model(x) - y[:, None]) ** 2).mean()", None),
        (
            "(model(x) - model(x)[:, 0]).tanh().mean() + ((model(x)[:, 0] - y) ** 2).mean()",
            None,
        ),
        ("(model(x) - torch.linspace(0, 1, 24)).square().mean()", None),
    ],
)
def test_a_difference_of_each_output_with_the_labels_of_all_rows(
    forks: Any, loss: str, shapes: tuple[tuple[int, ...], tuple[int, ...]] | None
) -> None:
    ran = forks.run(BY_HAND.replace("LOSS", loss), options=SHORT)
    wide = read_experiments(ran.folder, root=Root(ran.cwd)).stretched
    assert ((wide.output, wide.target) if wide is not None else None) == shapes
    if wide is not None:
        assert wide.place is not None
        assert wide.place.line == 9


PICKED = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters())
inputs, labels, grid = torch.randn(72, 6), torch.randn(72), torch.linspace(0, 1, 24)
for rows in torch.randperm(72).split(24):
    x, y = inputs[rows], labels[rows]
    LOSS.backward()
    optimizer.step()
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("loss", "found"),
    [
        ("((model(x) - y) ** 2).mean()", True),
        ("((model(x)[:, 0] - y) ** 2).mean()", False),
        ("((model(x)[:, 0] - y) ** 2).mean() + (model(x) - grid).abs().mean()", False),
        (
            "((model(x)[:, 0] - y) ** 2).mean() + (model(x)[:, 0, None] - y).abs().mean()",
            False,
        ),
    ],
)
def test_so_it_is_where_rows_are_picked_by_hand(forks: Any, loss: str, found: bool) -> None:
    ran = forks.run(PICKED.replace("LOSS", loss), options=SHORT)
    wide = read_experiments(ran.folder, root=Root(ran.cwd)).stretched
    assert (wide is not None) is found
    assert wide is None or (wide.place is not None and wide.place.line == 10)


@pytest.mark.parametrize(
    ("share", "epochs", "enough"),
    [(0.1, 10_000, True), (0.0, 10_000, False), (0.1, 0, False)],
)
def test_a_long_training_gives_its_experiments_more_time(
    forks: Any, share: float, epochs: int, enough: bool
) -> None:
    """Three batches an epoch, and far too little time where nothing is known of the training."""
    text = BY_HAND.replace("LOSS", "((model(x)[:, 0] - y) ** 2).mean()").replace(
        "size=24", "size=8"
    )
    options = replace(OPTIONS, experiments=1e-6, experiment_share=share, epochs=epochs)
    ran = forks.run(text, options=options)
    tried = read_experiments(ran.folder)
    assert (tried.one_batch is not None) is enough
    assert (tried.learning_rates is not None) is enough
    assert any("too few to learn it" in sentence for sentence in tried.missing) is not enough


def test_the_time_of_an_experiment() -> None:
    budget = injected.part("experiment.trials").Budget
    assert budget(0.8, 0.1, 500).for_steps_of(0.001) == 0.8
    assert budget(0.8, 0.1, 500).for_steps_of(0.05) == pytest.approx(2.5)
    assert budget(0.8, 0.1, 500).for_steps_of(2.0) == 20.0
    assert budget(0.8, 0.1, 0).for_steps_of(2.0) == pytest.approx(3.2)


@pytest.mark.parametrize(("cut", "steps"), [(0.99, 100), (0.5, 40)])
def test_a_run_that_the_clock_cut_short_counts_where_it_came_clearly_further(
    cut: float, steps: int
) -> None:
    trials = injected.part("experiment.trials")
    whole, short = trials.Run(1e-2), trials.Run(1e-3)
    whole.losses, short.losses = [1.0] * 100, [cut] * 40
    assert len(trials._best([whole, short]).losses) == steps
