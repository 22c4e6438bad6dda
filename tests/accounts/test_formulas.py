"""The account of formulas: each imbalance with a program that shows it, and sound ones that do not."""

from __future__ import annotations

import pytest

from made_evidence import findings_in
from reenact.accounts import Account, AccountStatus, BookName, Entry
from reenact.accounts.policies import policy_entries
from reenact.faults import Evidence
from reenact.probe.books.formulas import FormulasBook, Policy
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

HEAD = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(3, (64,))
soft = F.one_hot(y, 3) * 0.85 + 0.05
"""


def seen(text: str) -> Evidence:
    return evidence_of(HEAD + text, run=True)


def account(text: str) -> Account:
    (found,) = (one for one in seen(text).accounts if one.book is BookName.FORMULAS)
    return found


def keys(text: str) -> list[str]:
    """The imbalances; the book must have been kept."""
    evidence = seen(text)
    assert evidence.trace is not None
    assert evidence.trace.books is not None
    assert evidence.trace.books.formulas is not None
    found = [one for one in evidence.accounts if one.book is BookName.FORMULAS]
    return [entry.key for one in found for entry in one.imbalances]


def entry(text: str, key: str) -> Entry:
    return next(one for one in account(text).entries if one.key == key)


COMPARED = """
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
teacher = nn.Linear(8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    optimizer.zero_grad()
    scores = model(x)
    with torch.no_grad():
        taught = teacher(x)
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def test_probabilities_where_logarithms_belong() -> None:
    text = COMPARED.format(loss='F.kl_div(scores.softmax(1), soft, reduction="batchmean")')
    found = entry(text, "no-log-probabilities")
    assert (found.status, found.fault) == (AccountStatus.IMBALANCE, "output-does-not-fit-loss")
    assert found.is_proof
    assert "is given probabilities: a divergence of -" in found.sentence
    assert found.place is not None
    assert found.place.line == (HEAD + text).splitlines().index("    loss = " + text_of(text)) + 1
    assert len(findings_in("RE142", seen(text))) == 1


def text_of(text: str) -> str:
    (line,) = (one for one in text.splitlines() if one.startswith("    loss = "))
    return line.removeprefix("    loss = ")


def test_logits_where_logarithms_belong() -> None:
    found = entry(COMPARED.format(loss="nn.KLDivLoss()(3 + scores, soft)"), "no-log-probabilities")
    assert "is given numbers up to" in found.sentence


def test_distributions_along_different_axes() -> None:
    text = COMPARED.format(loss='F.kl_div(scores.log_softmax(0), soft, reduction="batchmean")')
    found = entry(text, "distributions-of-other-axes")
    assert "add up to 1 along axis 0, its targets along axis 1" in found.sentence
    assert len(findings_in("RE140", seen(text))) == 1


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("F.kl_div(scores.log_softmax(1), soft.log())", "are log-probabilities"),
        ("F.kl_div(scores.log_softmax(1), taught - 1)", "are numbers down to"),
        ("F.kl_div(scores.log_softmax(1), soft, log_target=True)", "are probabilities"),
    ],
)
def test_targets_that_are_no_distributions(loss: str, words: str) -> None:
    found = entry(COMPARED.format(loss=loss), "no-target-distribution")
    assert words in found.sentence


@pytest.mark.parametrize(
    "loss",
    [
        'F.kl_div(scores.log_softmax(1), soft, reduction="batchmean")',
        "F.kl_div(scores.log_softmax(1), soft.log(), log_target=True)",
        'nn.KLDivLoss(reduction="none")(scores.log_softmax(1), soft).sum()',
        # Distillation with a temperature.
        "16 * F.kl_div((scores / 4).log_softmax(1), (taught / 4).softmax(1))",
        # The reverse one.
        "F.kl_div(taught.log_softmax(1), scores.softmax(1))",
        # Distributions over places.
        "F.kl_div(scores.T.log_softmax(1), taught.T.softmax(1))",
        # Of two values each, in two calls.
        "F.kl_div(F.logsigmoid(scores), soft) + F.kl_div(F.logsigmoid(-scores), 1 - soft)",
        # The generalised one, of what is no distribution.
        "(F.kl_div(scores.abs().log(), 5 * soft, reduction='none') + scores.abs() - 5 * soft).mean()",
        # Rows that are left out.
        "F.kl_div(scores.log_softmax(1), soft * (y < 2).float()[:, None])",
        "F.kl_div(scores.log_softmax(1), F.one_hot(y, 3).float())",
    ],
)
def test_divergences_that_are_given_what_they_take(loss: str) -> None:
    assert keys(COMPARED.format(loss=loss)) == []


