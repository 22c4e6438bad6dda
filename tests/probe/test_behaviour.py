"""What a live model does with changed inputs: rows that mix, padding, inputs unread; nothing
stays behind.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from reenact.probe import injected
from reenact.probe.experiment import read_experiments
from reenact.probe.trace import Root
from tried_models import HEAD, OPTIONS, behaviour

ROWS = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.GRU(4, 16, batch_first=FIRST)
        self.norm = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        return {"scores": self.head(self.norm(self.body(x)[0].mean(1))), "rows": len(x)}
model = Model()
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(24, 5, 4), torch.arange(24) % 3), batch_size=8):
    F.cross_entropy(model(x)["scores"], y).backward()
    optimizer.step()
"""
)
PADDED = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 2)
    def forward(self, tokens):
        there = (tokens > 0)[..., None]
        hidden = self.embed(tokens)
        return self.head(POOLED)
model = Model()
x = torch.randint(1, 20, (16, 9))
x[torch.arange(9) >= torch.randint(3, 8, (16, 1))] = 0
optimizer = torch.optim.Adam(model.parameters())
for rows, y in DataLoader(TensorDataset(x, torch.arange(16) % 2), batch_size=16):
    F.cross_entropy(model(rows), y).backward()
    optimizer.step()
"""
)


@pytest.mark.release
def test_rows_mix_where_recurrence_runs_along_the_batch(forks: Any) -> None:
    """Batch norm in evaluation mode mixes nothing, though it does in training."""
    sound = behaviour(forks, ROWS.replace("FIRST", "True"))
    mixes = behaviour(forks, ROWS.replace("FIRST", "False"))
    assert sound.mixing is not None
    assert sound.mixing < 1e-5
    assert mixes.mixing is not None
    assert mixes.mixing > 1e-3
    assert mixes.mixing_at is not None
    assert mixes.mixing_at.module == "body"


ATTENDS = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 8)
        self.attends = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 1)
    def forward(self, x):
        hidden = self.inner(x)
        return self.head(TURNED)
model = Model()
x, y = torch.randn(40, 6, 1), torch.randn(40, 1)
optimizer = torch.optim.Adam(model.parameters())
for rows in torch.randperm(40).split(10):
    F.mse_loss(model(x[rows]), y[rows]).backward()
    optimizer.step()
"""
)
ALONG_ROWS = "self.attends(*[hidden.transpose(0, 1)] * 3)[0][-1]"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("turned", "mixes"),
    [(ALONG_ROWS, True), ("self.attends(hidden, hidden, hidden)[0][:, -1]", False)],
)
def test_one_output_a_row_and_batches_that_no_loader_made(
    forks: Any, turned: str, mixes: bool
) -> None:
    tested = behaviour(forks, ATTENDS.replace("TURNED", turned))
    assert tested.mixing is not None
    assert (tested.mixing > 1e-3) is mixes
    if mixes:
        assert tested.mixing_at is not None
        assert tested.mixing_at.module == "attends"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "made",
    [
        "model = nn.LSTM(4, 3); x, y = torch.randn(9, 4), torch.arange(9) % 3; given = (x,)",
        "model = Graph(); x, y = torch.randn(9, 4), torch.arange(9) % 3; given = (x,)",
        "model = Near(); x, y = torch.randn(9, 4), torch.arange(9) % 3; "
        "given = x, torch.arange(18).view(9, 2) % 9",
    ],
)
def test_rows_that_belong_together_are_not_tested(forks: Any, made: str) -> None:
    """One series without a batch; the nodes of a graph that the model holds; the neighbours of
    each row.
    """
    text = """
class Near(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)
    def forward(self, x, near):
        return self.head(x[near].mean(1))
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)
        self.register_buffer("edges", torch.rand(9, 9))
    def forward(self, x):
        return self.edges @ self.head(x)
MADE
optimizer = torch.optim.Adam(model.parameters())
scores = model(*given)
F.cross_entropy(scores[0] if isinstance(scores, tuple) else scores, y).backward()
optimizer.step()
"""
    assert behaviour(forks, HEAD + text.replace("MADE", made)).mixing is None


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("pooled", "moves"),
    [("hidden.mean(1)", True), ("(hidden * there).sum(1) / there.sum(1)", False)],
)
def test_padding_that_counts_moves_the_output(forks: Any, pooled: str, moves: bool) -> None:
    padding = behaviour(forks, PADDED.replace("POOLED", pooled)).padding
    assert padding is not None
    assert (padding > 1e-3) is moves


