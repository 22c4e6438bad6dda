"""The law of a step: performed once, given back ever after, and never mixed with another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from reenact.errors import (
    AnswerUnusable,
    JournalDiverged,
    JournalError,
    ModelUnreachable,
    StorageError,
)
from reenact.journal import Cost, Journal, Kind, OpenRun, State, Status


class Boom(Exception):
    pass


def raising(error: BaseException) -> Any:
    def effect() -> int:
        raise error

    return effect


def test_a_step_is_performed_once_in_a_run(journal: Journal) -> None:
    performed: list[int] = []
    with journal.run(pipeline="tale", request=1) as run:
        for _ in range(3):
            assert run.step("a", lambda: performed.append(1) or len(performed), kind=Kind.LLM) == 1
    assert performed == [1]


def test_the_same_command_continues_an_unfinished_run(journal: Journal, pipeline: Any) -> None:
    def stops_at_call3(name: str) -> None:
        if name == "call3":
            raise KeyboardInterrupt

    pipeline.before = stops_at_call3
    with pytest.raises(KeyboardInterrupt):
        pipeline.run(journal)
    [run] = journal.runs()
    assert (run.status, run.exit_code, run.done) == (Status.STOPPED, 130, 3)
    pipeline.before = lambda name: None
    pipeline.run(journal)
    [run] = journal.runs()
    assert (run.status, run.executions, run.done) == (Status.FINISHED, 2, 9)
    assert set(pipeline.paid.values()) == {1}


def test_a_finished_one_is_followed_by_a_run_that_visibly_reuses(
    journal: Journal, pipeline: Any
) -> None:
    first = pipeline.run(journal)
    assert pipeline.run(journal) == first
    newer, older = journal.runs()
    assert set(pipeline.paid.values()) == {1}
    assert (older.done, older.reused) == (8, 0)
    assert (newer.done, newer.reused) == (1, 8)
    taken = [step for step in journal.steps(newer) if step.state is State.REUSED]
    assert {step.reused_from for step in taken} == {older.id}
    assert (older.money, newer.money) == ("0.05", "0")
    pipeline.run(journal)
    assert {step.reused_from for step in journal.steps(journal.find("last"))} == {
        older.id,
        None,
    }


def test_fresh_reuses_nothing_also_when_it_is_continued(journal: Journal, pipeline: Any) -> None:
    def stops_at_call3(name: str) -> None:
        if name == "call3":
            raise KeyboardInterrupt

    pipeline.run(journal)
    pipeline.before = stops_at_call3
    with pytest.raises(KeyboardInterrupt):
        pipeline.run(journal, fresh=True)
    pipeline.before = lambda name: None
    pipeline.run(journal)
    assert set(pipeline.paid.values()) == {2}
    assert [run.reused for run in journal.runs()] == [0, 0]


def test_only_shared_steps_are_taken_from_a_finished_run_whatever_its_pipeline(
    journal: Journal,
) -> None:
    performed: list[str] = []
    for pipeline in ("diagnose", "repair"):
        with journal.run(pipeline=pipeline, request=1) as run:
            run.step("watch", lambda: performed.append("watch"), kind=Kind.TRIAL, inputs=1)
            run.step(
                "ask",
                lambda: performed.append("ask"),
                kind=Kind.LLM,
                inputs=1,
                shared=True,
            )
            run.many(
                {"t": 1},
                lambda names: iter([{"t": performed.append("train")}]),
                shared=True,
            )
            run.finish(None)
    assert performed == ["watch", "ask", "train", "watch"]
    assert "training" in run.reused
    assert "model answer" in run.reused


def test_a_run_that_is_not_finished_gives_nothing_to_others(journal: Journal) -> None:
    performed: list[int] = []
    for request in (1, 2):
        with journal.run(pipeline="tale", request=request) as run:
            run.step("ask", lambda: performed.append(1), kind=Kind.LLM, shared=True)
    assert performed == [1, 1]


def test_the_first_line_says_what_was_taken_from_where_and_how_to_run_afresh(
    journal: Journal, pipeline: Any
) -> None:
    pipeline.run(journal)
    with journal.run(pipeline="tale", request={"of": "tests"}) as run:
        pipeline.tell(run)
        first = journal.find("1")
        assert run.reused.startswith(f"Reused from run {first.id} (")
        assert run.reused.endswith(
            "): 5 model answers, 3 trainings. --fresh runs everything again."
        )
        run.finish(None)
    note = journal.steps(journal.find("last"))[-1]
    assert (note.path, journal.result(note)) == ("tale/reused", run.reused)


def test_a_continued_run_says_how_many_steps_it_kept(journal: Journal) -> None:
    for last in (False, True):
        with journal.run(pipeline="tale", request=1) as run:
            assert run.reused == ""
            run.step("a", lambda: 1, kind=Kind.BOX)
            run.step("b", lambda last=last: 2, kind=Kind.BOX, inputs=last)
            if last:
                assert run.reused.startswith(f"Continued run {run.record.id}, interrupted ")
                assert run.reused.endswith(": 1 finished step is kept. --fresh starts over.")


@pytest.mark.parametrize("between", ["nothing", "superseded"])
def test_a_stored_result_that_does_not_hold_any_more_is_made_again(
    journal: Journal, between: str
) -> None:
    made: list[int] = []

    def asked(run: Any, *, holds: bool) -> int:
        result: int = run.step(
            "watch",
            lambda: made.append(1) or len(made),
            kind=Kind.TRIAL,
            inputs=1,
            returns=int,
            still=lambda _: holds,
        )
        return result

    with journal.run(pipeline="tale", request=1) as run:
        assert asked(run, holds=True) == 1
    if between == "superseded":
        with journal.run(pipeline="tale", request=1) as run:
            run.step("watch", lambda: 0, kind=Kind.TRIAL, inputs=2)
    with journal.run(pipeline="tale", request=1) as run:
        assert asked(run, holds=False) == 2
        assert run.reused == ""
    with journal.run(pipeline="tale", request=1) as run:
        assert asked(run, holds=True) == 2
        run.finish(None)
    watched = [step for step in journal.steps(run.record) if step.path == "tale/watch"]
    assert [step.state for step in watched if step.key == watched[0].key] == [State.DONE]
    assert journal.check().problems == ()


@pytest.mark.parametrize("change", [{"inputs": "new"}, {"version": 2}])
def test_other_inputs_or_version_is_another_step_and_the_old_one_is_superseded(
    journal: Journal, change: dict[str, Any]
) -> None:
    def asked(run: OpenRun, result: str, inputs: str = "old", version: int = 1) -> str:
        return run.many({"a": inputs}, lambda _: [{"a": result}], version=version)["a"]

    with journal.run(pipeline="tale", request=1) as run:
        asked(run, "one")
    with journal.run(pipeline="tale", request=1) as run:
        assert asked(run, "two", **change) == "two"
    states = [(step.state, journal.result(step)) for step in journal.steps(journal.find("1"))]
    assert states == [(State.SUPERSEDED, "one"), (State.DONE, "two")]
    with journal.run(pipeline="tale", request=1) as run:
        assert asked(run, "three") == "one"
    states = [(step.state, journal.result(step)) for step in journal.steps(journal.find("1"))]
    assert states == [(State.DONE, "one"), (State.SUPERSEDED, "two")]


def test_one_path_with_two_meanings_in_one_execution_is_diverged(
    journal: Journal,
) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        run.step("a", lambda: 1, kind=Kind.LLM, inputs=1)
        with pytest.raises(JournalDiverged, match="tale/a"):
            run.step("a", lambda: 2, kind=Kind.LLM, inputs=2)


def test_a_failure_is_recorded_and_tried_again(journal: Journal) -> None:
    with (
        pytest.raises(ModelUnreachable),
        journal.run(pipeline="tale", request=1) as run,
    ):
        run.step(
            "a",
            raising(ModelUnreachable("Nobody answers.", next_step="Wait.")),
            kind=Kind.LLM,
        )
    [step] = journal.steps(journal.find("last"))
    assert (step.state, step.error_type, step.error, step.error_next) == (
        State.FAILED,
        "ModelUnreachable",
        "Nobody answers.",
        "Wait.",
    )
    assert journal.find("last").status is Status.FAILED
    with journal.run(pipeline="tale", request=1) as run:
        assert (
            run.step(
                "a",
                lambda: 7,
                kind=Kind.LLM,
                cost=lambda _: Cost(Decimal("0.25"), 1, 1),
            )
            == 7
        )
        run.finish(None)
    [step] = journal.steps(journal.find("last"))
    assert (step.state, step.tries, step.error, step.money) == (
        State.DONE,
        2,
        None,
        "0.25",
    )
    record = journal.find("last")
    assert (record.money, record.tokens_in, record.failed, record.done) == (
        "0.25",
        1,
        0,
        1,
    )


def test_a_final_failure_is_raised_again_and_not_paid_again(journal: Journal) -> None:
    effects: list[int] = []

    def unusable() -> int:
        effects.append(1)
        raise AnswerUnusable("No answer fitted.", next_step="Another model.")

    for _ in range(2):
        with (
            pytest.raises(AnswerUnusable) as caught,
            journal.run(pipeline="tale", request=1) as run,
        ):
            run.step("a", unusable, kind=Kind.LLM, final=(AnswerUnusable,))
        assert (caught.value.sentence, caught.value.next_step) == (
            "No answer fitted.",
            "Another model.",
        )
    assert effects == [1]


def test_the_program_may_try_a_failed_step_again_itself(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        with pytest.raises(Boom):
            run.step("a", raising(Boom()), kind=Kind.BOX)
        assert run.step("a", lambda: 1, kind=Kind.BOX) == 1


def test_an_interrupted_effect_stays_begun_and_is_performed_again(
    journal: Journal,
) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        journal.run(pipeline="tale", request=1) as run,
    ):
        run.step("a", raising(KeyboardInterrupt()), kind=Kind.BOX)
    assert [step.state for step in journal.steps(journal.find("last"))] == [State.BEGUN]
    with journal.run(pipeline="tale", request=1) as run:
        assert run.step("a", lambda: 1, kind=Kind.BOX) == 1
    assert [step.tries for step in journal.steps(journal.find("last"))] == [2]


def test_trouble_with_the_disk_is_not_a_failure_of_the_effect(journal: Journal) -> None:
    with pytest.raises(StorageError), journal.run(pipeline="tale", request=1) as run:
        run.step("a", raising(StorageError("The disk is full.")), kind=Kind.BOX)
    assert [step.state for step in journal.steps(journal.find("last"))] == [State.BEGUN]


def test_a_result_of_an_earlier_type_is_performed_again(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        run.step("a", lambda: "text", kind=Kind.LLM, returns=str)
    with journal.run(pipeline="tale", request=1) as run:
        assert run.step("a", lambda: [1], kind=Kind.LLM, returns=list[int]) == [1]


def test_the_first_execution_sees_what_a_later_one_will_see(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        assert run.step("a", lambda: {3: (1, 2)}, kind=Kind.BOX, returns=dict[int, list[int]]) == {
            3: [1, 2]
        }
        with pytest.raises(JournalError, match="does not come back"):
            run.step("b", lambda: "text", kind=Kind.BOX, returns=int)  # type: ignore[arg-type]


def test_an_unknown_price_is_counted_and_not_guessed(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        run.step("a", lambda: 1, kind=Kind.LLM, cost=lambda _: Cost(None, 100, 10))
        run.step("b", lambda: 1, kind=Kind.LLM, cost=lambda _: Cost(Decimal("0.1"), 100, 10))
        assert (run.record.money, run.record.unpriced, run.record.tokens_in) == (
            "0.1",
            1,
            200,
        )


def test_threads_perform_a_step_once_between_them(on_disk: Journal) -> None:
    performed: list[str] = []
    gate = threading.Barrier(8)
    with on_disk.run(pipeline="tale", request=1) as run, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> int:
            gate.wait()
            name = f"s{number % 4}"
            return run.step(
                name,
                lambda: performed.append(name) or number % 4,
                kind=Kind.LLM,
                inputs=number % 4,
            )

        assert list(pool.map(work, range(8))) == [0, 1, 2, 3, 0, 1, 2, 3]
        run.finish(None)
    assert sorted(performed) == ["s0", "s1", "s2", "s3"]
    assert on_disk.find("last").steps == len(on_disk.steps(on_disk.find("last"))) == 4


def test_threads_that_wait_for_a_failing_step_try_it_themselves(
    journal: Journal,
) -> None:
    turns = iter([Boom(), None])
    gate = threading.Barrier(2)

    def effect() -> int:
        error = next(turns)
        if error:
            raise error
        return 5

    with journal.run(pipeline="tale", request=1) as run, ThreadPoolExecutor(2) as pool:

        def work(_: int) -> int | Boom:
            gate.wait()
            try:
                return run.step("a", effect, kind=Kind.LLM)
            except Boom as error:
                return error

        results = list(pool.map(work, range(2)))
    assert [type(result) for result in sorted(results, key=str)] in (
        [Boom, int],
        [int, Boom],
    )
    assert 5 in results


@pytest.mark.parametrize("name", ["", "a//b", "../x", "a b", "a/", "é", "a[x]", "x" * 200])
def test_a_path_has_its_alphabet(journal: Journal, name: str) -> None:
    with (
        journal.run(pipeline="tale", request=1) as run,
        pytest.raises(JournalError, match="path"),
    ):
        run.step(name, lambda: 1, kind=Kind.NOTE)


def test_paths_show_attempt_and_sample(journal: Journal) -> None:
    with journal.run(pipeline="paper", request=1) as run:
        debug = run.under("method").under("debug", attempt=3)
        assert debug.path("analyse") == "paper/method/debug[3]/analyse"
        assert debug.path("analyse", attempt=2, sample=1) == "paper/method/debug[3]/analyse[2]~1"


def test_a_finished_run_takes_no_more_steps(journal: Journal) -> None:
    with journal.run(pipeline="tale", request=1) as run:
        run.finish("good")
        with pytest.raises(JournalError, match="finished"):
            run.step("a", lambda: 1, kind=Kind.NOTE)
    assert journal.find("last").verdict_data() == "good"


def test_a_note_stands_and_a_changed_one_replaces_it(journal: Journal) -> None:
    for values in ([1, 1], [2], [1]):
        with journal.run(pipeline="tale", request=1) as run:
            for value in values:
                run.note("choice", value)
    steps = journal.steps(journal.find("last"))
    assert [(step.state, journal.result(step)) for step in steps] == [
        (State.DONE, 1),
        (State.SUPERSEDED, 2),
    ]
