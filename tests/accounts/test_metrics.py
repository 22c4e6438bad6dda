"""What the account of metrics says of small programs, and of their sound twins."""

from __future__ import annotations

import pytest

from reenact.accounts import Account, AccountStatus, BookName
from reenact.accounts.recomputed import meaning_of
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

START = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(300, 6)
y = (x @ torch.randn(6, 3) + 0.8 * torch.randn(300, 3)).argmax(1)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
train = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=50, shuffle=True)
held = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=30)

def fit():
    model.train()
    for rows, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
"""
REPORT = """
kept = None
for epoch in range(8):
    fit()
    model.eval()
    hits, shares, losses, seen = 0.0, [], [], 0
    with torch.no_grad():
        for rows, labels in {loader}:
            out = model(rows)
            losses.append(nn.functional.cross_entropy(out, labels).item())
            right = out.argmax(1) == labels
            hits += right.sum().item()
            shares.append(right.float().mean().item())
            seen += len(rows)
    print(f"{what}")
"""
HELD = "held"
SOUND = (
    "val_acc {hits / seen:.4f}",
    "val_acc {sum(shares) / len(shares):.4f}",
    "val accuracy {100 * hits / seen:.1f}%",
    "val_loss {sum(losses) / len(losses):.4f}",
    "test error {1 - hits / seen:.3f}",
)
OFF = {
    "val_acc {shares[-1]:.4f}": ("wrong-metric", "the last batch alone"),
    "val_acc {hits / len(held):.4f}": ("wrong-metric", "divided by the number of batches"),
    "val_acc {sum(shares) / seen:.5f}": ("wrong-metric", "divided by the number of rows"),
    "val_acc {hits / 30 / len(held):.4f}": ("wrong-metric", "the size of a full one"),
    "val_acc {1 - hits / seen:.4f}": ("", "share of wrong answers"),
    "val_loss {losses[-1]:.4f}": ("", "the last batch alone"),
    "val_loss {sum(losses) / seen:.5f}": ("", "divided by the number of rows"),
}


def account_of(program: str) -> Account:
    """The account of metrics of a program that is watched."""
    evidence = evidence_of(program, run=True)
    assert evidence.crash is None
    (account,) = (one for one in evidence.accounts if one.book is BookName.METRICS)
    return account


def reporting(what: str, loader: str = HELD) -> str:
    return START + REPORT.replace("{what}", what).replace("{loader}", loader)


@pytest.mark.parametrize("what", SOUND)
def test_a_number_that_is_what_its_name_says_balances(what: str) -> None:
    account = account_of(reporting(what))
    assert account.imbalances == ()
    assert any("is what its name says" in entry.sentence for entry in account.entries)


@pytest.mark.parametrize("what", OFF)
def test_a_number_that_is_another_one_does_not_balance(what: str) -> None:
    fault, words = OFF[what]
    (entry,) = account_of(reporting(what)).imbalances
    assert words in entry.sentence
    assert entry.fault == fault
    assert entry.place is not None


def test_names_in_the_program_change_nothing() -> None:
    program = reporting("val_acc {shares[-1]:.4f}")
    renamed = program.replace("shares", "alpha").replace("held", "beta").replace("hits", "gamma")
    assert [one.sentence for one in account_of(program).entries] == [
        one.sentence for one in account_of(renamed).entries
    ]


def test_validation_of_the_loader_that_trains_does_not_balance() -> None:
    (entry,) = account_of(reporting("val_acc {hits / seen:.4f}", "train")).imbalances
    assert "feeds the training" in entry.sentence
    account = account_of(reporting("train_acc {hits / seen:.4f}", "train"))
    assert account.imbalances == ()


AHEAD = """
def ahead(loader):
    before = None
    for batch in loader:
        if before is not None:
            yield before
        before = batch
    yield before
"""


@pytest.mark.parametrize("what", ["val_acc {hits / seen:.4f}", "val_loss {losses[-1]:.4f}"])
def test_batches_that_a_library_asks_for_ahead_keep_their_labels(what: str) -> None:
    ahead = account_of(
        START + AHEAD + REPORT.replace("{what}", what).replace("{loader}", "ahead(held)")
    )
    at_once = account_of(reporting(what))
    reported = [
        [(one.status, one.sentence) for one in account.entries if one.key == "reported"]
        for account in (ahead, at_once)
    ]
    assert reported[0] == reported[1] != []


def test_a_number_of_nothing_that_was_seen_is_not_identified() -> None:
    account = account_of(reporting("val_acc {0.37 + 0.0123 * epoch:.4f}"))
    assert account.imbalances == ()
    assert any("not one, or several" in entry.sentence for entry in account.entries)


KEEP = """
import copy
best, kept = {start}, None
for epoch in range(40):
    fit()
    model.eval()
    with torch.no_grad():
        loss = nn.functional.cross_entropy(model(x[200:]), y[200:]).item()
    print(f"val_loss {loss:.5f}")
    if loss {sign} best:
        best, kept = loss, copy.deepcopy(model.state_dict())
