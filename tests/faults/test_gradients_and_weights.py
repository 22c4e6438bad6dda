"""Gradients that are gone, clipped or shrunk before a step, weights that a penalty or a precision holds; each
beside a sound one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_evidence import event, findings_in, graph, seen, trace
from reenact.faults.observation import Certainty
from reenact.probe.trace import Columns, Experiments, OwnRate, ParameterFacts
from reenact.program.graph import OptimizerFacts, TaskType

STEPS = [1.0] * 20


def lines(code: str, text: str) -> list[int]:
    return [
        one.place.line
        for one in findings_in(code, seen(trace(STEPS), text))
        if one.place is not None
    ]


EMPTIED = """
for x, y in loader:
    loss = criterion(model(x), y)
    {first}
    {second}
    {third}
"""


@pytest.mark.parametrize(
    ("calls", "fires"),
    [
        (("loss.backward()", "opt.zero_grad()", "opt.step()"), True),
        (
            ("scaler.scale(loss).backward()", "opt.zero_grad()", "scaler.step(opt)"),
            True,
        ),
        (("loss.backward()", "opt.step()", "opt.zero_grad()"), False),
        (("opt.zero_grad()", "loss.backward()", "opt.step()"), False),
        (("loss.backward()", "other.zero_grad()", "opt.step()"), False),
    ],
)
def test_gradients_that_are_gone_before_the_step(calls: tuple[str, str, str], fires: bool) -> None:
    first, second, third = calls
    assert lines("RE013", EMPTIED.format(first=first, second=second, third=third)) == [5] * fires


def test_gradients_of_a_network_that_died_say_nothing_of_who_clears_them() -> None:
    columns = ("step", "optimizer", "carried", "grad_norm", "loss")
    for carried, count in ((1, 1), (0, 0)):
        lived = [[step, 0, carried if step else 0, 1.0, 2.3] for step in range(10)]
        died = [[step, 0, 0, 0.0, 2.3] for step in range(10, 60)]
        run = trace([], steps=Columns(columns, np.array([*lived, *died], dtype=float)))
        assert len(findings_in("RE010", seen(run))) == count


def test_weights_that_are_let_go_after_the_optimizer_was_made() -> None:
    body = ParameterFacts("body.weight", (16, 8), False, False)
    for graded, count in ((True, 1), (False, 0)):
        facts = (
            ParameterFacts("0.weight", (3, 8), True, True),
            replace(body, graded=graded),
        )
        run = trace(STEPS, parameter_facts=facts)
        found = findings_in("RE013", seen(run))
        assert ["never given" in one.saw for one in found] == [True] * count


def kernel(*rows: tuple[float, float], **more: object) -> dict[str, object]:
    """Sizes of the one kernel and how far a step moved it, at looked-at steps."""
    columns = ("step", "parameter", "weight_mean_abs", "update_ratio")
    table = np.array([[step, 0, size, moved] for step, (size, moved) in enumerate(rows)])
    return {"parameters": Columns(columns, table), **more}


PENALTY = """
reg = sum(p.pow(2).sum() for p in net.parameters())
loss = ce + 0.5 * reg
"""


def test_a_penalty_by_hand_that_leaves_nothing_of_the_weights() -> None:
    for last, count in ((0.001, 1), (0.09, 0)):
        run = trace([2.3] * 40, **kernel((0.1, 0.01), (last, 0.01)))
        found = findings_in("RE016", seen(run, PENALTY))
        assert [one.place.line for one in found if one.place is not None] == [3] * count


def test_a_decay_beside_which_no_adaptive_step_counts() -> None:
    for decay, count in ((20.0, 1), (0.1, 0)):
        optimizer = OptimizerFacts("AdamW", 0.001, {"weight_decay": decay}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        run = trace([1.1 - 0.01 * step for step in range(40)], graph=made)
        assert len(findings_in("RE016", seen(run))) == count


def test_weights_in_half_precision_that_never_change() -> None:
    text = "net = net.half()\nopt = torch.optim.SGD(net.parameters(), 0.001)\n"
    for moved, count in ((0.0, 1), (1e-4, 0)):
        optimizer = OptimizerFacts("SGD", 0.001, {}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        looks = kernel(*[(0.1, moved)] * 9, events=(event("half-precision"),), graph=made)
        run = trace([2.3] * 40, **looks)
        found = findings_in("RE057", seen(run, text))
        assert [one.place.line for one in found if one.place is not None] == [1] * count


def test_a_rate_that_is_too_high_though_something_was_learned() -> None:
    """One batch is learned wholly at a tenth of it, and by far not at the rate itself."""
    for last, count in ((0.4, 1), (0.05, 0)):
        course = (2.3, *[last] * 12)
        rates = OwnRate(0.001, (2.3, *[1.2] * 12), (2.3, *[0.01] * 12), (2.3, *[0.01] * 12))
        run = trace([*course[:1] * 10, *course[1:] * 10])
        found = findings_in("RE019", seen(run, tried=Experiments(own_rate=rates)))
        assert sum(one.certainty is Certainty.PROOF for one in found) == count


def test_steps_that_are_clipped_to_nothing_are_slow_whatever_was_learned() -> None:
    def clipped(loss: float) -> int:
        losses = np.linspace(2.3, loss, 40)
        columns = ("step", "loss", "accuracy", "clip_norm", "clip_limit")
        rows = [[step, one, 0.9, 1.0, 0.001] for step, one in enumerate(losses)]
        optimizer = OptimizerFacts("SGD", 0.1, {}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        run = trace([], steps=Columns(columns, np.array(rows)), graph=made)
        return len(findings_in("RE043", seen(run)))

    assert (clipped(1.9), clipped(0.3)) == (1, 0)


def test_gradients_that_are_made_smaller_the_smaller_they_are() -> None:
    text = "factor = norm / limit\nfor p in weights:\n    p.grad.mul_(factor)\n"
    columns = ("step", "loss", "clip_norm", "clip_limit")

    def found(by_hand: bool) -> list[int]:
        norms = np.linspace(0.1, 1.0, 20)
        rows = [
            [step, 1.0, norm, norm * norm / 10 if by_hand else 0.05]
            for step, norm in enumerate(norms)
        ]
        run = trace([], steps=Columns(columns, np.array(rows)))
        reported = findings_in("RE043", seen(run, text))
        return [one.place.line for one in reported if one.place is not None]

    assert (found(True), found(False)) == ([1], [])


@pytest.mark.parametrize("norm", [0.0, np.inf, np.nan])
@pytest.mark.parametrize("by_hand", [True, False])
def test_gradients_that_vanish_or_explode_do_not_say_how_others_are_scaled(
    norm: float, by_hand: bool
) -> None:
    """Two heads that nobody clears blow up: the encoder's gradients are zero, then infinite."""
    columns = ("step", "loss", "clip_norm", "clip_limit")
    norms = [*np.linspace(0.1, 1.0, 20), *[norm] * 8]
    rows = [
        [step, 1.0, one, one * one / 10 if by_hand and np.isfinite(one) and one else 0.05]
        for step, one in enumerate(norms)
    ]
    found = findings_in("RE043", seen(trace([], steps=Columns(columns, np.array(rows)))))
    assert [one.certainty for one in found] == [Certainty.PROOF] * by_hand
    assert not any("inf" in one.saw for one in found)


