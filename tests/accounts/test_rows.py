"""What the account of rows says of small programs, and of their sound twins."""

from __future__ import annotations

import pytest

from reenact.accounts import Account, AccountStatus, BookName
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

START = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
"""
AGAIN = "labels-of-rows-seen-again"


def account_of(program: str) -> Account:
    """The account of rows of a program that is watched."""
    evidence = evidence_of(program, run=True)
    assert evidence.crash is None
    (account,) = (one for one in evidence.accounts if one.book is BookName.ROWS)
    return account


def status_of(account: Account, key: str) -> AccountStatus:
    """That of the one entry of this key."""
    (entry,) = (one for one in account.entries if one.key == key)
    return entry.status


COLLECTED = """
for epoch in range(4):
    for number, rows in enumerate(torch.randperm(256).split(16), start=1):
        loss = nn.functional.cross_entropy(model(x[rows]), y[{labels}])
        (loss / 4).backward()
        if number % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


def test_labels_of_each_micro_batch_are_compared_with_its_own_rows() -> None:
    account = account_of(START + COLLECTED.replace("{labels}", "rows"))
    assert status_of(account, AGAIN) is AccountStatus.BALANCES


def test_labels_of_other_rows_of_a_micro_batch_do_not_balance() -> None:
    account = account_of(START + COLLECTED.replace("{labels}", "torch.randperm(256)[:16]"))
    assert status_of(account, AGAIN) is AccountStatus.IMBALANCE


EVALUATED_WITH_GRADIENTS = """
held, answers = torch.randn(64, 6), torch.randint(4, (64,))
for epoch in range(12):
    for rows in torch.randperm(256).split(64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(held), answers)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print(nn.functional.cross_entropy(model(held), answers).item())
"""


def test_rows_of_a_loss_that_never_goes_backward_do_not_train() -> None:
    account = account_of(START + EVALUATED_WITH_GRADIENTS)
    assert not account.imbalances
    (trained,) = (one for one in account.entries if one.key == "rows-trained")
    assert "256 different rows trained" in trained.sentence
    assert status_of(account, AGAIN) is AccountStatus.BALANCES


CONTRASTIVE = """
other = x + 0.05 * torch.randn_like(x)
for epoch in range(8):
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        first, second = model(torch.cat([x[rows], other[rows]])).chunk(2)
        loss = nn.functional.cross_entropy(first @ second.T, {labels})
        loss.backward()
        optimizer.step()
"""
ALONE = """
for epoch in range(8):
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        answers = model(x[rows]) @ torch.randn(4, 32)
        nn.functional.cross_entropy(answers, {labels}).backward()
        optimizer.step()
"""


@pytest.mark.parametrize("program", [CONTRASTIVE, ALONE])
@pytest.mark.parametrize("labels", ["torch.arange(32)", "torch.arange(32).roll(16)"])
def test_labels_that_number_the_rows_of_a_batch_are_none_of_a_row(
    program: str, labels: str
) -> None:
    account = account_of(START + program.replace("{labels}", labels))
    assert not account.imbalances


def test_labels_that_belong_to_places_are_none_of_a_row() -> None:
    labels = "torch.arange(32) // 2"
    account = account_of(START + ALONE.replace("{labels}", labels))
    assert status_of(account, AGAIN) is AccountStatus.UNSEEN
    assert not account.imbalances


WORDS = """
import torch
from torch import nn

torch.manual_seed(0)

def sentences(count):
    kinds = torch.randint(6, 13, (count,))
    place = torch.arange(12)[None]
    starts = torch.randint(6, (count, 1)) * 100
    words = torch.where(place < kinds[:, None], place * 5 + starts + torch.randint(2, (count, 12)), 0)
    return words, kinds % 3

x, y = sentences(1500)
held, answers = sentences(300)
model = nn.Sequential(nn.EmbeddingBag(700, 8), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(4):
    for rows in torch.randperm(1500).split(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model({held}).argmax(1) == {answers}).float().mean().item())
"""
JUDGE = "rows-that-judge"


def test_short_rows_that_are_equal_by_chance_are_no_leak() -> None:
    program = WORDS.replace("{held}", "held").replace("{answers}", "answers")
    account = account_of(program)
    assert not account.imbalances
    (entry,) = (one for one in account.entries if one.key == JUDGE)
    assert "by chance" in entry.sentence


MEASURED = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x @ torch.randn(6, 3)).argmax(1)
{copies}
order = torch.randperm(len(x))
x, y = x[order], y[order]
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(5):
    for rows in torch.randperm(300).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[300:]).argmax(1) == y[300:]).float().mean().item())
