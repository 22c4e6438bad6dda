"""A literal that a program puts behind a name says what it says in its place: the fault is still found, and
the sound form is left alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from made_evidence import LABELS, QUANTITIES, event, findings_in, graph, seen, trace
from reenact.faults.evidence import Evidence
from reenact.probe.trace import Behaviour, Experiments, Trace
from reenact.program.graph import TaskType
from reenact.program.training.cut_off import swapped_at
from reenact.testing.faults import evidence_of

PADDED = Experiments(behaviour=(Behaviour("Net"),))
SHIFTED = Experiments(behaviour=(Behaviour("Net", shift=2),))


@dataclass(frozen=True)
class Case:
    """A program with a literal, `VALUE`, that decides."""

    code: str
    text: str
    """Its first line is empty: the name is given its value there."""
    faulty: str
    sound: str
    line: int
    """Where the fault is found."""
    run: Trace | None = None
    tried: Experiments | None = None
    alone: bool = False
    """The text is all there is: the program was not run."""

    def evidence(self, value: str, *, named: bool) -> Evidence:
        """The program with a value, in its place or behind a name."""
        text = f"VALUE = {value}{self.text}" if named else self.text.replace("VALUE", value)
        if self.alone:
            return evidence_of(text, run=False)
        run = self.run if self.run is not None else trace([1.0] * 20)
        return seen(run, text, self.tried)

    def lines(self, value: str, *, named: bool) -> list[int]:
        """Where a detector finds the fault."""
        found = findings_in(self.code, self.evidence(value, named=named))
        return [one.place.line for one in found if one.place is not None]


ZIPPED = """
images, texts = pairs()
first = DataLoader(TensorDataset(images), shuffle=VALUE)
second = DataLoader(TensorDataset(texts), shuffle=True)
for (a,), (b,) in zip(first, second):
    loss = contrast(a, b)
"""
SPLIT_APART = """
a, b = train_test_split(X, shuffle=VALUE)
c, d = train_test_split(y, shuffle=VALUE)
model.fit(a, c)
"""
REPEATED = """
def two(x, y):
    images = torch.cat([a(x), b(x)], 0)
    return images, y.repeat_interleave(VALUE)
"""
FLIPPED = """
def item(img, mask):
    if random() < 0.5:
        img = img[:, ::VALUE]
    if random() < 0.5:
        img, mask = img[::-1], mask[::-1]
    return img, mask
"""
SORTED_IN_PLACE = """
df = read_csv(path)
y = df['y'].to_numpy()
df.sort_values('t', inplace=VALUE)
X = df[names].to_numpy()
rows = TensorDataset(tensor(X), tensor(y))
"""
SAMPLED = """
df = read_csv(path)
y = df.pop('y')
df = df.sample(frac=VALUE)
model.fit(df, y)
"""
SORTED_ALONG = """
df = read_csv(path)
y = df['y'].values
df = df.sort_values('t', axis=VALUE)
model.fit(df, y)
"""
CUT_ALIKE = """
a, b = train_test_split(X, random_state=0)
c, d = train_test_split(y, random_state=1)
show(a[VALUE], c[VALUE])
"""
ROLLED = """
df['ma'] = df['load'].rolling(7, center=VALUE).mean()
df['target'] = df['load'].shift(-1)
features = ['load', 'ma', 'hour']
X = df[features]
"""
SHIFTED_AHEAD = """
momentum = np.roll(price, VALUE)
x = np.stack([price, momentum], 1)
y = torch.tensor(price[6:])
loss = F.mse_loss(model(x[:-6]), y)
"""
CONVOLVED = """
smooth = np.convolve(level, np.ones(5) / 5, mode=VALUE)
x = np.column_stack([level, smooth])
loss = F.mse_loss(model(x[:-1]), level[1:])
"""
COLUMN = """
df[VALUE] = df['load'].rolling(7, center=True).mean()
df['target'] = df['load'].shift(-1)
features = ['load', VALUE, 'hour']
X = df[features]
"""
WINDOWS = """
for i in range(len(s) - w):
    xs.append(s[i:i + w + VALUE])
    ys.append(s[i + w])
