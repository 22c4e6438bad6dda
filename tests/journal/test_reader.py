"""Reading a long run by parts: by path, by kind, by state; the pipelines there are."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from reenact.journal import Journal, JournalReader, Kind, State


@pytest.fixture
def shelf(tmp_path: Path) -> JournalReader:
    with Journal.open(tmp_path) as journal:
        with suppress(RuntimeError), journal.run(pipeline="paper", request={}) as run:
            run.note("result", 1)
            raise RuntimeError("again")
        with journal.run(pipeline="paper", request={}) as run:
            run.note("result", 2)
            run.step("asked", lambda: "yes", kind=Kind.LLM)
            run.under("result").step("below", lambda: 0, kind=Kind.BOX)
            run.finish(None)
        with journal.run(pipeline="bug", request={}) as run:
            run.finish(None)
    return JournalReader.open(tmp_path)


def test_the_steps_at_a_path_are_those_and_none_below(shelf: JournalReader) -> None:
    found = shelf.steps_at(shelf.find("1"), "paper/result")
    assert [(one.state, shelf.result(one)) for one in found] == [(State.SUPERSEDED, 1), (State.DONE, 2)]
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
    assert [run.pipeline for run in shelf.runs(text="paper", between=(0, 1))] == ["paper"]
    assert shelf.runs(text="paper", between=(2, 2)) == []
    shelf.close()


def test_pipelines_are_named_once_in_order(shelf: JournalReader) -> None:
    assert shelf.pipelines() == ["bug", "paper"]
    shelf.close()