AUTOENCODER = """
encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.002{more})
for epoch in range(12):
    optimizer.zero_grad()
    mean, width = encoder(x).chunk(2, 1)
    {drawn}
    code = mean + torch.randn_like(mean) * spread
    error = (decoder(code) - x).pow(2).sum(1).mean()
    {loss}.backward()
    optimizer.step()
"""
LOG_VARIANCE = "spread = (0.5 * width).exp()"
SOFTPLUS = "spread = F.softplus(width)"
OF_LIBRARY = "torch.distributions.kl_divergence(torch.distributions.Normal(mean, spread), prior)"
PRIOR = SOFTPLUS + "; prior = torch.distributions.Normal(0.0, 1.0)"


@pytest.mark.parametrize(
    ("drawn", "loss"),
    [
        (LOG_VARIANCE, "(error + 0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean())"),
        (LOG_VARIANCE, "(error - 0.5 * torch.mean(mean.pow(2) + width.exp() - 1 - width))"),
        (LOG_VARIANCE, "(error - 0.5 * ((2 * width).exp() + mean**2 - 2 * width).mean())"),
        (SOFTPLUS, "(error - (0.5 * (mean**2 + spread**2 - 1) - spread.log()).mean())"),
        (PRIOR, f"(error - {OF_LIBRARY}.sum(1).mean())"),
    ],
)
def test_a_divergence_that_is_subtracted(drawn: str, loss: str) -> None:
    text = AUTOENCODER.format(more="", drawn=drawn, loss=loss)
    found = entry(text, "divergence-subtracted")
    assert (found.fault, found.is_proof) == ("wrong-sign-in-loss", True)
    assert len(findings_in("RE141", seen(text))) == 1


@pytest.mark.parametrize(
    ("drawn", "loss"),
    [
        (LOG_VARIANCE, "(error - 0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean())"),
        (LOG_VARIANCE, "(-(0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean() - error))"),
        (SOFTPLUS, "(error + (0.5 * (mean**2 + spread**2 - 1) - spread.log()).mean())"),
        (PRIOR, f"(error + 0.1 * {OF_LIBRARY}.sum(1).mean())"),
        # A floor below which no bit is charged.
        (PRIOR, f"(error + {OF_LIBRARY}.mean(0).clamp(min=0.1).sum())"),
        # A likelihood of counts.
        (LOG_VARIANCE, "(error + (width.exp() - width * x[:, :2].abs()).mean())"),
        # A likelihood whose width is learned.
        (LOG_VARIANCE, "(0.5 * (width + (mean - x[:, :2])**2 / width.exp()).mean() + error)"),
    ],
)
def test_divergences_of_the_right_sign(drawn: str, loss: str) -> None:
    assert keys(AUTOENCODER.format(more="", drawn=drawn, loss=loss)) == []


def test_a_bound_that_is_raised_on_purpose() -> None:
    loss = "(0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean() - error)"
    more = ", maximize=True"
    assert keys(AUTOENCODER.format(more=more, drawn=LOG_VARIANCE, loss=loss)) == []
    turned = """
encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.002)
for epoch in range(12):
    optimizer.zero_grad()
    mean, width = encoder(x).chunk(2, 1)
    code = mean + torch.randn_like(mean) * (0.5 * width).exp()
    error = (decoder(code) - x).pow(2).sum(1).mean()
    (0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean() - error).backward()
    for weight in [*encoder.parameters(), *decoder.parameters()]:
        weight.grad.neg_()
    optimizer.step()
"""
    assert keys(turned) == []


