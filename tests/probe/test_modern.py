"""What people run today: half precision, collected gradients, loaders made again, clipping,
progress bars.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reenact.probe import injected
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch
from reenact.program.program import read_program

HEAD = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(64, 8); y = x[:, :3].argmax(1)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
"""
LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_whole_models_in_half_precision_are_watched_to_their_end(forks: Any, dtype: str) -> None:
    trace = forks.run(HEAD + f"net, x = net.to(torch.{dtype}), x.to(torch.{dtype})\n" + LOOP).trace
    assert trace.step_count == 6
    assert trace.missing == ()
    assert np.isfinite(trace.steps["grad_norm"]).all()
    assert np.isfinite(trace.steps["accuracy"]).all()


def test_autocast_and_a_scaler_leave_losses_as_they_were(forks: Any) -> None:
    text = HEAD + LOOP.replace(
        "    loss = F.cross_entropy(net(x), y)\n    loss.backward()\n    optimizer.step()\n",
        '    with torch.autocast("cpu", dtype=torch.bfloat16):\n        loss = '
        "F.cross_entropy(net(x), y)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n",
    ).replace("for step", 'scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)\nfor step')
    trace = forks.run(text).trace
    assert trace.missing == ()
    assert 0.5 < trace.losses.values[0] < 2


def test_complex_whole_and_missing_outputs_do_no_harm(forks: Any) -> None:
    trace = forks.run(
        HEAD
        + """
class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.unused = nn.Linear(8, 16), nn.Linear(2, 2)
    def forward(self, x):
        wave = torch.fft.rfft(self.a(x["rows"]))
        return {"wave": wave, "best": wave.abs().argmax(-1), "yes": wave.real > 0, "none": None}
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd, self.head = Odd(), nn.Linear(9, 3)
    def forward(self, x):
        made = self.odd(x)
        return [{"scores": (self.head(made["wave"].real),)}, made["none"]]
class Loss(nn.Module):
    def forward(self, made, y):
        return F.cross_entropy(made[0]["scores"][0], y)
net, criterion = Both(), Loss()
first = torch.optim.Adam(net.odd.parameters())
second = torch.optim.SGD(net.head.parameters(), lr=0.1)
for step in range(4):
    net.zero_grad()
    criterion(net({"rows": x.to(torch.complex64).real, "names": ["a"]}), y).backward()
    first.step(); second.step()
"""
    ).trace
    assert trace.step_count == 8
    assert trace.missing == ()


def test_losses_of_collected_gradients_are_those_before_the_division(
    forks: Any,
) -> None:
    text = (
        HEAD
        + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
for number, (rows, labels) in enumerate(DataLoader(TensorDataset(x, y), batch_size=8)):
    loss = F.cross_entropy(net(rows), labels)
    (loss / 4).backward()
    if number % 4 == 3:
        print(loss.item())
        optimizer.step()
        optimizer.zero_grad()
"""
    )
    ran = forks.run(text)
    printed = [float(line) for line in ran.out.split()]
    assert ran.trace.losses.values.tolist() == pytest.approx(printed)
    assert ran.trace.steps["backward_calls"].tolist() == [4, 4]


def test_a_loss_that_is_halved_once_a_step_stays_halved(forks: Any) -> None:
    trace = forks.run(HEAD + LOOP.replace("y)\n    loss", "y) / 2\n    loss")).trace
    assert trace.losses.values[0] < 0.9


def test_a_compiled_model_brings_no_warning_however_often_it_is_looked_at(
    forks: Any,
) -> None:
    text = (
        HEAD + 'net = torch.compile(net, backend="eager")\n' + LOOP.replace("range(6)", "range(80)")
    )
    ran = forks.run(text)
    assert "Warning" not in ran.err
    assert ran.trace.graph.unregistered == ()


def test_a_data_set_that_is_wrapped_again_each_epoch_is_one(forks: Any) -> None:
    trace = forks.run(
        HEAD
        + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(rows), labels).backward()
        optimizer.step()
"""
    ).trace
    assert trace.epoch_count == 3
    assert {facts.split for facts in trace.data} == {"train"}
    assert trace.overlaps == ()


def test_what_was_clipped_and_how_far_is_in_the_rows(forks: Any) -> None:
    text = LOOP.replace(
        "    optimizer.step",
        "    nn.utils.clip_grad_norm_(net.parameters(), 0.01)\n    optimizer.step",
    )
    steps = forks.run(HEAD + text).trace.steps
    assert (steps["clip_limit"] == 0.01).all()
    assert (steps["clip_norm"] > 0.01).all()
    assert steps["grad_norm"] == pytest.approx(np.full(6, 0.01), rel=1e-2)


def test_values_that_were_clipped_are_in_the_rows_and_clipped_as_before(
    forks: Any,
) -> None:
    text = LOOP.replace(
        "    optimizer.step",
        "    nn.utils.clip_grad_value_(net.parameters(), 0.001)\n    optimizer.step",
    )
    steps = forks.run(HEAD + text).trace.steps
    assert (steps["clip_limit"] == 0.001).all()
    assert (steps["clip_norm"] > 0.001).all()
    assert 0 < steps["grad_norm"].max() < steps["clip_norm"].min()