"""
COPIES = "x, y = torch.cat([x, x[:100]]), torch.cat([y, y[:100]])"


def test_copies_of_measured_rows_on_both_sides_are_a_leak() -> None:
    assert not account_of(MEASURED.replace("{copies}", "")).imbalances
    (entry,) = account_of(MEASURED.replace("{copies}", COPIES)).imbalances
    assert entry.key == JUDGE


A_FEW_STEPS = """
x = torch.randn(2000, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
held, answers = torch.randn(200, 6), torch.randint(4, (200,))
for step, rows in enumerate(torch.randperm(2000)[:600].split(30)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
    optimizer.step()
    if step % 5 == 4:
        with torch.no_grad():
            print("accuracy", (model(x[:500]).argmax(1) == y[:500]).float().mean().item())
            print("val_accuracy", (model(held).argmax(1) == answers).float().mean().item())
"""


def test_an_accuracy_of_the_training_rows_is_no_leak() -> None:
    account = account_of(START + A_FEW_STEPS)
    assert not account.imbalances
    judged = [one.status for one in account.entries if one.key == JUDGE]
    assert judged == [AccountStatus.FACT, AccountStatus.BALANCES]


LOADED = """
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Rows(Dataset):
    def __len__(self):
        return 96
    def __getitem__(self, index):
        return x[index] + {noise} * torch.randn(6), y[index]

held = DataLoader(Rows(), batch_size=32)
loader = DataLoader(TensorDataset(x[96:], y[96:]), batch_size=16, shuffle={shuffle})
for epoch in range(5):
    {seed}
    for number, (rows, labels) in enumerate(loader):
        if number == {most}:
            break
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
    with torch.no_grad():
        for rows, labels in held:
            print((model(rows).argmax(1) == labels).float().mean().item())
"""
SOUND = {"{noise}": "0", "{shuffle}": "True", "{seed}": "pass", "{most}": "99"}
LOADERS = {
    "rows-never-seen": {"{shuffle}": "False", "{most}": "4"},
    "order-of-rounds": {"{seed}": "torch.manual_seed(3)"},
    "rows-that-judge-again": {"{noise}": "0.1"},
}


def loaded(**changes: str) -> Account:
    text = LOADED
    for key, value in (SOUND | {f"{{{key}}}": value for key, value in changes.items()}).items():
        text = text.replace(key, value)
    return account_of(START + text)


def test_rounds_of_a_sound_loader_say_nothing() -> None:
    account = loaded()
    assert not account.imbalances
    assert not {entry.key for entry in account.entries} & set(LOADERS)
    assert status_of(account, "classes-that-judge") is AccountStatus.BALANCES


@pytest.mark.parametrize("key", LOADERS)
def test_what_rounds_of_a_loader_show_is_a_fact(key: str) -> None:
    account = loaded(**{name.strip("{}"): value for name, value in LOADERS[key].items()})
    assert not account.imbalances
    assert status_of(account, key) is AccountStatus.FACT


BY_CLASS = """
order = {order}
x, y = x[order], y[order]
for epoch in range(10):
    for rows in torch.randperm(160).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[200:]).argmax(1) == y[200:]).float().mean().item())
"""


def test_classes_that_judge_and_never_train_do_not_balance() -> None:
    (entry,) = account_of(START + BY_CLASS.replace("{order}", "y.argsort()")).imbalances
    assert entry.key == "classes-that-judge"
    mixed = account_of(START + BY_CLASS.replace("{order}", "torch.randperm(256)"))
    assert not mixed.imbalances
    assert status_of(mixed, "classes-that-judge") is AccountStatus.BALANCES


WINDOWS = """
import torch
from torch import nn

