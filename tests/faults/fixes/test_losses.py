"""Losses are given scores, terms of one reduction, and temperatures that divide; numbers keep their range."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, read, refusal
from reenact.faults import Suggestion
from reenact.faults.fixes.gradients import clear_gradients
from reenact.faults.fixes.losses import (
    divide_by_temperature,
    logarithms_for_loss,
    reduce_alike,
    scores_for_loss,
    share_of_rows,
)
from reenact.faults.fixes.numerics import limit_at_one, use_bfloat16
from reenact.program.program import program_from_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("F.cross_entropy(F.softmax(x, 1), y)", "F.cross_entropy(x, y)"),
        ("F.cross_entropy(x.softmax(1), y)", "F.cross_entropy(x, y)"),
        ("F.cross_entropy(x.exp() / x.exp().sum(1, keepdim=True), y)", "F.cross_entropy(x, y)"),
    ],
)
def test_a_loss_that_applies_the_softmax_is_given_scores(before: str, after: str) -> None:
    text = f"import torch.nn.functional as F\nloss = {before}  # once\n"
    first, *_ = edits(text, scores_for_loss)
    assert f"loss = {after}  # once\n" in first
    reason = refusal(first, scores_for_loss)
    assert reason == "Where the scores become probabilities is not seen."


def test_a_divergence_is_given_logarithms() -> None:
    text = "p = x.exp() / x.exp().sum(1)\nloss = F.kl_div(p, y)\n"
    (after,) = edits(text, logarithms_for_loss)
    assert after == "p = x.log_softmax(-1)\nloss = F.kl_div(p, y)\n"


def test_terms_are_summed_alike() -> None:
    text = (
        "import torch.nn.functional as F\nerror = F.mse_loss(out, x)\n"
        "kl = -0.5 * (1 + v - m**2 - v.exp()).sum()\nloss = error + kl\n"
    )
    (after,) = edits(text, lambda one: reduce_alike(one, at(text, "kl =")))
    assert 'error = F.mse_loss(out, x, reduction="sum")\n' in after
    reason = refusal(after, lambda one: reduce_alike(one, at(after, "kl =")))
    assert reason == "Which term of the loss is the reconstruction is not seen."


@pytest.mark.parametrize(
    ("before", "after"),
    [("a @ b.T * tau", "a @ b.T / tau"), ("tau * (a @ b.T)", "(a @ b.T) / tau")],
)
def test_scores_are_divided_by_their_temperature(before: str, after: str) -> None:
    text = f"tau = 0.1\nscores = {before}  # alike\n"
    (edited,) = edits(text, lambda one: divide_by_temperature(one, at(text, "scores")))
    assert f"scores = {after}  # alike\n" in edited


def test_hits_are_divided_by_the_rows_and_shares_by_the_batches() -> None:
    text = "for x, y in loader:\n    hits += (model(x) == y).sum()\nprint(hits / len({divisor}))  # all\n"
    for divisor, other in (("loader", "loader.dataset"), ("loader.dataset", "loader")):
        wrong = text.replace("{divisor}", divisor)
        (after,) = edits(wrong, lambda one, of=wrong: share_of_rows(one, at(of, "hits +=")))
        assert after == text.replace("{divisor}", other)


def test_the_share_of_the_last_batch_becomes_that_of_all_rows() -> None:
    text = "for x, y in loader:\n    share = (model(x) == y).float().mean()\nprint(share)\n"
    (after,) = edits(text, lambda one: share_of_rows(one, at(text, "share =")))
    assert after == (
        "total, rows_seen = 0.0, 0\nfor x, y in loader:\n"
        "    total += (model(x) == y).float().mean() * len(y)\n    rows_seen += len(y)\n"
        "share = total / rows_seen\nprint(share)\n"
    )


HALF = """
import torch
from torch import nn

model = nn.Linear(4, 2).half()  # small
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x.to(torch.float16)).float(), y)
    loss.backward()
    opt.step()
"""


def test_half_precision_has_the_range_of_float32_or_a_scaler() -> None:
    first, second = edits(HALF, use_bfloat16)
    assert "model = nn.Linear(4, 2).bfloat16()  # small\n" in first
    assert "model(x.to(torch.bfloat16)).float()" in first
    assert "scaler = torch.amp.GradScaler()\nfor x, y in batches:\n" in second
    assert (
        "    scaler.scale(loss).backward()\n    scaler.step(opt)\n    scaler.update()\n" in second
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("limit / norm", "min(1.0, limit / norm)"),
        ("(norm / limit).clamp(max=1.0)", "(limit / norm).clamp(max=1.0)"),
        ("min(1, norm / (limit + 1))", "min(1, (limit + 1) / norm)"),
    ],
)
def test_a_factor_of_gradients_is_never_above_one(before: str, after: str) -> None:
    text = f"factor = {before}\n"
    first, *_ = edits(text, lambda one: limit_at_one(one, at(text, "factor")))
    assert first == f"factor = {after}\n"


def test_an_edit_of_a_notebook_is_of_its_cells() -> None:
    cells = (
        '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "opt = torch.optim.SGD(w, 0.1)"]},'
        ' {"cell_type": "code", "source": ["for x in rows:\\n", "    loss(x).backward()\\n",'
        ' "    opt.step()"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    program = program_from_text(cells, "train.ipynb")
    evidence = read("x = 1\n")
    assert clear_gradients(evidence) == ()
    fixes = clear_gradients(type(evidence)(program, None))
    (fix,) = (one for one in fixes if isinstance(one, Suggestion))
    assert "opt.zero_grad()" in fix.patch.apply(program).files[0].text


def test_an_edit_keeps_the_line_ends_of_the_file() -> None:
    text = "for x in rows:\r\n    loss(x).backward()\r\n    opt.step()\r\n"
    assert changed(text, clear_gradients) == ["+     opt.zero_grad()"]
    (after,) = edits(text, clear_gradients)
    assert after.count("\r\n") == 4