def test_nothing_of_the_tests_stays_behind() -> None:
    """Weights, gradients, buffers, modes and random numbers are, bit by bit, what they were."""
    torch = pytest.importorskip("torch")
    tests = injected.part("experiment.behaviour")
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8),
        torch.nn.BatchNorm1d(8),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(8, 3),
    )
    model[2].eval()
    x = torch.randn(8, 4)
    model(x).sum().backward()
    held = [
        *model.parameters(),
        *(weight.grad for weight in model.parameters()),
        *model.buffers(),
        x,
    ]
    before = [tensor.detach().clone() for tensor in held]
    modes, state = [part.training for part in model.modules()], torch.get_rng_state()
    until = time.process_time() + 5.0
    facts = tests.Subject(torch, tests.Pass(model, (x,), {}), [x], until, None).facts(
        [], at_end=True
    )
    assert facts["mixing"] < 1e-5
    assert all(torch.equal(was, tensor) for was, tensor in zip(before, held, strict=True))
    assert [part.training for part in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.release
def test_rows_that_mix_inside_a_model_that_gives_every_row_the_same(forks: Any) -> None:
    """Attention along the batch leaves a class token, which all rows share, without anything of
    its row.
    """
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 8)
        self.token = nn.Parameter(torch.ones(1, 1, 8))
        self.attends = nn.MultiheadAttention(8, 2, batch_first=FIRST)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        hidden = torch.cat([self.token.expand(len(x), -1, -1), self.inner(x)], 1)
        return self.head(hidden[:, 0] + self.attends(hidden, hidden, hidden)[0][:, 0])
model = Model()
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(20, 6, 3), torch.arange(20) % 2), batch_size=10):
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
    sound, mixes = (
        behaviour(forks, HEAD + text.replace("FIRST", first)) for first in ("True", "False")
    )
    assert sound.mixing is not None
    assert sound.mixing < 1e-5
    assert mixes.mixing is not None
    assert mixes.mixing > 1e-3
    assert mixes.mixing_at is not None
    assert mixes.mixing_at.module == "attends"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("mask", "lengths", "cut", "moves"),
    [
        ("None", "4, 4, 4, 4", False, True),
        ("source == 0", "4, 4, 4, 4", False, False),
        ("None", "3, 4, 5, 7", True, True),
        ("source == 0", "3, 4, 5, 7", True, False),
    ],
)
def test_padding_that_a_decoder_reads(
    forks: Any, mask: str, lengths: str, cut: bool, moves: bool
) -> None:
    """Rows of one length have none: what the program pads with is added to them."""
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.core = nn.Transformer(16, 2, 1, 1, 32, 0.0, batch_first=True)
        self.head = nn.Linear(16, 12)
    def forward(self, source, target):
        mask = MASK
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        hidden = self.core(self.embed(source), self.embed(target), tgt_mask=later,
                           src_key_padding_mask=mask, memory_key_padding_mask=mask)
        return self.head(hidden)
