"""Tests of behaviour with the weights that a training ends with; the training is, bit by bit,
what it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.probe import injected
from reenact.probe.experiment import ENDED, read_experiments
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Experiments, Root

PROGRAM = """
import torch, torch.nn.functional as F
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.qkv = nn.Linear(16, 48)
        self.drop = nn.Dropout(0.1)
        self.norm = nn.BatchNorm1d(9)
        self.head = nn.Linear(16, 12)
        nn.init.zeros_(self.head.weight)
    def forward(self, tokens):
        q, k, v = self.qkv(self.embed(tokens)).chunk(3, -1)
        ahead = torch.ones(tokens.shape[1], tokens.shape[1]).triu(AHEAD).bool()
        scores = (q @ k.transpose(1, 2)).masked_fill(ahead, -1e9)
        return self.head(self.drop(self.norm(scores.softmax(-1) @ v)))

def main():
    torch.manual_seed(0)
    model = Model()
    text = (torch.randint(12, (16, 1)) + torch.arange(10) * torch.randint(1, 5, (16, 1))) % 12
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
    gradients = [weight.grad for weight in model.parameters()]
    torch.save([model.state_dict(), gradients, torch.get_rng_state()], "kept")

main()
"""


def ends(
    forks: Any, tmp_path: Path, text: str, trained: str | None = None
) -> tuple[Any, Experiments]:
    """The training of one program, and the experiments with another, or the same, that wait for
    it.
    """
    left = tmp_path / "weights"
    training = forks.run(
        trained or text, options=WatchOptions(Path(), preset="normal", weights=left)
    )
    left.with_name(left.name + ENDED).touch()
    options = WatchOptions(Path(), preset="bare", experiments=0.3, weights=left)
    tested = forks.run(text, options=options)
    return training, read_experiments(tested.folder, root=Root(tested.cwd))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("ahead", "leaks"), [("2", True), ("1", False)])
def test_a_leak_that_an_output_of_zeros_hides_at_the_start(
    forks: Any, tmp_path: Path, ahead: str, leaks: bool
) -> None:
    """The model is local to a function: it is gone before the program ends."""
    _, tried = ends(forks, tmp_path, PROGRAM.replace("AHEAD", ahead))
    start, end = tried.behaviour
    assert (start.at_end, end.at_end) == (False, True)
    assert not start.leak
    assert end.leak is not None
    assert (end.leak > 1e-3) is leaks
    assert [tested.at_end for tested in tried.moving("leak", 1e-3)] == ([True] if leaks else [])
    assert not any("at the end" in sentence for sentence in tried.missing)


def test_the_training_is_the_same_to_the_last_bit(forks: Any, tmp_path: Path) -> None:
    """Weights, buffers, gradients and random state; and what is left are its weights."""
    torch = pytest.importorskip("torch")
    text = PROGRAM.replace("AHEAD", "1")
    alone = forks.run(text, watched=False)
    watched, _ = ends(forks, tmp_path, text)
    kept = (alone.cwd / "kept").read_bytes()
    assert (watched.cwd / "kept").read_bytes() == kept
    assert (watched.code, watched.out, watched.err) == (
        alone.code,
        alone.out,
        alone.err,
    )
    state = torch.load(alone.cwd / "kept", weights_only=True)[0]
    ((name, left),) = torch.load(tmp_path / "weights", weights_only=True)
    assert name == "Model"
    assert state.keys() == left.keys()
    assert all(torch.equal(state[key], left[key]) for key in state)


@pytest.mark.release
def test_it_says_why_there_are_no_tests_at_the_end(forks: Any, tmp_path: Path) -> None:
    text = PROGRAM.replace("AHEAD", "1")
    _, tried = ends(forks, tmp_path, text, "import torch")
    assert (
        "no tests of the model's behaviour at the end: the training left no weights"
        in tried.missing
    )
    _, tried = ends(forks, tmp_path, text, text.replace("16, 12)", "16, 13)"))
    assert (
        "no tests of the model's behaviour at the end: another model was trained" in tried.missing
    )
    assert [tested.at_end for tested in tried.behaviour] == [False]


def test_weights_that_are_not_left() -> None:
    torch = pytest.importorskip("torch")
    refusal = injected.part("weights").refusal
    small, meta = torch.zeros(4), torch.zeros(4, device="meta")
    assert refusal([{"a": small}]) == ""
    assert refusal([{"a": small}, {"b": small.new_zeros(1).expand(60_000_000)}]).startswith(
        "240 MB of weights"
    )
    assert "do not lie on the CPU" in refusal([{"a": small}, {"b": meta}])
    assert refusal([]) == "no model of PyTorch was seen"


def test_a_disk_that_takes_nothing_is_nobodys_concern(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    injected.part("weights").leave(
        torch, str(tmp_path / "no" / "weights"), [("Net", {"a": torch.zeros(4)})]
    )
    assert not list(tmp_path.iterdir())


def test_what_is_held_until_the_end_is_no_copy() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    held = injected.part("weights").weights_of(model)
    state = model.state_dict()
    assert {name: tensor.data_ptr() for name, tensor in held.items()} == {
        name: tensor.data_ptr() for name, tensor in state.items()
    }


ROWS = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(64, 6)
y = x[:, 0] - x[:, 1]
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(60):
    for rows, labels in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
        optimizer.zero_grad()
        LOSS.backward()
        optimizer.step()
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("loss", "same"),
    [
        ("(model(rows)[:, 0] - labels).abs().mean()", False),
        ("F.cross_entropy(model(rows) * torch.ones(2), (labels > 0).long())", True),
        ("(model(rows) - labels).abs().mean()", True),
        (
            "F.binary_cross_entropy_with_logits(model(rows)[:, 0], (labels > 0).float())",
            False,
        ),
    ],
)
def test_labels_of_other_rows_after_the_training(
    forks: Any, tmp_path: Path, loss: str, same: bool
) -> None:
    _, tried = ends(forks, tmp_path, ROWS.replace("LOSS", loss))
    assert tried.permuted is not None
    assert (tried.permuted.rows, len(tried.permuted.permuted)) == (64, 16)
    assert tried.permuted.fit_as_well is same


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "loss",
    [
        "F.mse_loss(model(rows) * torch.ones(6), rows)",
        "F.cross_entropy(model(rows) @ model(rows).t(), torch.arange(64))",
        "F.mse_loss(model(rows)[:, 0], torch.ones(64))",
        "model(rows).square().mean()",
    ],
)
def test_labels_whose_order_says_nothing(forks: Any, tmp_path: Path, loss: str) -> None:
    _, tried = ends(forks, tmp_path, ROWS.replace("LOSS", loss))
    assert tried.one_batch is not None
    assert tried.permuted is None


ORDER = """
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.places = nn.Parameter(torch.randn(9, 16))
        self.attend = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(16, 2)
    def forward(self, tokens):
        return self.head(self.attend(EMBEDDED).mean(1))