"""
BY_ROW = """
x_train = (x_train - x_train.mean(axis=VALUE)) / x_train.std(axis=VALUE)
x_test = (x_test - x_test.mean(axis=VALUE)) / x_test.std(axis=VALUE)
model.fit(x_train, y)
model.predict(x_test)
"""
EPSILON = """
x_train = (x_train - x_train.mean()) / (VALUE + x_train.std())
x_test = (x_test - x_test.mean()) / (VALUE + x_test.std())
model.fit(x_train, y)
model.predict(x_test)
"""
FIRST_ROWS = """
train, test = x[VALUE:cut], x[cut:]
a = (x[VALUE:cut] - x[VALUE:cut].mean()) / x[VALUE:cut].std()
b = (x[cut:] - x[cut:].mean()) / x[cut:].std()
"""
DIVERGENCE = """
def elbo(x, back, mean, log_var):
    near = F.mse_loss(back, x)
    far = VALUE * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return near + far
"""
ONE_OF_DIVERGENCE = DIVERGENCE.replace("VALUE", "-0.5").replace("(1 +", "(VALUE +")
POLICY = """
log_probs = F.log_softmax(net(states), -1)
chosen = log_probs.gather(1, actions)
policy_loss = (chosen * (returns - 1)).mean()
total = VALUE * policy_loss
total.backward()
"""
ENTROPY = """
logp = dist.log_prob(a)
loss = -(logp * advantage).mean() + VALUE * dist.entropy().mean()
loss.backward()
"""
MAXIMISED = """
optimizer = torch.optim.Adam(net.parameters(), maximize=VALUE)
log_probs = F.log_softmax(net(states), -1)
loss = (log_probs.gather(1, actions) * (returns - 1)).mean()
loss.backward()
"""
FILLED = """
table = nn.Embedding(20, 8, padding_idx=PAD)
keep = (ids != PAD)[:, None, None, :]
scores = scores.masked_fill(keep, VALUE)
"""
TURNED_ROUND = """
table = nn.Embedding(20, 8, padding_idx=PAD)
pad = (ids == PAD).long()
x = encoder(x, src_key_padding_mask=VALUE - pad)
"""
COMPARED = """
table = nn.Embedding(20, 8, padding_idx=PAD)
keep = (ids != PAD).long()
x = encoder(x, src_key_padding_mask=keep == VALUE)
"""
SPREAD = """
keep = torch.arange(n)[None] < lengths[:, VALUE]
x = encoder(x, src_key_padding_mask=keep)
"""
FULL = """
rows = pad_sequence(rows)
mask = torch.ones(rows.shape)
out = model(**{'input_ids': rows, VALUE: mask})
"""
LAST = """
class Net:
    def __init__(self):
        self.rnn = nn.GRU(8, 8, batch_first=True)
    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        return out[:, VALUE]
"""
LATER_LABELS = """
labels = text[:, VALUE:]
loss = F.cross_entropy(model(text).flatten(0, 1), labels.flatten())
"""
VIEWED = """
def forward(self, x):
    return x.view(x.size(0), x.size(VALUE), x.size(1))
"""
SHAPED = """
def forward(self, x):
    return x.view(x.shape[0], x.shape[VALUE], x.shape[1])
