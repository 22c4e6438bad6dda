"""One batch at the program's own rate, a tenth of it and warmed up; padding that a loss or a
mask lets in.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from made_evidence import LEARNED, findings_in, seen, trace
from reenact.faults.observation import Certainty
from reenact.probe.experiment import read_experiments
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Behaviour, Experiments, OwnRate

OPTIONS = WatchOptions(Path("trace"), preset="bare", experiments=1.5, seed=1)
SHORT = replace(OPTIONS, experiments=0.3)
"""For what is seen of masks and padding, where nothing has to learn."""
TRAINING = """
import torch, torch.nn.functional as F
from torch import nn
x = torch.randn(24, 6)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=LR)
for epoch in range(1000):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
PADDED = """
import torch, torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
    def forward(self, tokens, mask):
        return self.head(self.embed(tokens) * mask[..., None])

rows = [torch.randint(2, 20, (3 + number % 5,)) for number in range(16)]
x = pad_sequence(rows, batch_first=True, padding_value=1)
model = Net()
optimizer = torch.optim.Adam(model.parameters())
F.cross_entropy(model(x, MASK).flatten(0, 1), x.flatten(), IGNORED).backward()
optimizer.step()
"""


def experiment(forks: Any, text: str, options: WatchOptions = OPTIONS) -> Experiments:
    return read_experiments(forks.run(text, options=options).folder)


def test_a_rate_at_the_upper_end_is_tried_on_one_batch(forks: Any) -> None:
    tried = experiment(forks, TRAINING.replace("LR", "3.0")).own_rate
    assert tried is not None
    assert tried.rate == 3.0
    assert len(tried.own) == len(tried.lower) == len(tried.warmed) > 20
    assert max(tried.own) > max(tried.lower) > tried.lower[-1]
    assert tried.own[0] == tried.lower[0] == tried.warmed[0]
    assert experiment(forks, TRAINING.replace("LR", "1e-3")).own_rate is None, (
        "below what learns best"
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("mask", "blind"),
    [
        ("x.ne(0)", True),
        ("x.ne(0).long()", True),
        ("x.ne(1)", False),
        ("torch.zeros_like(x)", None),
        ("x.index_fill_(1, torch.tensor([1]), 1).ne(0)", None),
    ],
)
def test_a_mask_that_takes_padding_for_tokens(forks: Any, mask: str, blind: bool | None) -> None:
    """Types of tokens are not a mask, and a token with the number of padding is not one."""
    (tested,) = experiment(
        forks, PADDED.replace("MASK", mask).replace("IGNORED", ""), SHORT
    ).behaviour
    assert tested.mask_blind is blind


FIXED = """
import torch, torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16), nn.Parameter(torch.randn(8, 16))
        self.body = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.head = nn.Linear(16, 2)
    def forward(self, tokens, mask):
        return self.head(self.body(self.words(tokens) + self.places, src_key_padding_mask=MASK)[:, 0])

x = torch.randint(1, 20, (16, 8))
there = (torch.arange(8) < torch.randint(3, 7, (16, 1))).long()
model = Net()
optimizer = torch.optim.Adam(model.parameters())
F.cross_entropy(model(x * there, there), torch.arange(16) % 2).backward()
optimizer.step()
"""


@pytest.mark.parametrize(("mask", "moves"), [("mask.bool()", True), ("mask == 0", False)])
def test_padding_of_a_model_that_takes_rows_of_one_length(
    forks: Any, mask: str, moves: bool
) -> None:
    (tested,) = experiment(forks, FIXED.replace("MASK", mask), SHORT).behaviour
    assert tested.padding is not None
    assert (tested.padding > 1e-3) is moves


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("ignored", "counted"),
    [
        ("", True),
        ("ignore_index=1", False),
        ("weight=torch.ones(20)", False),
        ("one", False),
    ],
)
def test_padding_that_the_loss_counts(forks: Any, ignored: str, counted: bool) -> None:
    """One class a row is no padding, whatever number it has."""
    text = PADDED.replace("MASK", "x.ne(1)").replace("IGNORED", ignored.replace("one", ""))
    if ignored == "one":
        text = text.replace(".flatten(0, 1), x.flatten()", ".mean(1), torch.arange(16) % 3")
    found = experiment(forks, text, SHORT).padding_counted
    assert (found is not None) is counted
    if found is not None:
        assert (found.value, round(found.share, 2)) == (1, 0.3)
        assert found.loss != pytest.approx(found.without)


def course(last: float) -> tuple[float, ...]:
    return tuple(1.6 + (last - 1.6) * min(1.0, step / 20) for step in range(40))


@pytest.mark.parametrize(
    ("own", "lower", "found"),
    [(1.0, 0.2, True), (1.5, 1.2, False), (0.3, 0.1, False), (float("inf"), 0.2, True)],
)
def test_a_rate_is_too_high_where_a_tenth_of_it_learns_one_batch(
    own: float, lower: float, found: bool
) -> None:
    tried = Experiments(
        one_batch=LEARNED,
        own_rate=OwnRate(0.001, course(own), course(lower), course(lower)),
    )
    assert bool(findings_in("RE019", seen(trace([1.6, 1.3] * 20), tried=tried))) is found
    assert (
        findings_in(
            "RE019",
            seen(trace([1.6] * 20 + [0.1] * 60), tried=replace(tried, own_rate=None)),
        )
        == ()
    )


@pytest.mark.parametrize(
    ("own", "warmed", "attends", "found"),
    [
        (1.5, 0.1, True, 1),
        (1.5, 0.1, None, 0),
        (0.9, 0.1, True, 0),
        (1.5, 1.2, True, 0),
    ],
)
def test_a_warm_up_is_missing_where_it_makes_attention_learn(
    own: float, warmed: float, attends: bool | None, found: int
) -> None:
    tested = Behaviour("Net", at_end=True, order_blind=attends)
    rates = OwnRate(0.01, course(own), course(0.3), course(warmed))
    tried = Experiments(behaviour=(tested,), own_rate=rates)
    seen_now = findings_in("RE065", seen(trace([1.6] * 40), tried=tried))
    assert [one.certainty for one in seen_now] == [Certainty.STRONG] * found


def test_a_blind_mask_stands_where_tokens_are_compared() -> None:
    text = (
        "def collate(rows):\n    ids = pad_sequence(rows, padding_value=1)\n    return ids, "
        "ids.ne(0)\n"
    )
    tried = Experiments(behaviour=(Behaviour("Net", mask_blind=True),))
    (found,) = findings_in("RE036", seen(trace([1.0] * 40), "import torch\n" + text, tried))
    assert found.place is not None
    assert (found.place.line, found.certainty) == (4, Certainty.PROOF)