def test_a_run_whose_gradients_are_infinite_is_not_clipped_too_tightly() -> None:
    """How many of the steps were clipped counts those alone whose gradient has a size."""
    columns = ("step", "loss", "clip_norm", "clip_limit")
    optimizer = OptimizerFacts("SGD", 0.1, {}, None, 1)
    made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)

    def found(later: float) -> int:
        rows = np.array([[step, 1.0, later if step > 9 else 1.5, 1.0] for step in range(40)])
        return len(findings_in("RE043", seen(trace([], steps=Columns(columns, rows), graph=made))))

    assert (found(np.inf), found(1e9)) == (0, 1)


CENTRED = """
class Net(nn.Module):
    def forward(self, x):
        h = self.trunk(x)
        with torch.no_grad():
            h = h - self.center
        return self.head(h)
for x in loader:
    total += loss.detach()
"""


def test_a_block_without_gradients_that_leaves_its_result_to_the_rest() -> None:
    facts = (
        ParameterFacts("head.weight", (3, 8), True, True),
        ParameterFacts("trunk.weight", (8, 8), True, True),
    )
    columns = ("step", "parameter", "grad_present")
    rows = np.array(
        [[step, number, number == 0] for step in range(12) for number in (0, 1)],
        dtype=float,
    )
    run = trace(STEPS, parameter_facts=facts, parameters=Columns(columns, rows))
    found = findings_in("RE013", seen(run, CENTRED))
    assert [one.place.line for one in found if one.place is not None] == [5]
