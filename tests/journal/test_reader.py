"""Reading a long run by parts: by path, by kind, by state; the pipelines there are."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from reenact.journal import Journal, JournalReader, Kind, State


@pytest.fixture
def shelf(tmp_path: Path) -> JournalReader:
    with Journal.open(tmp_path) as journal:
        with (
            suppress(RuntimeError),
            journal.run(pipeline="paper", request={}, what="octaves") as run,
        ):
            run.note("result", 1)
            raise RuntimeError("again")
        with journal.run(pipeline="paper", request={}, what="octaves") as run:
            run.note("result", 2)
            run.step("asked", lambda: "yes", kind=Kind.LLM)
            run.under("result").step("below", lambda: 0, kind=Kind.BOX)
            run.finish(None)
        with journal.run(pipeline="bug", request={}) as run:
            run.finish(None)
    return JournalReader.open(tmp_path)


def test_the_steps_at_a_path_are_those_and_none_below(shelf: JournalReader) -> None:
    found = shelf.steps_at(shelf.find("1"), "paper/result")
    assert [(one.state, shelf.result(one)) for one in found] == [
        (State.SUPERSEDED, 1),
        (State.DONE, 2),
    ]
    assert shelf.steps_at(shelf.find("1"), "paper/nothing") == []
    shelf.close()


def test_steps_are_chosen_by_kind_and_state(shelf: JournalReader) -> None:
    run = shelf.find("1")
    assert [one.path for one in shelf.some_steps(run, kind=Kind.LLM)] == ["paper/asked"]
    assert [one.nr for one in shelf.some_steps(run, state=State.SUPERSEDED)] == [1]
    assert [one.path for one in shelf.some_steps(run, under="paper/result", kind=Kind.BOX)] == [
        "paper/result/below"
    ]
    assert shelf.some_steps(run, kind=Kind.LLM, after=3) == []
    shelf.close()


def test_runs_between_two_numbers_are_looked_at_alone(shelf: JournalReader) -> None:
    assert [run.pipeline for run in shelf.runs(between=(2, 9))] == ["bug"]
    # The folder is searched too: the name of a pipeline may stand in that of a checkout.
    assert [run.pipeline for run in shelf.runs(text="octaves", between=(0, 1))] == ["paper"]
    assert shelf.runs(text="octaves", between=(2, 2)) == []
    shelf.close()


def test_pipelines_are_named_once_in_order(shelf: JournalReader) -> None:
    assert shelf.pipelines() == ["bug", "paper"]
    shelf.close()


@pytest.fixture
def judged(tmp_path: Path) -> JournalReader:
    """Three runs with verdicts, one without."""
    with Journal.open(tmp_path) as journal:
        for name, metric in (
            ("b.py", "accuracy 0.5"),
            ("a.py", "accuracy 0.25"),
            ("c.py", "accuracy 12"),
        ):
            with journal.run(
                pipeline="diagnose",
                request={"of": name},
                what=name,
                argv=("diagnose", name, "--fast"),
            ) as run:
                run.finish(
                    {
                        "verdict": "1 finding" if name != "c.py" else "no fault found",
                        "metric": metric,
                    }
                )
        with (
            suppress(RuntimeError),
            journal.run(pipeline="bug", request={}, what="report") as run,
        ):
            raise RuntimeError("no luck")
    return JournalReader.open(tmp_path)


@pytest.mark.parametrize(
    ("order", "rising", "names"),
    [
        ("started", False, ["report", "c.py", "a.py", "b.py"]),
        ("started", True, ["b.py", "a.py", "c.py", "report"]),
        ("name", True, ["a.py", "b.py", "c.py", "report"]),
        ("metric", False, ["c.py", "b.py", "a.py", "report"]),
        ("metric", True, ["a.py", "b.py", "c.py", "report"]),
        ("command", True, ["report", "c.py", "a.py", "b.py"]),
    ],
)
def test_runs_are_ordered_and_what_has_no_value_comes_last(
    judged: JournalReader, order: str, rising: bool, names: list[str]
) -> None:
    assert [run.what for run in judged.runs(order=order, rising=rising)] == names
    judged.close()


def test_runs_are_found_by_their_verdict_and_by_the_words_of_their_command(
    judged: JournalReader,
) -> None:
    assert judged.verdicts() == ["1 finding", "no fault found"]
    assert [run.what for run in judged.runs(verdict="1 finding")] == ["a.py", "b.py"]
    assert judged.count(verdict="no fault found") == 1
    assert [run.what for run in judged.runs(text="diagnose C.py --fast")] == ["c.py"]
    assert [run.what for run in judged.runs(text="no fault")] == ["c.py"]
    judged.close()
