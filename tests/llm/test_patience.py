from __future__ import annotations

import pytest

from contracts.model import GOOD, question
from reenact.errors import ModelRefused, ModelUnreachable, Stopped
from reenact.llm.ask import Transient
from reenact.llm.patience import ManualClock, Patience, RealClock
from reenact.llm.scripted import Scripted
from reenact.types import Progress, Stop

BUSY = Transient("it answered 503")


def test_waits_double_with_jitter_and_a_ceiling() -> None:
    clock = ManualClock()
    patience = Patience(tries=9, longest_wait_s=20, breaker_faults=99)
    assert Scripted([BUSY] * 8 + [GOOD], clock=clock, patience=patience).ask(question()).value.holds
    full = [1, 2, 4, 8, 16, 20, 20, 20]
    assert all(
        wanted / 2 <= waited <= wanted for waited, wanted in zip(clock.slept, full, strict=True)
    )


def test_gives_up_after_its_tries() -> None:
    clock = ManualClock()
    model = Scripted([BUSY] * 9, clock=clock, patience=Patience(tries=4))
    with pytest.raises(
        ModelUnreachable,
        match=r"scripted could not be reached: it answered 503 \(4 tries",
    ) as caught:
        model.ask(question())
    assert caught.value.retryable
    assert len(model.calls) == 4
    assert len(clock.slept) == 3


def test_final_errors_are_not_tried_again() -> None:
    model = Scripted([ModelRefused("no")] * 3)
    with pytest.raises(ModelRefused):
        model.ask(question())
    assert len(model.calls) == 1


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (120.0, 120.0), (864000.0, 120.0)])
def test_retry_after_is_honoured_up_to_a_cap(asked: float, waited: float) -> None:
    clock = ManualClock()
    Scripted([Transient("429", retry_after_s=asked), GOOD], clock=clock).ask(question())
    assert clock.slept == [waited]


def test_retry_after_of_nothing_falls_back_to_our_own_wait() -> None:
    clock = ManualClock()
    Scripted([Transient("429", retry_after_s=0.0), GOOD], clock=clock).ask(question())
    assert 0.5 <= clock.slept[0] <= 1


def test_one_deadline_for_all_tries() -> None:
    clock = ManualClock()
    patience = Patience(tries=99, deadline_s=250, breaker_faults=999)
    model = Scripted([Transient("429", retry_after_s=100.0)] * 99, clock=clock, patience=patience)
    with pytest.raises(ModelUnreachable, match=r"deadline .* asked to wait 100 s"):
        model.ask(question())
    assert clock.slept == [100.0, 100.0]


def test_breaker_rests_and_recovers() -> None:
    clock = ManualClock()
    patience = Patience(tries=3, breaker_faults=6, breaker_rest_s=60)
    model = Scripted([BUSY] * 7 + [GOOD] + [BUSY] + [GOOD] * 2, clock=clock, patience=patience)
    for _ in range(2):
        with pytest.raises(ModelUnreachable, match="could not be reached"):
            model.ask(question())
    with pytest.raises(
        ModelUnreachable, match="6 times in a row, so it is not asked for another 60 s"
    ):
        model.ask(question())
    assert len(model.calls) == 6, "while it rests, nothing is sent"
    clock.sleep(61)
    with pytest.raises(ModelUnreachable, match="not asked"):
        model.ask(question())
    assert len(model.calls) == 7, "after the rest, one fault is enough to rest again"
    clock.sleep(61)
    assert model.ask(question()).value.holds
    assert model.ask(question()).value.holds, "one success forgets all faults"


def test_waiting_is_reported() -> None:
    reported: list[Progress] = []
    Scripted([BUSY, GOOD], tell=reported.append).ask(question())
    assert reported[0].note.startswith("it answered 503; again in")


def test_a_real_wait_ends_when_the_user_stops() -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        Scripted([BUSY, GOOD], clock=RealClock(stop)).ask(question())