def test_a_divergence_that_is_subtracted_in_a_closure() -> None:
    text = """
encoder, decoder = nn.Linear(8, 4), nn.Linear(2, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.002)
def closure():
    optimizer.zero_grad()
    mean, width = encoder(x).chunk(2, 1)
    code = mean + torch.randn_like(mean) * (0.5 * width).exp()
    error = (decoder(code) - x).pow(2).sum(1).mean()
    loss = error + 0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean()
    loss.backward()
    return loss
for epoch in range(12):
    optimizer.step(closure)
"""
    assert keys(text) == ["divergence-subtracted"]


ACTOR = """
actor, critic = nn.Linear(8, {width}), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.003)
for update in range(12):
    states = torch.randn(64, 8)
    policy = {policy}
    actions = policy.sample()
    logs = policy.log_prob(actions){more}
    values = critic(states).squeeze(-1)
    returns = states[:, 0] + 0.5 * torch.randn(64) + {good}
    ahead = (returns - values).detach()
    ahead = (ahead - ahead.mean()) / (ahead.std() + 1e-6)
    cut = 0.2
    old = logs.detach() + 0.02 * torch.randn(64)
    ratio = (logs - old).exp()
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CHOICE = {
    "width": 3,
    "policy": "torch.distributions.Categorical(logits=actor(states))",
    "good": "(actions == 1).float()",
    "more": "",
}
CONTINUOUS = {
    "width": 1,
    "policy": "torch.distributions.Normal(actor(states).squeeze(-1), 0.5)",
    "good": "actions",
    "more": "",
}
BOTH = "torch.min(ratio * ahead, ratio.clamp(1 - cut, 1 + cut) * ahead).mean()"
NEGATIVE = "torch.max(-ahead * ratio, -ahead * ratio.clamp(1 - cut, 1 + cut)).mean()"
VALUE = " + 0.5 * F.mse_loss(values, returns)"
SQUARED = " + (values - returns).pow(2).mean()"


@pytest.mark.parametrize("kind", [CHOICE, CONTINUOUS], ids=["choice", "continuous"])
@pytest.mark.parametrize(
    "loss",
    [
        "(logs * ahead).mean()" + VALUE,
        "-(logs * -ahead).mean()" + SQUARED,
        "torch.stack([one * float(way) for one, way in zip(logs, ahead)]).sum()" + VALUE,
        BOTH + VALUE,
        BOTH,
    ],
)
def test_a_step_that_makes_the_rewarded_action_less_likely(kind: dict[str, str], loss: str) -> None:
    text = ACTOR.format(loss=loss, **kind)
    (found,) = account(text).imbalances
    assert found.fault == "wrong-sign-in-loss"
    assert "12 of 12" in found.sentence or found.key == "pessimistic-bound-lowered"
    assert found.place is not None
    assert found.place.line == (HEAD + text).splitlines().index(f"    loss = {loss}") + 1
    assert len(findings_in("RE141", seen(text))) == 1


@pytest.mark.parametrize("kind", [CHOICE, CONTINUOUS], ids=["choice", "continuous"])
@pytest.mark.parametrize(
    "loss",
    [
        "-(logs * ahead).mean()" + VALUE + " - 0.01 * policy.entropy().mean()",
        # Advantages that are negative by design.
        "(logs * -ahead).mean()" + SQUARED,
        NEGATIVE + VALUE,
        "-" + BOTH + SQUARED,
        "torch.stack([-one * float(way) for one, way in zip(logs, ahead)]).sum()" + VALUE,
        "-(logs * ahead * (ahead.abs() < 2)).sum() / 64" + VALUE,
        # Regression on actions, weighed by how good they were.
        "-(logs * ahead.exp().clamp(max=20)).mean()" + VALUE,
        # The entropy is part of what is paid.
        "(0.1 * logs - ahead.mean()).mean()" + VALUE,
    ],
)
def test_steps_that_make_the_rewarded_action_likelier(kind: dict[str, str], loss: str) -> None:
    assert keys(ACTOR.format(loss=loss, **kind)) == []


def test_an_account_says_that_a_policy_gradient_balances() -> None:
    loss = "-(logs * ahead).mean()" + VALUE
    found = entry(ACTOR.format(loss=loss, **CHOICE), "policy")
    assert found.status is AccountStatus.BALANCES


def test_of_two_players_one_lowers_what_the_other_raises() -> None:
    first = Policy(seen=12, lowered=0, raised=12, smaller=0)
    second = Policy(seen=12, lowered=12, raised=0, smaller=0)
    alone = [one.status for one in policy_entries(FormulasBook(12, policies=(second,)))]
    assert alone == [AccountStatus.IMBALANCE]
    both = [one.status for one in policy_entries(FormulasBook(12, policies=(first, second)))]
    assert both == [AccountStatus.BALANCES, AccountStatus.FACT]


def test_costs_of_whole_answers_are_lowered() -> None:
    """An answer of several choices has one cost, which is to be small."""
    text = """
