"""Edits of a recorded run, read from its journal."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.asking import ask
from reenact.codegen.edits import Edited
from reenact.errors import InputError
from reenact.journal import Journal, Scope
from reenact.llm.ask import Prompt, Text
from reenact.llm.scripted import Scripted
from reenact.paper.develop.questions import Analysis
from reenact.paper.evaluate.scores import edit_scores, edits_of

PROMPT = Prompt("paper/fix", 1, "Fix it.", (Text("code"),))
RANGE = {
    "path": "a.py",
    "first": 3,
    "last": 6,
    "old_first": "x",
    "old_last": "y",
    "text": "one\ntwo",
}
SWAP = {"path": "a.py", "search": "old", "replace": "new\nnewer\nnewest"}
WHOLE = {"path": "b.py", "text": "1\n2\n3\n4\n5\n"}


def recorded(journal: Journal, code: int, pipeline: str = "paper", fix: str = "fix") -> str:
    answers: list[Any] = [
        {"cause": "c", "remedy": "r"},
        {"lines": [RANGE], "swaps": [SWAP]},
        {"files": [WHOLE]},
        {"swaps": [SWAP]},
        {},
    ]
    model = Scripted(answers)
    with journal.run(pipeline=pipeline, request={"code": code}, fresh=True) as run:
        method, revision = (
            run.under("develop").under("method"),
            run.under("develop").under("revision", attempt=0),
        )
        ask(method.under("debug", attempt=0), model, "analyse", PROMPT, Analysis)
        edit(method.under("debug", attempt=0), model, fix)
        edit(revision, model, "revise")
        edit(run.under("develop").under("cheaper"), model, "cheaper")
        edit(run.under("develop").under("refactor"), model, "refactor")
        run.finish({}, code)
        return run.record.id


def edit(scope: Scope, model: Scripted, name: str) -> None:
    ask(scope, model, name, PROMPT, Edited)


@pytest.mark.parametrize("fix", ["fix", "cheaper", "as_an_earlier_version_called_it"])
def test_edits_are_those_that_changed_something(fix: str) -> None:
    with Journal.in_memory() as journal:
        found = edits_of(journal, recorded(journal, 1, fix=fix))
    changed = (
        ("method", "debugging", 4 + 3),
        ("revision", "refinement", 5),
        ("cheaper", "debugging", 3),
    )
    assert found == changed
    method = edit_scores([found])[0]
    assert (method.stage, method.turns, method.lines) == ("method", 1.0, 7.0)


def test_a_run_without_a_verdict_on_numbers_does_not_count() -> None:
    with Journal.in_memory() as journal:
        assert edits_of(journal, recorded(journal, 3)) is None
    assert edit_scores([]) == ()


def test_runs_of_other_pipelines_edit_nothing() -> None:
    with Journal.in_memory() as journal:
        name = recorded(journal, 0, pipeline="bug")
        with pytest.raises(InputError, match="one of `reenact bug`"):
            edits_of(journal, name)
