"""The account of formulas: each imbalance with a program that shows it, and sound ones that do not."""

from __future__ import annotations

import pytest

from made_evidence import findings_in
from reenact.accounts import Account, BookName, Entry, Standing
from reenact.faults import Evidence
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
    assert (found.standing, found.fault) == (Standing.IMBALANCE, "output-does-not-fit-loss")
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