actor, critic = nn.Linear(8, 3), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.003)
for update in range(12):
    states = torch.randn(64, 5, 8)
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    logs = policy.log_prob(actions).sum(1)
    values = critic(states.mean(1)).squeeze(-1)
    costs = states[:, 0, 0] + (actions == 1).float().sum(1)
    loss = (logs * (costs - values).detach()).mean() + F.mse_loss(values, costs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert keys(text) == []


SHARES = "scores.exp() / scores.exp().sum(1, keepdim=True)"


@pytest.mark.parametrize(
    ("loss", "key", "fault"),
    [
        (
            f"F.cross_entropy({SHARES}, y)",
            "probabilities-as-scores",
            "softmax-before-cross-entropy",
        ),
        ("F.cross_entropy(scores.softmax(1), y)", "probabilities-as-scores", None),
        (
            "nn.BCEWithLogitsLoss()(scores.sigmoid().flatten(), soft.flatten())",
            None,
            None,
        ),
        (
            "nn.BCEWithLogitsLoss()(scores.sigmoid(), soft)",
            "probabilities-as-scores",
            "softmax-before-cross-entropy",
        ),
        ("F.nll_loss(scores.softmax(1), y)", "no-log-probabilities", "output-does-not-fit-loss"),
        ("F.cross_entropy(scores, F.one_hot(y, 3) * 2.0 - 1)", "no-target-distribution", ""),
        ("F.nll_loss(5 * scores, y)", "no-log-probabilities", "output-does-not-fit-loss"),
    ],
)
def test_losses_of_classes_that_are_given_the_wrong_thing(
    loss: str, key: str | None, fault: str | None
) -> None:
    text = COMPARED.format(loss=loss)
    if key is None:
        assert keys(text) == []
        return
    (found,) = account(text).imbalances
    assert (found.key, found.fault) == (key, found.fault if fault is None else fault)
    assert found.place is not None
    assert found.place.line == (HEAD + text).splitlines().index(f"    loss = {loss}") + 1


@pytest.mark.parametrize(
    "loss",
    [
        "F.cross_entropy(scores, y)",
        "F.cross_entropy(scores, soft, label_smoothing=0.1)",
        # Mixed rows, weights of both signs for the class that was chosen, smoothing below 0.
        "F.cross_entropy(scores, 0.3 * soft + 0.7 * soft.flip(0))",
        "F.cross_entropy(scores, F.one_hot(y, 3) * torch.randn(64, 1))",
        "F.cross_entropy(scores, F.one_hot(y, 3) * 1.2 - 0.2 / 3)",
        # A logarithm of probabilities is a score like any other.
        "F.cross_entropy(scores.log_softmax(1), y)",
        "F.cross_entropy((scores.softmax(1) + 1e-6).log(), y)",
        "F.cross_entropy(F.normalize(scores) / 0.1, y)",
        "F.cross_entropy(scores.sigmoid(), y)",
        "F.nll_loss(scores.log_softmax(1), y)",
        "F.nll_loss(F.logsigmoid(scores), y)",
        "F.nll_loss((0.9 * scores.softmax(1) + 0.1 / 3).log(), y)",
        "nn.BCEWithLogitsLoss()(scores, soft)",
    ],
)
def test_losses_of_classes_that_are_given_what_they_take(loss: str) -> None:
    assert keys(COMPARED.format(loss=loss)) == []


SCHEDULED = """
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
rates = torch.optim.lr_scheduler
loader = torch.utils.data.DataLoader(torch.arange(64), batch_size=4, shuffle=True)
{made}
for epoch in range(8):
    for rows in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
        {each}
    {last}
"""
STEP = "schedule.step()"
COSINE = "schedule = rates.CosineAnnealingLR(optimizer, T_max={})"
LAMBDA = """
from functools import partial
def line(now, num_warmup_steps, num_training_steps):
    return min(now / num_warmup_steps, max(0.0, 1 - now / num_training_steps))
schedule = rates.LambdaLR(optimizer, partial(line, num_warmup_steps=2, num_training_steps={}))
"""


@pytest.mark.parametrize(
    ("made", "each", "last", "key"),
    [
        (COSINE.format(8), STEP, "pass", "schedule-wraps"),
        ("schedule = rates.MultiStepLR(optimizer, [4, 6])", STEP, "pass", "schedule-over-soon"),
        ("schedule = rates.PolynomialLR(optimizer, 8)", STEP, "pass", "schedule-over-soon"),
        (LAMBDA.format(8), STEP, "pass", "schedule-over-soon"),
        (COSINE.format(128), "pass", STEP, "schedule-hardly-begun"),
        (
            "schedule = rates.OneCycleLR(optimizer, 0.1, total_steps=128)",
            "pass",
            STEP,
            "schedule-hardly-begun",
        ),
        (LAMBDA.format(128), "pass", STEP, "schedule-hardly-begun"),
    ],
)
def test_schedules_that_are_not_stepped_as_planned(
    made: str, each: str, last: str, key: str
) -> None:
    text = SCHEDULED.format(made=made, each=each, last=last)
    (found,) = account(text).imbalances
    assert found.key == key
    assert found.place is not None
    code = "RE144" if found.fault else "RE140"
    assert len(findings_in(code, seen(text))) == 1


@pytest.mark.parametrize(
    ("made", "each", "last"),
    [
        (COSINE.format(8), "pass", STEP),
        (COSINE.format(128), STEP, "pass"),
        # Restarts, and cycles that are meant.
        ("schedule = rates.CosineAnnealingWarmRestarts(optimizer, T_0=2)", "pass", STEP),
        ("schedule = rates.CosineAnnealingWarmRestarts(optimizer, T_0=16)", STEP, "pass"),
        ("schedule = rates.CyclicLR(optimizer, 0.01, 0.1, step_size_up=8)", STEP, "pass"),
        (COSINE.format(32), STEP, "pass"),
        ("schedule = rates.OneCycleLR(optimizer, 0.1, total_steps=129)", STEP, "pass"),
        # A warm-up over the first steps.
        ("schedule = rates.LinearLR(optimizer, 0.1, total_iters=5)", STEP, "pass"),
        (
            "schedule = rates.SequentialLR(optimizer, [rates.LinearLR(optimizer, 0.1, total_iters=8), "
            "rates.CosineAnnealingLR(optimizer, 120)], [8])",
            STEP,
            "pass",
        ),
        ("schedule = rates.MultiStepLR(optimizer, [4, 6])", "pass", STEP),
        ("schedule = rates.MultiStepLR(optimizer, [64, 96])", STEP, "pass"),
        # A training that ends early.
        (COSINE.format(40), "pass", STEP),
    ],
)
def test_schedules_that_are_stepped_as_planned(made: str, each: str, last: str) -> None:
    assert keys(SCHEDULED.format(made=made, each=each, last=last)) == []


MIXED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)
    def forward(self, rows):
        inner = self.first(rows).relu()
        return self.last({inner})
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def test_other_rows_move_the_output_of_a_row() -> None:
    mixed = MIXED.format(inner="inner - inner.mean(0, keepdim=True)")
    apart = MIXED.format(inner="inner - inner.mean(1, keepdim=True)")
    (bad, good) = (evidence_of(HEAD + one, run=True, experiments=True) for one in (mixed, apart))
    found = [entry for one in bad.accounts for entry in one.entries if entry.key == "rows-apart"]
    assert [(one.status, one.fault) for one in found] == [
        (AccountStatus.IMBALANCE, "batch-rows-mixed")
    ]
    assert len(findings_in("RE035", bad)) == 1
    found = [entry for one in good.accounts for entry in one.entries if entry.key == "rows-apart"]
    assert [one.status for one in found] == [AccountStatus.BALANCES]