torch.manual_seed(0)
series = (torch.arange(700) / 9).sin() + 0.2 * torch.randn(700)
x, y = series.unfold(0, 24, 1)[:-1], series[24:]
order = {order}
train, held = order[:500], order[530:]
model = nn.Sequential(nn.Linear(24, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for rows in train[torch.randperm(500)].split(50):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_loss", nn.functional.mse_loss(model(x[held]).squeeze(1), y[held]).item())
"""


def test_windows_that_overlap_in_time_are_reported() -> None:
    account = account_of(WINDOWS.replace("{order}", "torch.randperm(676)"))
    assert status_of(account, "neighbours-in-time") is AccountStatus.FACT
    account = account_of(WINDOWS.replace("{order}", "torch.arange(676)"))
    assert "neighbours-in-time" not in {entry.key for entry in account.entries}
    tables = MEASURED.replace("{copies}", "").replace("400, 6", "400, 12").replace("(6,", "(12,")
    assert "neighbours-in-time" not in {entry.key for entry in account_of(tables).entries}


KERAS = """
import numpy as np
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
x = rng.normal(size=(260, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential([keras.layers.Dense(12, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x[:200], y[:200], batch_size=50, epochs=6, validation_data=(x[200:], y[200:]), verbose=0)
"""


def test_rows_that_fit_validates_on_did_not_train() -> None:
    account = account_of(KERAS)
    (trained,) = (one for one in account.entries if one.key == "rows-trained")
    assert "200 different rows trained" in trained.sentence
    assert status_of(account, JUDGE) is AccountStatus.BALANCES


TEXTS = """
import torch
from torch import nn

torch.manual_seed(0)
lengths = torch.randint(3, 13, (400,))
texts = [torch.randint(5, 60, (int(length),)) for length in lengths]
y = torch.tensor([int((text > 30).sum() * 2 > len(text)) for text in texts])

def filled(rows, value, at_end=True, width=12):
    lines = torch.full((len(rows), width), value)
    for line, row in zip(lines, rows):
        text = texts[row]
        if at_end:
            line[: len(text)] = text
        else:
            line[-len(text):] = text
    return lines

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(60, 16), nn.Linear(16, 2)

    def forward(self, tokens, lengths=None):
        return self.head(self.words(tokens).mean(1))

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    for rows in torch.randperm(300).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model({train}), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held = torch.arange(300, 400)
        right = (model({judge}).argmax(1) == y[held]).float().mean()
    print(f"val_accuracy {right:.3f}")
    model.train()
"""
LIKE = "filled(rows, 0)", "filled(held, 0)"


def of_texts(train: str, judge: str) -> Account:
    return account_of(TEXTS.replace("{train}", train).replace("{judge}", judge))


def test_rows_that_judge_and_are_filled_up_with_another_number_do_not_balance() -> None:
    account = of_texts("filled(rows, 0)", "filled(held, 1)")
    (entry,) = (one for one in account.imbalances if one.key == "padding-of-rows")
    assert "filled up with 1 and those that train with 0" in entry.sentence
    assert entry.place is not None


@pytest.mark.parametrize(
    ("train", "judge", "status"),
    [
        (*LIKE, AccountStatus.BALANCES),
        ("filled(rows, 0)", "filled(held, 0, at_end=False)", AccountStatus.FACT),
        ("filled(rows, 0), rows", "filled(held, 1), held", AccountStatus.FACT),
        (
            "torch.stack([torch.cat(texts)[row : row + 12] for row in rows])",
            "filled(held, 0, width=40)",
            AccountStatus.FACT,
        ),
    ],
)
def test_padding_that_may_be_meant_is_no_finding(
    train: str, judge: str, status: AccountStatus
) -> None:
    assert status_of(of_texts(train, judge), "padding-of-rows") is status


PICTURES = """
import torch
from torch import nn

torch.manual_seed(0)
originals = torch.randn(150, 1, 12, 12).repeat_interleave(2, 2)[:, :, ::2].cumsum(3)
y = (originals.mean((1, 2, 3)) > 0).long()
copies = originals + 0.01 * torch.randn_like(originals)
model = nn.Sequential(nn.Flatten(), nn.Linear(144, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for rows in torch.randperm(100).split(25):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(originals[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        judged = {judged}
        right = (model({judged}).argmax(1) == y[:50]).float().mean()
    model.train()
"""


def test_copies_that_were_changed_a_little_are_reported() -> None:
    account = account_of(PICTURES.replace("{judged}", "copies[:50]"))
    (entry,) = (one for one in account.entries if one.key == "nearly-equal-rows")
    assert entry.sentence.startswith("50 of 50 rows that judge are nearly equal")
    assert entry.status is AccountStatus.FACT


def test_other_pictures_are_not_nearly_equal() -> None:
    account = account_of(PICTURES.replace("{judged}", "originals[100:]"))
    assert [one for one in account.entries if one.key == "nearly-equal-rows"] == []


def test_rows_that_come_twice_in_a_batch_are_read() -> None:
    twice = PICTURES.replace("originals[rows]", "originals[rows].repeat(2, 1, 1, 1)")
    twice = twice.replace("y[rows])", "y[rows].repeat(2))").replace(
        "{judged}", "copies[:50].repeat(2, 1, 1, 1)"
    )
    twice = twice.replace("== y[:50]", "== y[:50].repeat(2)")
    account = account_of(twice)
    (entry,) = (one for one in account.entries if one.key == "nearly-equal-rows")
    assert entry.sentence.startswith("50 of 50 rows that judge are nearly equal")


BY_INDEX = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x @ torch.randn(6, 4)).argmax(1)


class Changed(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return x[index] + 0.2 * torch.randn(6), y[index]


data = Changed()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
train = DataLoader(Subset(data, range(0, 300)), batch_size=30, shuffle=True)
held = DataLoader(Subset(data, range({first}, 400)), batch_size=50)
for epoch in range(5):
    for rows, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
    with torch.no_grad():
        for rows, labels in held:
            print("val_accuracy", (model(rows).argmax(1) == labels).float().mean().item())
"""


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ("200", AccountStatus.IMBALANCE),
        ("300", AccountStatus.BALANCES),
        ("0", AccountStatus.IMBALANCE),
    ],
)
def test_rows_that_change_each_time_are_known_by_their_index(
    first: str, status: AccountStatus
) -> None:
    assert status_of(account_of(BY_INDEX.replace("{first}", first)), "rows-by-index") is status


def test_folds_train_models_of_their_own() -> None:
    folds = BY_INDEX.replace("train = DataLoader", "for fold in range(4):\n  train = DataLoader")
    folds = folds.replace("range(0, 300)", "[i for i in range(400) if i % 4 != fold]")
    folds = folds.replace("held = ", "  held = ").replace(
        "range({first}, 400)", "range(fold, 400, 4)"
    )
    head, loop = folds.split("for epoch")
    loop = "".join(f"  {line}\n" for line in f"for epoch{loop}".splitlines())
    made = (
        "  model = nn.Linear(6, 4)\n  optimizer = torch.optim.Adam(model.parameters(), lr=0.02)\n"
    )
    assert status_of(account_of(head + made + loop), "rows-by-index") is AccountStatus.BALANCES


GROUPED = """
import torch
from torch import nn

torch.manual_seed(0)
people = torch.randn(60, 3)
person = torch.randint(60, (900,))
{label}
x = torch.cat([people[person], torch.randn(900, 4)], 1)
held = {held}
model = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for rows in (~held).nonzero()[:, 0][torch.randperm(int((~held).sum()))].split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[held]).argmax(1) == y[held]).float().mean().item())
"""
BY_PERSON = "y = torch.randint(2, (60,))[person]"
BY_ROW = "y = (torch.randn(900) > 0).long()"


@pytest.mark.parametrize(
    ("label", "held", "status"),
    [
        (BY_PERSON, "torch.rand(900) < 0.2", AccountStatus.IMBALANCE),
        (BY_PERSON, "person < 12", AccountStatus.BALANCES),
        (BY_ROW, "torch.rand(900) < 0.2", AccountStatus.FACT),
    ],
)
def test_rows_of_one_person_on_both_sides(label: str, held: str, status: AccountStatus) -> None:
    account = account_of(GROUPED.replace("{label}", label).replace("{held}", held))
    assert status_of(account, "groups-on-both-sides") is status


def test_columns_that_recur_alone_or_in_one_order_are_no_groups() -> None:
    coarse = GROUPED.replace("people[person]", "(people[person] * 2).round() / 2 + 0.1")
    coarse = coarse.replace("{label}", BY_PERSON).replace("{held}", "torch.rand(900) < 0.2")
    assert not [one for one in account_of(coarse).entries if one.key == "groups-on-both-sides"]
    units = GROUPED.replace(
        "people[person]", "people[person][:, :1].repeat(1, 3) * torch.tensor([1, 2, -3])"
    )
    units = units.replace("{label}", BY_PERSON).replace("{held}", "torch.rand(900) < 0.2")
    assert not [one for one in account_of(units).entries if one.key == "groups-on-both-sides"]


def test_a_data_set_that_does_not_tell_its_length_closes_no_book() -> None:
    program = BY_INDEX.replace("{first}", "300").replace(
        "Subset(data, range(0, 300)), batch_size=30, shuffle=True",
        "Endless(), sampler=torch.utils.data.RandomSampler(range(300)), batch_size=30",
    )
    endless = """
class Endless(Changed):
    def __len__(self):
        raise TypeError("it has none")


data = Changed()
"""
    program = program.replace("data = Changed()\n", endless)
    assert status_of(account_of(program), "rows-trained") is AccountStatus.FACT
