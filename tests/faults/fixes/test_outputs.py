"""Outputs meet their targets: one shape, the right axis, the right sign, a mean over the rows."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, read, refusal, renamed
from reenact.faults.fixes.outputs import (
    align_target,
    ignore_padding,
    logarithms_for_divergence,
    lower_the_loss,
    mean_over_rows,
    other_dimension,
    real_for_generator,
    swap_axes,
    turn_sign,
    turn_term,
)
from reenact.program.syntax.lines import calls
from reenact.types import Place

REGRESSION = """
import torch
from torch import nn

model = nn.Linear(4, 1)
for x, y in batches:
    out = model(x)
    loss = {loss}  # squared
    loss.backward()
"""
COLUMN, ROW = (8, 1), (8,)


@pytest.mark.parametrize(
    ("loss", "output", "target", "edited"),
    [
        (
            "nn.functional.mse_loss(out, y)",
            COLUMN,
            ROW,
            "nn.functional.mse_loss(out, y.unsqueeze(1))",
        ),
        (
            "nn.functional.mse_loss(out, y + 1)",
            COLUMN,
            ROW,
            "nn.functional.mse_loss(out, (y + 1).unsqueeze(1))",
        ),
        (
            "nn.functional.mse_loss(out, y)",
            ROW,
            COLUMN,
            "nn.functional.mse_loss(out, y.squeeze(1))",
        ),
        ("((out - y) ** 2).mean()", COLUMN, ROW, "((out.squeeze(-1) - y) ** 2).mean()"),
        ("((y - model(x)) ** 2).mean()", COLUMN, ROW, "((y - model(x).squeeze(-1)) ** 2).mean()"),
    ],
)
def test_the_target_gets_the_shape_of_the_output(
    loss: str, output: tuple[int, ...], target: tuple[int, ...], edited: str
) -> None:
    text = REGRESSION.replace("{loss}", loss)
    first, *_ = edits(text, lambda one: align_target(one, at(text, "loss ="), output, target))
    assert f"    loss = {edited}  # squared\n" in first
    names = {"y": "a", "out": "b", "model": "c", "loss": "d"}
    other = renamed(text, **names)
    again, *_ = edits(other, lambda one: align_target(one, at(other, "d ="), output, target))
    assert again == renamed(first, **names)


@pytest.mark.parametrize(
    ("call", "axes", "edited"),
    [
        ("nn.functional.log_softmax(x, dim=0)", 2, "nn.functional.log_softmax(x, dim=1)"),
        ("x.softmax(-2)", 4, "x.softmax(-1)"),
        ("nn.Softmax(dim=0)", 2, "nn.Softmax(dim=1)"),
        ("keras.ops.softmax(x, axis=0)", 2, "keras.ops.softmax(x, axis=1)"),
    ],
)
def test_another_axis(call: str, axes: int, edited: str) -> None:
    text = f"p = {call}  # shares\n"
    assert edits(text, lambda one: other_dimension(one, at(text, "p ="), axes)) == [
        f"p = {edited}  # shares\n"
    ]


def test_an_axis_that_is_not_written_is_refused() -> None:
    text = "p = x.softmax(axis_of(x))\n"
    reason = refusal(text, lambda one: other_dimension(one, at(text, "p ="), 2))
    assert reason == "The axis is not written where the values are reduced."


def swapped(text: str, order: list[int] | None) -> str:
    evidence = read(text)
    (call,) = calls(evidence.files, "view", "reshape")
    (after,) = edits(text, lambda one: swap_axes(call, order, one))
    return after


def test_axes_are_swapped_by_a_permutation() -> None:
    text = "b, t, c = x.shape\nx = x.view(b, c, t)  # channels first\n"
    assert "x = x.permute(0, 2, 1)  # channels first\n" in swapped(text, [0, 2, 1])


def test_heads_are_cut_from_the_features() -> None:
    text = "b, t, c = x.shape\nq = x.view(b, heads, t, c // heads)\n"
    assert "q = x.view(b, t, heads, c // heads).transpose(1, 2)\n" in swapped(text, None)
    text = "b, h, t, d = q.shape\ny = (q @ k).reshape(b, t, h * d)\n"
    assert "y = (q @ k).transpose(1, 2).reshape(b, t, h * d)\n" in swapped(text, None)


SIGNS = """
loss = {loss}
loss.backward()
"""


def exactly(text: str, part: str) -> Place:
    place = at(text, part)
    end = place.column + len(part)
    return Place(place.file, place.line, place.column, place.line, end)


@pytest.mark.parametrize(
    ("loss", "term", "edited"),
    [
        ("(logp * gain).mean()", "(logp * gain).mean()", "-(logp * gain).mean()"),
        ("error + spread.mean()", "spread.mean()", "error - spread.mean()"),
        ("error - spread.mean()", "spread.mean()", "error + spread.mean()"),
        ("error + 0.1 * h.mean()", "0.1 * h.mean()", "error - 0.1 * h.mean()"),
        ("-error", "-error", "error"),
    ],
)
def test_a_term_gets_the_other_sign(loss: str, term: str, edited: str) -> None:
    text = SIGNS.replace("{loss}", loss).lstrip("\n")
    where = exactly(text, term)
    assert edits(text, lambda one: turn_sign(one, where)) == [text.replace(loss, edited)]


def test_the_term_that_a_line_reaches_gets_the_other_sign() -> None:
    text = "parts = log_var - spread\nloss = error + 0.5 * parts.mean()\nloss.backward()\n"
    first, *_ = edits(text, lambda one: turn_term(one, at(text, "parts =")))
    assert "loss = error - 0.5 * parts.mean()\n" in first


def test_the_loss_goes_backward_and_not_its_negative() -> None:
    text = "loss = torch.nn.functional.cross_entropy(model(x), y)\n(-loss).backward()\n"
    assert changed(text, lower_the_loss) == ["- (-loss).backward()", "+ (loss).backward()"]


def test_a_generator_asks_for_the_answer_of_real_rows() -> None:
    text = (
        "from torch.nn import functional as F\nloss = F.mse_loss(judge(made), torch.zeros(8, 1))\n"
    )
    where = exactly(text, "F.mse_loss(judge(made), torch.zeros(8, 1))")
    (after,) = edits(text, lambda one: real_for_generator(one, where))
    assert "F.mse_loss(judge(made), torch.ones(8, 1))" in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('nn.CrossEntropyLoss(reduction="sum")', "nn.CrossEntropyLoss()"),
        ('nn.CrossEntropyLoss(weight=w, reduction="sum")', "nn.CrossEntropyLoss(weight=w)"),
    ],
)
def test_a_loss_takes_the_mean(before: str, after: str) -> None:
    text = f"from torch import nn\nloss_of = {before}  # of a batch\n"
    (edited,) = edits(text, mean_over_rows)
    assert edited == text.replace(before, after)
    assert edits(edited, mean_over_rows) == []


def test_padding_is_left_out_of_the_loss() -> None:
    text = "from torch import nn\nloss_of = nn.CrossEntropyLoss()\n"
    (edited,) = edits(text, lambda one: ignore_padding(one, 3))
    assert "nn.CrossEntropyLoss(ignore_index=3)" in edited
    assert edits(edited, lambda one: ignore_padding(one, 3)) == []


def test_a_divergence_is_given_logarithms() -> None:
    text = "loss = F.kl_div(F.softmax(x, 1), y)\n"
    (edited,) = edits(text, lambda one: logarithms_for_divergence(one, at(text, "loss")))
    assert edited == "loss = F.kl_div(F.log_softmax(x, 1), y)\n"
    assert edits(edited, lambda one: logarithms_for_divergence(one, at(edited, "loss"))) == []