CORRECTED = """
model = nn.Linear(8, 64)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
weights = torch.randn(64)
places = torch.arange(64)
for epoch in range(8):
    optimizer.zero_grad()
    scores = model(x)
    F.cross_entropy({scores}, places).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "scores",
    [
        "scores - weights[:, None]",
        "weights.unsqueeze(1) + scores",
        "(scores - weights[:, None]) / 0.5",
        "(scores + weights[:, None]).masked_fill(torch.eye(64).roll(1, 0) > 0, float('-inf'))",
    ],
)
def test_what_a_softmax_takes_off_again_is_reported(scores: str) -> None:
    text = CORRECTED.format(scores=scores)
    found = entry(text, "added-without-effect")
    assert found.status is AccountStatus.IMBALANCE
    assert found.place is not None
    assert text.splitlines()[found.place.line - 1 - HEAD.count("\n")].count("weights") == 1
    assert len(findings_in("RE140", seen(text))) == 1


@pytest.mark.parametrize(
    "scores",
    [
        "scores - weights[None, :]",
        "scores - scores.amax(1, keepdim=True)",
        "scores - scores.detach().amax(1, keepdim=True)",
        "scores - scores.mean(1, keepdim=True)",
        "scores - scores.logsumexp(1, keepdim=True)",
        "scores + torch.ones(64, 1)",
        "(scores + weights[:, None]).masked_fill(torch.eye(64).roll(1, 0) > 0, 0.0)",
        "torch.tanh(scores + weights[:, None])",
    ],
)
def test_what_counts_or_keeps_precision_is_not(scores: str) -> None:
    assert keys(CORRECTED.format(scores=scores)) == []


MADE_AGAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x @ torch.randn(6, 4)).argmax(1)


class Changed(Dataset):
    def __init__(self):
        self.rows = x + 0.05 * torch.randn(320, 6)

    def __len__(self):
        return 320

    def __getitem__(self, index):
        return self.rows[index], y[index]


model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=8)
for epoch in range(8):
    for rows, labels in DataLoader(Changed(), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
        {batch}
    {epoch}
"""


