"""A schedule for epochs is stepped once an epoch; one that is stepped elsewhere counts batches."""

from __future__ import annotations

from edited_programs import edits, refusal, renamed
from reenact.faults.fixes.schedules import step_each_epoch

LOOP = """
import torch

opt = torch.optim.SGD(model.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 3)
for epoch in range(9):
    for x, y in loader:
        opt.zero_grad()
        loss_of(model(x), y).backward()
        opt.step()
        plan.step()  # decays
    report(epoch)
"""


def test_the_step_goes_one_level_out() -> None:
    first, *_ = edits(LOOP, step_each_epoch)
    assert "        opt.step()\n    plan.step()  # decays\n    report(epoch)\n" in first
    names = {"plan": "a", "opt": "b", "loader": "c"}
    again, *_ = edits(renamed(LOOP, **names), step_each_epoch)
    assert again == renamed(first, **names)
    assert not any("        a.step()" in one for one in edits(first, step_each_epoch))


def test_a_step_between_others_goes_after_the_loop() -> None:
    text = LOOP.replace(
        "        plan.step()  # decays\n", "        plan.step()\n        seen += 1\n"
    )
    first, *_ = edits(text, step_each_epoch)
    assert "        opt.step()\n        seen += 1\n    plan.step()\n    report(epoch)\n" in first


def test_a_step_under_a_condition_is_refused() -> None:
    text = LOOP.replace(
        "        plan.step()  # decays\n", "        if warm:\n            plan.step()\n"
    ).replace("in loader", "in batches()")
    assert refusal(text, step_each_epoch) == "The schedule is stepped only under a condition."
