"""Many steps at once: one intent for all, results in groups as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from reenact.errors import JournalError
from reenact.journal import Journal, Kind, State


def squares(names: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
    for start in range(0, len(names), 2):
        yield {name: int(name.removeprefix("t")) ** 2 for name in names[start : start + 2]}


TRIALS = {f"t{number}": {"seed": number} for number in range(5)}


def test_results_come_by_name_in_the_order_asked(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        assert run.many(TRIALS, squares) == {
            "t0": 0,
            "t1": 1,
            "t2": 4,
            "t3": 9,
            "t4": 16,
        }
        assert run.record.done == 5


def test_groups_that_were_yielded_before_an_end_are_kept(journal: Journal) -> None:
    asked: list[tuple[str, ...]] = []

    def ends_early(names: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
        asked.append(names)
        yield from list(squares(names))[:2]
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        journal.run(pipeline="tale", request=1) as run,
    ):
        run.many(TRIALS, ends_early)

    def rest(names: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
        asked.append(names)
        return squares(names)

    with journal.run(pipeline="tale", request=1) as run:
        assert run.many(TRIALS, rest)["t4"] == 16
    assert asked == [("t0", "t1", "t2", "t3", "t4"), ("t4",)]


def test_an_error_is_written_on_those_without_a_result(journal: Journal) -> None:
    def breaks(names: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
        yield {"t0": 0}
        raise OSError("The pool died.")

    with (
        pytest.raises(OSError, match="pool"),
        journal.run(pipeline="tale", request=1) as run,
    ):
        run.many(TRIALS, breaks)
    states = [step.state for step in journal.steps(journal.find("last"))]
    assert states == [State.DONE, *[State.FAILED] * 4]


def test_what_is_never_yielded_is_missing_and_stays_begun(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        assert run.many(TRIALS, lambda names: [{}, {"t3": 9}]) == {"t3": 9}
    states = {step.path: step.state for step in journal.steps(journal.find("last"))}
    assert states["tale/t3"] is State.DONE
    assert states["tale/t0"] is State.BEGUN


@pytest.mark.parametrize("groups", [[{"t9": 1}], [{"t1": 1}, {"t1": 1}]])
def test_a_result_for_nothing_or_twice_is_refused(
    journal: Journal, groups: list[dict[str, int]]
) -> None:
    with (
        journal.run(pipeline="tale", request=1) as run,
        pytest.raises(JournalError, match="twice"),
    ):
        run.many(TRIALS, lambda names: groups)


def test_another_run_takes_them_over_in_one_go(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        run.many(TRIALS, squares, shared=True)
        run.finish(None)
    with journal.run(pipeline="tale", request=1) as run:
        more = {**TRIALS, "t7": {"seed": 7}}
        assert run.many(more, squares, shared=True)["t7"] == 49
        assert (run.record.reused, run.record.done) == (5, 1)


def test_nothing_asked_is_nothing_done(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        assert run.many({}, squares, kind=Kind.TRIAL) == {}
        assert run.record.steps == 0


def test_a_generator_of_results_is_closed_when_its_results_cannot_be_written(
    journal: Journal,
) -> None:
    closed: list[bool] = []

    def pool(names: tuple[str, ...]) -> Iterator[Mapping[str, object]]:
        try:
            for name in names:
                yield {name: object()}
        finally:
            closed.append(True)

    with journal.run(pipeline="tale", request=1) as run, pytest.raises(JournalError):
        run.many(TRIALS, pool)
    assert closed == [True]