model = Model()
text = (torch.randint(12, (4, 1)) + torch.arange(10) * torch.randint(1, 5, (4, 1))) % 12
source = nn.utils.rnn.pad_sequence([torch.arange(1, n + 1) for n in (LENGTHS)], batch_first=True)
optimizer = torch.optim.Adam(model.parameters())
F.cross_entropy(model(source, text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()).backward()
optimizer.step()
"""
    tested = behaviour(forks, HEAD + text.replace("MASK", mask).replace("LENGTHS", lengths))
    moved = tested.padding if cut else tested.padding_added
    assert moved is not None
    assert (moved > 1e-3) is moves


KERAS = """
import keras, numpy as np
class Centred(keras.layers.Layer):
    def call(self, rows):
        return rows - keras.ops.mean(rows, axis=0)
keras.utils.set_random_seed(0)
x = np.random.normal(size=(64, 8)).astype("float32")
norm = keras.layers.BatchNormalization()
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), PART, keras.layers.Dense(3)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, x[:, :3].argmax(1), batch_size=16, verbose=0)
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("part", "mixes"), [("Centred()", True), ("norm", False)])
def test_rows_of_a_keras_model_that_move_other_rows(forks: Any, part: str, mixes: bool) -> None:
    tested = behaviour(forks, KERAS.replace("PART", part))
    assert (tested.model, tested.noise) == ("Sequential", 0)
    assert tested.mixing is not None
    assert (tested.mixing > 1e-3) is mixes


DIVIDED = (
    HEAD
    + """
model = nn.Linear(4, 1)
x = torch.randn(8, 4)
mask = torch.full((8, 1), float("-inf")).exp()
share = torch.linspace(0, 1, 8)
weight = (1 - share) / FIRST
optimizer = torch.optim.Adam(model.parameters())
loss = (weight[:, None] * model(x) ** 2).mean()
loss.backward()
optimizer.step()
"""
)


@pytest.mark.parametrize(("first", "line"), [("share", 11), ("(share + 1)", None)])
def test_the_line_that_first_leaves_the_finite_numbers(
    forks: Any, first: str, line: int | None
) -> None:
    ran = forks.run(DIVIDED.replace("FIRST", first), options=OPTIONS)
    place = read_experiments(ran.folder, root=Root(ran.cwd)).non_finite_at
    assert (place.line if place is not None else None) == line


SEVERAL = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(6, 8), nn.Linear(4, 8)
        self.gate = nn.Parameter(torch.zeros(8))
        self.head = nn.Linear(16, 2)
        self.other = nn.Linear(8, 1)
    def forward(self, image, text, mask=None, target=None):
        seen, read = self.image(image).relu(), self.text(text).relu()
        return FORWARD
model = Model()
optimizer = torch.optim.Adam(model.parameters())
x, t, y = torch.randn(24, 6), torch.randn(24, 4), torch.arange(24) % 2
for image, text, labels in DataLoader(TensorDataset(x, t, y), batch_size=12):
    scores = model(image, CALLED)
    scores = scores[0] if isinstance(scores, tuple) else scores
    F.cross_entropy(scores, labels).backward()
    optimizer.step()
"""
)
BOTH = "self.head(torch.cat([seen, read], 1))"


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("forward", "called", "names"),
    [
        (BOTH, "text", ()),
        ("self.head(torch.cat([seen, seen], 1))", "text", ("text",)),
        ("self.head(torch.cat([seen, self.gate * read], 1))", "text", ()),
        ("self.head(torch.cat([seen, 0.0 * read], 1))", "text=text", ("text",)),
        ("(self.head(torch.cat([seen, seen], 1)), self.other(read))", "text", ()),
        # What says where another input ends may be left out; its name says nothing.
        (BOTH, "text, mask=torch.rand(12)", ("mask",)),
        (BOTH, "text, mask=text > 0", ()),
        (BOTH, "text, mask=(text > 0).float()", ()),
        (BOTH, "text, mask=torch.arange(12) % 4 + 1", ()),
        (BOTH, "text, mask=torch.arange(12) % 7 + 1", ("mask",)),
        (BOTH, "text, target=labels", ()),
        ("0 * self.head(torch.cat([seen, read], 1))", "text", ()),
    ],
)
def test_an_input_that_no_output_depends_on(
    forks: Any, forward: str, called: str, names: tuple[str, ...]
) -> None:
    text = SEVERAL.replace("FORWARD", forward).replace("CALLED", called)
    assert behaviour(forks, text).ignored_inputs == names