model.load_state_dict(kept)
"""


def test_the_worst_state_is_kept() -> None:
    program = START + KEEP.replace("{start}", "0.0").replace("{sign}", ">")
    (entry,) = account_of(program).imbalances
    assert "kept when val_loss is at its worst" in entry.sentence


def test_the_best_state_is_kept() -> None:
    program = START + KEEP.replace("{start}", "9.0").replace("{sign}", "<")
    account = account_of(program)
    assert account.imbalances == ()
    assert any(entry.key == "kept-state" for entry in account.entries)


WAIT = """
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="{mode}", patience=2)
for epoch in range(10):
    fit()
    model.eval()
    with torch.no_grad():
        share = (model(x[200:]).argmax(1) == y[200:]).float().mean().item()
    print(f"val_acc {share:.4f}")
    schedule.step(share)
"""


def test_a_schedule_waits_in_the_direction_of_its_metric() -> None:
    (entry,) = account_of(START + WAIT.replace("{mode}", "min")).imbalances
    assert 'mode="max"' in entry.why
    assert account_of(START + WAIT.replace("{mode}", "max")).imbalances == ()


TWO = """
z = (y > 0).float()
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, {columns}))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(12):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(model(x[:200])[:, -1], z[:200]).backward()
    optimizer.step()
    with torch.no_grad():
        out = model(x[200:]){given}
        print(f"val_acc {((out > {cut}) == (z[200:] > 0.5)).float().mean():.4f}")
"""


def test_logits_are_cut_where_probabilities_are() -> None:
    cut = START + TWO.replace("{given}", "[:, -1]")
    for columns in "1", "3":
        wrong = cut.replace("{cut}", "0.5").replace("{columns}", columns)
        (entry,) = account_of(wrong).imbalances
        assert "logits cut at 0.5" in entry.sentence
        assert account_of(wrong.replace("> 0.5) ==", "> 0) ==")).imbalances == ()


def test_a_column_is_compared_with_a_row() -> None:
    program = START + TWO.replace("{columns}", "1").replace("{cut}", "0")
    (entry,) = account_of(program.replace("{given}", "")).imbalances
    assert "100 rows" in entry.sentence
    assert account_of(program.replace("{given}", "[:, -1]")).imbalances == ()


MASKS = """
parts = [torch.arange(300) < 100, torch.arange(300) >= 200]
for epoch in range(12):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x)[parts[0]], y[parts[0]]).backward()
    optimizer.step()
    with torch.no_grad():
        answers = model(x).argmax(1)
    shares = [(answers[part] == y[part]).float().mean().item() for part in parts]
    print(f"train acc {shares[0]:.4f} val acc {shares[1]:.4f}")
"""


def test_rows_that_a_mask_takes_are_separate() -> None:
    account = account_of(START + MASKS)
    sentences = [entry.sentence for entry in account.entries]
    assert account.imbalances == ()
    assert any(one.startswith("val_accuracy is what its name says in 12") for one in sentences)


FIGURES = """
for epoch in range(6):
    fit()
    model.eval()
    outs, wants, parts = [], [], []
    with torch.no_grad():
        for rows, labels in held:
            out = model(rows)
            outs.append(out)
            wants.append(labels)
            parts.append(f1(out.argmax(1), labels).mean().item())
    out, labels = torch.cat(outs), torch.cat(wants)
    answers = out.argmax(1)
    print(f"{what}")
"""
COUNTS = """
def counted(answers, labels):
    each = range(3)
    hits = torch.tensor([((answers == one) & (labels == one)).sum() for one in each])
    predicted = torch.tensor([(answers == one).sum() for one in each])
    count = torch.tensor([(labels == one).sum() for one in each])
    return hits.float(), predicted.float(), count.float()

def f1(answers, labels):
    hits, predicted, count = counted(answers, labels)
    return 2 * hits / (predicted + count)

def precision(answers, labels):
    hits, predicted, count = counted(answers, labels)
    return hits / predicted