"""
HEADS = """
def forward(self, x):
    b, t, c = x.shape
    return self.query(x).view(b, VALUE, t, c // 4)
"""
JOINED = """
def forward(self, x):
    b, t, c = x.shape
    q = self.q(x).view(b, t, 4, c // 4).transpose(1, VALUE)
    y = (q @ q.transpose(-2, -1)).softmax(-1) @ q
    return y.reshape(b, t, c)
"""
AVERAGE = """
def move(a, b, keep):
    for p, q in zip(a.parameters(), b.parameters()):
        p.data = keep * p.data + (VALUE - keep) * q.data
for x, y in rows:
    F.mse_loss(net(x), y).backward()
    move(slow, net, 0.999)
"""
AVERAGED = """
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel
model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
averaged = AveragedModel(model)
for x, y in loader:
    averaged.update_parameters(model)
averaged.train(False)
scores = averaged(held)
"""
MODE = AVERAGED.replace("False", "VALUE")
TRACKED = AVERAGED.replace("1d(4", "1d(4, track_running_stats=VALUE")
BUFFERS = AVERAGED.replace("(model)\nfor", "(model, use_buffers=VALUE)\nfor")
STEP = """
import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop = keras.layers.Dropout(0.5)
    def test_step(self, batch):
        return self(batch, training=VALUE)
"""
SCALED = """
scaler = StandardScaler(copy=VALUE)
scaler.fit_transform(x)
model.fit(x, y)
"""
REDUCED = """
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
near = F.mse_loss(litres, y, reduction=VALUE)
loss = near + F.binary_cross_entropy_with_logits(spoiled, z)
"""
COMPILED = """
import keras
model.compile("adam", "mse", metrics=[VALUE])
"""
FROZEN = """
for name, p in model.named_parameters():
    if "bias" or "norm" in name:
        p.requires_grad = VALUE
"""
FROZEN_BY_A_CALL = FROZEN.replace(".requires_grad = VALUE", ".requires_grad_(VALUE)")
OVER_ALL_ROWS = """
train_mask, test_mask = split(x)
out = model(x)
loss = F.cross_entropy(out[VALUE], y[VALUE])
loss.backward()
right = (out.argmax(1) == y)[test_mask]
"""
PENALISED = """
import keras
from keras import layers, regularizers
strong = regularizers.L2
model = keras.Sequential([
    layers.Input((8,)),
    layers.Dense(16, activation="relu", kernel_regularizer=regularizers.L2(VALUE)),
    layers.Dense(3),
])
"""
SCALED_ON_ITS_WAY = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 3)
    def forward(self, x):
        return self.second(VALUE * self.first(x))
"""

QUANTITIES_OF_ONE_COLUMN = trace(
    [1.0] * 20,
    graph=graph(TaskType.REGRESSION, "mse", 1, framework="keras"),
    data=(QUANTITIES,),
)
DROWNED = trace([2e5 * (40 - step) for step in range(20)], data=(LABELS,))
CASES = {
    "a loader that shuffles": Case("RE053", ZIPPED, "True", "False", 5),
    "splits that shuffle": Case("RE053", SPLIT_APART, "True", "False", 3),
    "labels repeated as often": Case("RE053", REPEATED, "2", "3", 4),
    "an image read backwards": Case("RE053", FLIPPED, "-1", "1", 4),
    "a table sorted in place": Case("RE053", SORTED_IN_PLACE, "True", "False", 4),
    "a sample of all rows": Case("RE053", SAMPLED, "1", "0.5", 4),
    "columns that are sorted": Case("RE053", SORTED_ALONG, "0", "'columns'", 4),
    "a centred window": Case("RE063", ROLLED, "True", "False", 2),
    "a shift ahead": Case("RE063", SHIFTED_AHEAD, "-3", "3", 2),
    "a centred average": Case("RE063", CONVOLVED, "'same'", "'valid'", 2),
    "a column": Case("RE063", COLUMN, "'ma'", "0 + 1", 2),
    "a window with its target": Case("RE063", WINDOWS, "1", "0", 4),
    "rows that one index cuts": Case("RE053", CUT_ALIKE, "order", "0", 3),
    "the first rows": Case("RE007", FIRST_ROWS, "0", "1", 4),
    "figures of columns": Case("RE007", BY_ROW, "0", "1", 3),
    "a number that keeps from zero": Case("RE007", EPSILON, "1e-8", "a.std()", 3),
    "the half of a divergence": Case("RE054", DIVERGENCE, "-0.5", "0.5", 4),
    "the sign of a divergence": Case("RE049", DIVERGENCE, "0.5", "-0.5", 4),
    "the one of a divergence": Case("RE054", ONE_OF_DIVERGENCE, "1", "2", 4),
    "a policy gradient": Case("RE049", POLICY, "1", "-1", 4),
    "an entropy": Case("RE049", ENTROPY, "0.01", "-0.01", 3),
    "an optimizer that climbs": Case("RE049", MAXIMISED, "False", "True", 4),
    "scores far below": Case("RE036", FILLED, "-1e9", "0.0", 4, tried=PADDED),
    "infinite scores": Case("RE036", FILLED, "float('-inf')", "0.0", 4, tried=PADDED),
    "a mask turned round": Case("RE036", TURNED_ROUND, "1", "2", 4, tried=PADDED),
    "a mask compared": Case("RE036", COMPARED, "1", "0", 4, tried=PADDED),
    "lengths of rows": Case("RE036", SPREAD, "None", "0", 3, tried=PADDED),
    "a mask by its name": Case("RE036", FULL, "'attention_mask'", "'other'", 3, tried=PADDED),
    "the last step": Case(
        "RE036", LAST, "-1", "0", 7, trace([1.0] * 60, events=(event("padded"),)), PADDED
    ),
    "sizes of a tensor": Case("RE048", VIEWED, "2", "-1", 3),
    "sizes by their place": Case("RE048", SHAPED, "2", "-1", 3),
    "heads before tokens": Case("RE048", HEADS, "4", "1", 4),
    "heads that are joined": Case("RE048", JOINED, "2", "3", 6),
    "what an average lets go": Case("RE061", AVERAGE, "1", "2", 7, trace([1.0] * 300)),
    "a mode": Case("RE067", MODE, "False", "True", 6),
    "statistics that are kept": Case("RE067", TRACKED, "True", "False", 6),
    "statistics that are averaged": Case("RE067", BUFFERS, "False", "True", 6),
    "a step in training mode": Case(
        "RE011", STEP, "True", "False", 8, trace([1.0] * 20, graph=None)
    ),
    "a scaler of copies": Case("RE005", SCALED, "True", "False", 3),
    "a loss that is summed": Case("RE006", REDUCED, "'mean'", "'sum'", 12, DROWNED),
    "a label that is shifted": Case("RE037", LATER_LABELS, "1", "3", 2, tried=SHIFTED),
    "weights that are frozen": Case("RE051", FROZEN, "False", "True", 3),
    "weights that a call freezes": Case("RE051", FROZEN_BY_A_CALL, "False", "True", 3),
    "an accuracy": Case("RE058", COMPILED, "'accuracy'", "'mae'", 3, QUANTITIES_OF_ONE_COLUMN),
    "rows of every split": Case("RE018", OVER_ALL_ROWS, "0", "train_mask", 4),
    "a penalty": Case("RE016", PENALISED, "0.5", "1e-5", 7, alone=True),
    "a number on the way": Case("NL009", SCALED_ON_ITS_WAY, "2", "torch.rand(8)", 10, alone=True),
}


@pytest.mark.parametrize("named", [False, True], ids=["literal", "named"])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_literal_decides_behind_a_name_as_well(case: Case, *, named: bool) -> None:
    assert case.lines(case.faulty, named=named) == [case.line]
    assert case.lines(case.sound, named=named) == []


SWAPPED = """
model = nn.ModuleDict(parts)
optimizer = Adam(model.parameters())
model[VALUE] = nn.Linear(8, 3)
"""
KEPT = """
total = VALUE
for x, y in loader:
    total = step(x, y)
"""


@pytest.mark.parametrize("named", [False, True], ids=["literal", "named"])
def test_where_a_part_of_a_model_is_replaced(*, named: bool) -> None:
    for part, line in (("'head'", 4), ("'body'", None)):
        evidence = Case("RE013", SWAPPED, "", "", 0).evidence(part, named=named)
        place = swapped_at(evidence.files, "head.weight")
        assert (place.line if place is not None else None) == line


@pytest.mark.parametrize("named", [False, True], ids=["literal", "named"])
def test_where_a_variable_is_first_given_what_holds_a_graph(*, named: bool) -> None:
    run = trace([1.0] * 20, events=(event("graphs-kept", name="total", held=9),))
    case = Case("RE047", KEPT, "", "", 0, run)
    assert case.lines("None", named=named) == [4]
    assert case.lines("begin()", named=named) == [2]