model = Model()
x = torch.randint(1, 20, (64, 9))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows, labels in DataLoader(TensorDataset(x, (x[:, 0] > 9).long()), batch_size=16):
    optimizer.zero_grad()
    F.cross_entropy(model(rows), labels).backward()
    optimizer.step()
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("embedded", "blind"),
    [("self.embed(tokens)", True), ("self.embed(tokens) + self.places", False)],
)
def test_attention_without_positions_does_not_see_the_order(
    forks: Any, tmp_path: Path, embedded: str, blind: bool
) -> None:
    _, tried = ends(forks, tmp_path, ORDER.replace("EMBEDDED", embedded))
    assert [(tested.at_end, tested.order_blind) for tested in tried.behaviour] == [
        (False, None),
        (True, blind),
    ]


OWN_ATTENTION = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Linear(16, 48)
    def forward(self, x):
        q, k, v = self.parts(x).chunk(3, -1)
        return x + WEIGHTS @ v
class Model(nn.Module):"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("weights", "blind"),
    [
        ("(q @ k.transpose(1, 2) / 4).softmax(-1)", True),
        ("torch.eye(9)", None),
    ],
)
def test_attention_of_the_programs_own_is_known_by_what_it_computes(
    forks: Any, tmp_path: Path, weights: str, blind: bool | None
) -> None:
    text = ORDER.replace("class Model(nn.Module):", OWN_ATTENTION.replace("WEIGHTS", weights))
    text = text.replace(
        "nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)", "Block()"
    )
    _, tried = ends(forks, tmp_path, text.replace("EMBEDDED", "self.embed(tokens)"))
    assert [tested.order_blind for tested in tried.behaviour] == [None, blind]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("norm", "worse"),
    [
        ("nn.BatchNorm1d(16)", False),
        ("nn.BatchNorm1d(16, momentum=1e-4)", True),
        ("nn.LayerNorm(16)", None),
    ],
)
def test_statistics_that_do_not_fit_in_evaluation_mode(
    forks: Any, tmp_path: Path, norm: str, worse: bool | None
) -> None:
    text = ROWS.replace("nn.Tanh()", f"{norm}, nn.Tanh()").replace(
        "x = torch.randn(64, 6)", "x = 9 + torch.randn(64, 6)"
    )
    _, tried = ends(forks, tmp_path, text.replace("LOSS", "F.mse_loss(model(rows)[:, 0], labels)"))
    modes = tried.modes
    assert (modes.evaluation > 3 * modes.training if modes is not None else None) is worse