"""
KNOWN = {
    "val_f1 {f1(answers, labels).mean():.4f}": "f1, the mean over classes",
    "val_f1 {(f1(answers, labels) * labels.bincount()).sum() / len(labels):.4f}": (
        "f1, the mean over classes by their rows"
    ),
    "val_precision {precision(answers, labels).mean():.4f}": "precision, the mean over classes",
    "val_perplexity {nn.functional.cross_entropy(out, labels).exp():.4f}": (
        "perplexity by cross-entropy"
    ),
}
TURNED_ROUND = "val_precision {precision(labels, answers).mean():.4f}"
OF_BATCHES = "val_f1 {sum(parts) / len(parts):.4f}"


def figures(what: str) -> Account:
    return account_of(START + COUNTS + FIGURES.replace("{what}", what))


@pytest.mark.parametrize("what", KNOWN)
def test_a_figure_is_known_by_how_it_is_averaged(what: str) -> None:
    account = figures(what)
    assert account.imbalances == ()
    assert any(entry.sentence.endswith(f": {KNOWN[what]}") for entry in account.entries)


def test_a_figure_of_answers_and_labels_in_each_others_place_does_not_balance() -> None:
    (entry,) = figures(TURNED_ROUND).imbalances
    assert "recall" in entry.sentence
    assert entry.fault == "wrong-metric"


def test_a_figure_that_is_averaged_over_batches_may_be_meant_so() -> None:
    account = figures(OF_BATCHES)
    assert account.imbalances == ()
    (entry,) = (one for one in account.of(AccountStatus.FACT) if one.key == "reported")
    assert "mean over batches" in entry.sentence


R2 = """
x, target = x, x @ torch.randn(6) + 0.5 * torch.randn(300)
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(6):
    for rows in torch.randperm(200).split(20):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]).squeeze(1), target[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        out = model(x[200:]).squeeze(1)
        loss = nn.functional.mse_loss(out, target[200:])
        print(f"test_r2 {1 - loss / target[200:].var(unbiased=False):.4f}")
"""


def test_the_explained_share_of_the_spread_is_known() -> None:
    account = account_of(START + R2)
    assert account.imbalances == ()
    assert any("test_r2 is what its name says" in entry.sentence for entry in account.entries)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("val_rmse", "rmse"),
        ("val_rmse_sq", "mse"),
        ("rmse squared", "mse"),
        ("mse", "mse"),
        ("loss and accuracy", ""),
    ],
)
def test_what_a_name_says(name: str, meaning: str) -> None:
    assert meaning_of(name) == meaning


SELECT = """
import copy
best, kept = 9.0, None
others = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:40] + 1, y[:40]), batch_size=40)
torch.manual_seed(1)
y[200:] = torch.where(torch.rand(len(y) - 200) < 0.4, (y[200:] + 1) % 3, y[200:])
for epoch in range(40):
    fit()
    model.eval()
    with torch.no_grad():
        loss = nn.functional.cross_entropy(model(x[200:]), y[200:]).item()
    print(f"val_loss {loss:.5f}")
    latest = copy.deepcopy(model.state_dict())
    if loss < best:
        best, kept = loss, copy.deepcopy(model.state_dict())
{end}
with torch.no_grad():
    for rows, labels in others:
        print(f"test_loss {nn.functional.cross_entropy(model(rows), labels).item():.5f}")
"""
RESTORED = "restored-state"


@pytest.mark.parametrize(
    ("end", "status", "says"),
    [
        ("model.load_state_dict(kept)", AccountStatus.BALANCES, "is the one that is restored"),
        (
            "model.load_state_dict(latest)",
            AccountStatus.IMBALANCE,
            "what is restored after the training",
        ),
        ("", AccountStatus.IMBALANCE, "40 other rows after the training"),
        ("torch.save(kept, 'best.pt')", AccountStatus.FACT, "never loaded (something was saved)"),
    ],
)
def test_the_state_that_was_selected_is_the_one_that_is_used(
    end: str, status: AccountStatus, says: str
) -> None:
    account = account_of(START + SELECT.replace("{end}", end))
    (entry,) = (one for one in account.entries if one.key == RESTORED)
    assert (entry.status, says in entry.sentence) == (status, True), entry.sentence


def test_a_state_that_nothing_else_is_asked_after_may_be_left() -> None:
    program = (START + SELECT.replace("{end}", "")).replace("in others", "in []")
    (entry,) = (one for one in account_of(program).entries if one.key == RESTORED)
    assert entry.status is AccountStatus.FACT
