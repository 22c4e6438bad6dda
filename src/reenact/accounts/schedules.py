"""Entries on schedules of learning rates: the length each is planned for against the times it was stepped."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.formulas import FormulasBook, Schedule
from reenact.probe.trace import Trace

FEWEST_EPOCHS = 3
FEWEST_BATCHES = 3
"""In an epoch: below, epochs and steps are hardly distinguished."""
EACH_STEP = 0.9
"""Times the steps of the optimizer, from which on a schedule is stepped with them."""
EACH_EPOCH = 1.5
"""Times the epochs, up to which it is stepped once in each."""
OF_EPOCHS = 1.2
"""Times the epochs, up to which a length is one of epochs."""
OF_STEPS = 0.8
"""Times the steps, from which on a length is one of steps."""
SOON = 1 / 3
"""Part of its times at which a schedule is over that was not made for them."""
FEWEST_WAVES = 3
FAULT = "scheduler-stepped-per-batch"


def schedule_entries(book: FormulasBook, trace: Trace) -> Iterator[Entry]:
    """One a schedule that was stepped; nothing where several optimizers step, or the run was cut off."""
    epochs = trace.epoch_count or 0
    if len(trace.happened("optimizer")) > 1 or not trace.complete:
        return
    for schedule in book.schedules:
        if schedule.stepped:
            yield _entry(schedule, trace.step_count, epochs)


def _entry(schedule: Schedule, steps: int, epochs: int) -> Entry:
    planned, stepped = schedule.planned, schedule.stepped
    words = f"{schedule.kind} is planned for {planned} steps and stepped {stepped} times"
    distinct = epochs >= FEWEST_EPOCHS and steps >= FEWEST_BATCHES * epochs
    with_steps = distinct and stepped >= EACH_STEP * steps
    if with_steps and planned <= OF_EPOCHS * epochs and planned <= SOON * stepped:
        waves = stepped / (2 * planned)
        if schedule.wraps and waves >= FEWEST_WAVES:
            return imbalance(
                "schedule-wraps",
                f"{words}, {epochs} epochs long: the learning rate falls and comes back {waves:.0f} "
                "times",
                fault=FAULT,
                place=schedule.place,
                confidence=0.85,
            )
        if schedule.falls and not schedule.wraps:
            return imbalance(
                "schedule-over-soon",
                f"{words}, in {epochs} epochs: it is over after {planned / stepped:.1%} of them",
                fault=FAULT,
                place=schedule.place,
                confidence=0.9,
            )
    with_epochs = distinct and stepped <= EACH_EPOCH * epochs
    if with_epochs and OF_STEPS * steps <= planned and planned >= FEWEST_BATCHES * stepped:
        return imbalance(
            "schedule-hardly-begun",
            f"{words}: so many steps has the optimizer ({steps}), but the schedule is stepped once an "
            f"epoch, and ends after {stepped / planned:.1%} of its course",
            why="A schedule whose length is that of all optimizer steps has to be stepped after each "
            "of them: the learning rate stays near its first value.",
            place=schedule.place,
            confidence=0.85,
        )
    if not SOON <= stepped / planned <= 2:
        return fact("schedule", words, schedule.place)
    return balances("schedule", words)
