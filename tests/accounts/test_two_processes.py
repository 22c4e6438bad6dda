"""Books of a training by two processes over gloo: the same weights bit by bit, and they balance."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reenact.accounts import BookName, accounts_of
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Experiments
from reenact.probe.watch import watch
from reenact.program.program import read_program

pytest.importorskip("torch")
PROGRAM = """
import hashlib
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(256, 8)
data = TensorDataset(x, x[:, :3].argmax(1))
sampler = DistributedSampler(data, shuffle=True)
loader = DataLoader(data, batch_size=16, sampler=sampler)
net = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 3)))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    sampler.set_epoch(epoch)
    for rows, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(rows), labels).backward()
        optimizer.step()
if dist.get_rank() == 0:
    weights = b"".join(one.detach().numpy().tobytes() for one in net.parameters())
    print("weights", hashlib.sha256(weights + torch.get_rng_state().numpy().tobytes()).hexdigest())
dist.destroy_process_group()
"""


@pytest.mark.release
def test_two_processes_keep_books_that_balance_and_train_the_same(tmp_path: Path) -> None:
    (tmp_path / "ddp.py").write_text(PROGRAM)
    torchrun = str(Path(sys.executable).parent / "torchrun")
    words = [torchrun, "--standalone", "--nproc-per-node=2", "ddp.py"]
    plain = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout
    printed = tmp_path / "printed"
    with printed.open("wb") as output:
        watched = watch(
            read_program(words, tmp_path),
            WatchOptions(tmp_path / "trace", max_time=300),
            stdout=output.fileno(),
        )
    assert watched.trace is not None, watched.outcome.sentence
    assert b"weights" in plain
    assert printed.read_bytes() == plain
    accounts = accounts_of(watched.trace, Experiments())
    assert {BookName.GRADIENTS, BookName.PARAMETERS} <= {one.book for one in accounts}
    assert [entry.sentence for one in accounts for entry in one.imbalances] == []
