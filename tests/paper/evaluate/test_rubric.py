"""Rubric trees: read, pruned, weighed; leaves judged by a model whose answers may be of no use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import Judged, Value
from reenact.paper.evaluate.quality import read_code
from reenact.paper.evaluate.rubric import (
    ACQUISITION,
    CODE_DEVELOPMENT,
    Node,
    code_development,
    judge_leaves,
    read_rubric,
    resources_provided,
    score_tree,
)


def leaf(
    name: str, weight: int = 1, category: str = CODE_DEVELOPMENT, detail: str = ""
) -> dict[str, Any]:
    return {
        "id": name,
        "requirements": f"{name} is done",
        "weight": weight,
        "sub_tasks": [],
        "task_category": category,
        "finegrained_task_category": detail or None,
    }


def branch(name: str, weight: int, *parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "requirements": f"{name}",
        "weight": weight,
        "sub_tasks": list(parts),
        "task_category": None,
    }


TREE = branch(
    "root",
    1,
    branch(
        "method",
        3,
        leaf("average", 2),
        leaf("lag", 1),
        leaf("table", 5, "Result Analysis"),
    ),
    branch("setup", 1, leaf("data", 4, detail=ACQUISITION), leaf("rate", 1)),
    branch("runs", 9, leaf("trains", 1, "Code Execution")),
)


@pytest.fixture
def tree(tmp_path: Path) -> Node:
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps(TREE))
    return read_rubric(file)


def found(**values: Value) -> dict[str, Judged]:
    return {name: Judged(name, value, "judge", "seen") for name, value in values.items()}


def test_pruning_keeps_code_leaves_and_drops_empty_branches(tree: Node) -> None:
    pruned = code_development(tree)
    assert pruned is not None
    assert [one.id for one, _ in pruned.paths()] == ["average", "lag", "data", "rate"]
    assert [part.id for part in pruned.parts] == ["method", "setup"]
    assert (
        code_development(Node(id="x", requirements="x", weight=1, category="Result Analysis"))
        is None
    )


def test_means_are_weighted_and_the_unjudged_stand_apart(tree: Node) -> None:
    pruned = code_development(tree)
    assert pruned is not None
    judged = found(average=Value.PASS, lag=Value.FAIL, data=Value.UNKNOWN, rate=Value.PASS)
    scored = score_tree(pruned, judged)
    assert scored is not None
    assert scored.score == pytest.approx((3 * (2 / 3) + 1 * 1) / 4)
    assert scored.low == pytest.approx((3 * (2 / 3) + 1 * (1 / 5)) / 4)
    assert scored.high == pytest.approx((3 * (2 / 3) + 1) / 4)
    graded = scored.to_json()
    assert graded["sub_tasks"][1]["sub_tasks"][0]["valid_score"] is False  # type: ignore[index, call-overload]


def test_nothing_judged_is_no_score(tree: Node) -> None:
    scored = score_tree(tree, {})
    assert scored is not None
    assert (scored.score, scored.low, scored.high) == (None, 0.0, 1.0)


def test_provided_resources_weigh_nothing(tree: Node) -> None:
    provided = resources_provided(tree)
    scored = score_tree(provided, found(rate=Value.FAIL))
    assert scored is not None
    assert "data" not in [one.node.id for one in scored.leaves()]
    data = Node(
        id="d",
        requirements="d",
        weight=2,
        category=CODE_DEVELOPMENT,
        detail=ACQUISITION,
    )
    only = Node(id="r", requirements="r", weight=1, parts=(data,))
    assert score_tree(resources_provided(only), {}) is None


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"id": "a"},
        {**leaf("a"), "weight": -1},
        {**leaf("a"), "weight": True},
        {**leaf("a"), "task_category": "Something"},
        {**leaf("a"), "sub_tasks": {"b": 1}},
        branch("a", 1, {"id": "b"}),
    ],
)
def test_trees_that_are_none_give_a_sentence(tmp_path: Path, value: Any) -> None:
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps(value))
    with pytest.raises(InputError):
        read_rubric(file)


def test_a_nest_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rubric.json"
    file.write_text('{"sub_tasks": [' * 5000)
    with pytest.raises(InputError, match="nests deeper"):
        read_rubric(file)


def verdict(number: int, word: str, *lines: tuple[str, int]) -> dict[str, Any]:
    return {
        "number": number,
        "expected": "e",
        "found": "f",
        "verdict": word,
        "lines": [{"file": file, "line": line} for file, line in lines],
    }


def judged_by(
    answers: list[Any], tree: Node, paper: Paper, code: Path
) -> tuple[dict[str, Judged], Scripted]:
    model = Scripted(answers)
    pruned = code_development(tree)
    assert pruned is not None
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}) as run,
    ):
        return judge_leaves(pruned, paper, read_code(code)[0], model, run), model


def test_a_pass_needs_a_line_that_is_there(tree: Node, paper: Paper, code: Path) -> None:
    answer = {
        "verdicts": [
            verdict(1, "satisfied", ("model.py", 6)),
            verdict(2, "satisfied", ("model.py", 600), ("nowhere.py", 1)),
            verdict(3, "not satisfied"),
        ]
    }
    judged, model = judged_by([answer], tree, paper, code)
    assert judged["average"].value is Value.PASS
    assert judged["average"].lines[0].text.strip() == "return 0.9 * old + 0.1 * new"
    assert judged["lag"].value is Value.UNKNOWN
    assert judged["data"].value is Value.FAIL
    assert (judged["rate"].value, judged["rate"].by) == (Value.UNKNOWN, "nobody")
    asked = model.calls[0].as_text()
    assert "part of: method" in asked
    assert "never follow instructions" in asked


def test_answers_nobody_can_read_judge_nothing(tree: Node, paper: Paper, code: Path) -> None:
    judged, _ = judged_by(["not JSON"] * 9, tree, paper, code)
    assert {one.value for one in judged.values()} == {Value.UNKNOWN}
    assert all(one.by == "nobody" and one.reason for one in judged.values())


def test_a_number_that_was_not_asked_is_asked_again(tree: Node, paper: Paper, code: Path) -> None:
    wrong = {"verdicts": [verdict(7, "satisfied", ("model.py", 6))]}
    right = {"verdicts": [verdict(1, "satisfied", ("model.py", 6))]}
    judged, model = judged_by([wrong, right], tree, paper, code)
    assert judged["average"].value is Value.PASS
    assert len(model.calls) == 2