@pytest.mark.parametrize(("at", "off"), [("batch", True), ("epoch", False)])
def test_epochs_of_a_data_set_that_is_made_again_each_time_are_counted(at: str, off: bool) -> None:
    program = MADE_AGAIN.replace("{" + at + "}", "schedule.step()")
    program = program.replace("{batch}", "").replace("{epoch}", "")
    evidence = evidence_of(program, run=True)
    assert evidence.trace is not None
    assert evidence.trace.epoch_count == 8
    assert evidence.trace.books is not None
    rows = evidence.trace.books.rows
    assert rows is not None
    assert not [one for one in rows.sets if one.labelled], "none of them judges"
    (account,) = (one for one in evidence.accounts if one.book is BookName.FORMULAS)
    assert bool(account.imbalances) is off


IN_FOLDS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
data = TensorDataset(x, y)
for fold in range(4):
    held = list(range(80 * fold, 80 * fold + 80))
    rest = [row for row in range(320) if row not in held]
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(4):
        for rows, labels in DataLoader(Subset(data, rest), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
        with torch.no_grad():
            for rows, labels in DataLoader(Subset(data, held), batch_size=80):
                print("val_accuracy", (model(rows).argmax(1) == labels).float().mean().item())
"""


def test_folds_are_no_epochs_of_each_other() -> None:
    evidence = evidence_of(IN_FOLDS, run=True)
    assert evidence.trace is not None
    assert evidence.trace.epoch_count == 4
    assert not [entry for one in evidence.accounts for entry in one.imbalances]


WRITTEN_OUT = """
model = nn.Linear(8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(20):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "off"),
    [
        ("-(soft * F.log_softmax(model(x), dim=1)).sum(1).mean()", []),
        ("-(soft * F.log_softmax(model(x), dim=0)).sum(1).mean()", ["softmax-along-another-axis"]),
        (
            "-(soft * (F.softmax(model(x), 0) + 1e-8).log()).sum(1).mean()",
            ["softmax-along-another-axis"],
        ),
        ("(soft * F.log_softmax(model(x), dim=1)).sum(1).mean()", ["likelihood-lowered"]),
        ("F.log_softmax(model(x), dim=1)[range(64), y].mean()", ["likelihood-lowered"]),
        ("-F.log_softmax(model(x), dim=1)[range(64), y].mean()", []),
        ("-torch.diag(F.log_softmax(model(x) @ model(x).T, dim=0)).mean()", []),
    ],
)
def test_a_cross_entropy_that_is_written_out(loss: str, off: list[str]) -> None:
    assert keys(WRITTEN_OUT.replace("{loss}", loss)) == off