def test_the_loss_on_labels_of_other_rows_is_measured_beside_the_true_one(
    forks: Any,
) -> None:
    steps = forks.run(HEAD + LOOP.replace("range(6)", "range(200)")).trace.steps
    looked = steps["sampled"] == 1
    assert steps["label_loss"][looked] == pytest.approx(steps["loss"][looked], rel=1e-4)
    assert steps["permuted_loss"][looked][-1] > 1.5 * steps["label_loss"][looked][-1]


def test_an_activation_behind_a_product_belongs_to_no_layer(forks: Any) -> None:
    trace = forks.run(
        HEAD
        + """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)
    def forward(self, x):
        weights = (self.q(x) @ self.k(x).T).softmax(-1)
        return self.head(F.relu(weights @ x))
net = Attention()
"""
        + LOOP
    ).trace
    takes = {
        layer.type: layer.takes for layer in trace.graph.layers if layer.settings.get("functional")
    }
    assert takes["softmax"] == ""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Test: Acc@1 94.00 Acc@5 99.10", ("accuracy", 0.94)),
        ("{'eval_loss': 0.31, 'eval_accuracy': 0.92}", ("val_accuracy", 0.92)),
        ("{'eval_accuracy': '0.92', 'epoch': '1.0'}", ("val_accuracy", 0.92)),
        ("val_acc 91.5%", ("val_accuracy", 0.915)),
        ("epoch 3 | dev loss=1.25", ("val_loss", 1.25)),
    ],
)
def test_lines_that_tell_a_metric(forks: Any, line: str, wanted: tuple[str, float]) -> None:
    trace = forks.run(HEAD + LOOP + f"print({line!r})\n").trace
    assert wanted in [(metric.name, pytest.approx(metric.value)) for metric in trace.metrics]


@pytest.mark.parametrize(
    "line",
    [
        "CUDA initialization: Error 304: OS call failed",
        "UserWarning: loss: 2.5 is not what it was",
    ],
)
def test_lines_that_tell_no_metric(forks: Any, line: str) -> None:
    assert forks.run(HEAD + LOOP + f"print({line!r})\n").trace.metrics == ()


def test_loggers_and_progress_bars_tell_metrics_too(forks: Any) -> None:
    trace = forks.run(
        HEAD
        + LOOP
        + """
import logging, sys
logging.basicConfig(level=logging.INFO)
logging.info("val accuracy: 0.75")
sys.stderr.write("\\r 10%| loss=0.9"); sys.stderr.write("\\r 20%| loss=0.8"); sys.stderr.write("\\n")
"""
    ).trace
    found = {(metric.name, metric.value, metric.source) for metric in trace.metrics}
    assert ("val_accuracy", 0.75, "output") in found
    assert ("loss", 0.9, "progress") in found


def test_warnings_and_checkpoints_that_do_not_fit_are_events(forks: Any) -> None:
    trace = forks.run(
        HEAD
        + """
net.load_state_dict({"module." + name: weight for name, weight in net.state_dict().items()}, strict=False)
F.mse_loss(torch.zeros(3, 1), torch.zeros(3))
"""
        + LOOP
    ).trace
    (loaded,) = trace.happened("weights-loaded")
    assert (loaded.facts["missing"], loaded.facts["unexpected"], loaded.place.line) == (
        4,
        4,
        9,
    )
    assert any("target size" in str(event.facts["message"]) for event in trace.happened("warning"))


@pytest.mark.parametrize(
    ("made", "number"),
    [("loss / 4", 4.0), ("loss * 0.25", 4.0), ("loss", 1.0), ("loss * 3", 1.0)],
)
def test_the_number_that_a_loss_was_divided_by(made: str, number: float) -> None:
    torch = pytest.importorskip("torch")
    loss = torch.ones(3, requires_grad=True).sum()
    assert injected.part("torch.steps").divisor(eval(made, {"loss": loss})) == number


@pytest.mark.frameworks
def test_two_processes_of_torchrun_leave_one_trace(tmp_path: Path) -> None:
    (tmp_path / "ddp.py").write_text(
        """
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    F.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
dist.destroy_process_group()
"""
    )
    torchrun = str(Path(sys.executable).parent / "torchrun")
    program = read_program([torchrun, "--standalone", "--nproc-per-node=2", "ddp.py"], tmp_path)
    watched = watch(
        program,
        WatchOptions(tmp_path / "trace", max_time=300),
        stdout=subprocess.DEVNULL,
    )
    assert watched.trace is not None, watched.outcome.sentence
    assert watched.trace.step_count == 5
    assert watched.trace.missing == ()
    assert [layer.type for layer in watched.trace.graph.layers] == [
        "Linear",
        "ReLU",
        "Linear",
    ]