def test_a_divergence_whose_target_learns_is_noted() -> None:
    text = WRITTEN_OUT.replace(
        "{loss}", "F.kl_div(soft.log(), model(x).softmax(1), reduction='batchmean')"
    )
    (entry,) = (one for one in account(text).entries if one.key == "divergence")
    assert entry.status is AccountStatus.FACT
    assert "its target that learns" in entry.sentence


EPISODES = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for episode in range(12):
    state, chances, rewards = torch.randn(4), [], []
    for step in range(20 + episode):
        actions = torch.distributions.Categorical(logits=model(state))
        taken = actions.sample()
        chances.append(actions.log_prob(taken))
        rewards.append({reward})
        state = torch.randn(4)
    total, returns = 0.0, []
    for reward in {order}:
        total = reward + 0.95 * total
        {kept}
    {scaled}
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
REWARDS = ("1.0", "float(taken == (state[0] > 0).long())")
SCALED = "returns = torch.tensor(returns)\n    returns = (returns - returns.mean()) / returns.std()"
SINGLE = "sum(-one * number for one, number in zip(chances, returns))"
STACKED = "-(torch.stack(chances) * returns).sum()"


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize(("scaled", "loss"), [("", SINGLE), (SCALED, STACKED)])
@pytest.mark.parametrize(
    ("order", "kept", "off"),
    [
        ("rewards[::-1]", "returns.insert(0, total)", False),
        ("rewards", "returns.append(total)", True),
    ],
)
def test_returns_sum_what_follows(
    reward: str, scaled: str, loss: str, order: str, kept: str, off: bool
) -> None:
    text = EPISODES.replace("{reward}", reward).replace("{order}", order).replace("{kept}", kept)
    evidence = evidence_of(text.replace("{scaled}", scaled).replace("{loss}", loss), run=True)
    (found,) = (one for one in evidence.accounts if one.book is BookName.FORMULAS)
    assert ("returns-of-the-past" in {one.key for one in found.imbalances}) is off
    assert ("returns" in {one.key for one in found.entries}) is not off


def test_a_softmax_along_the_last_of_three_axes() -> None:
    loss = "-(soft.unsqueeze(1) * F.log_softmax(model(x).unsqueeze(1), dim=-1)).sum(-1).mean()"
    assert keys(WRITTEN_OUT.replace("{loss}", loss)) == []
