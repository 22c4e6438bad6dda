"""A bug and a paper over stdio, by the recorded answers of their shipped cases; all code is run
for real.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from mcp import Client
from reenact.demo import CASES

BUG = CASES / "bugs" / "abacusnet-five-classes"
PAPER = CASES / "papers" / "damped-octaves"
AT_WORK = ("starting", "running")
ROUNDS = 60
Answer = dict[str, Any]


async def asked(client: Client, tool: str, **given: object) -> Answer:
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content
    return dict(answer.structured_content)


async def polled(client: Client, name: str, until: Callable[[Answer], bool]) -> list[Answer]:
    """Every answer of `poll` up to the one that is waited for."""
    answers: list[Answer] = []
    for _ in range(ROUNDS):
        answers.append(await asked(client, "result", id=name, wait_s=5))
        if until(answers[-1]):
            return answers
    raise AssertionError(f"{name} does not come to it: {answers[-1]}")


def has_ended(status: Answer) -> bool:
    return status["status"] not in AT_WORK


@pytest.fixture(scope="module")
def bug(tmp_path_factory: pytest.TempPathFactory, talk: Callable[..., Any]) -> Answer:
    folder = tmp_path_factory.mktemp("bug")
    case = json.loads((BUG / "case.json").read_text())

    async def conversation(client: Client) -> Answer:
        started = await asked(
            client,
            "reproduce_bug",
            report=str(BUG / "report.md"),
            repo=str(BUG / "project.bundle"),
            commit=case["buggy"],
            fixed=case["fixed"],
            model=f"replay:{BUG / 'recording.jsonl'}",
        )
        polls = await polled(client, started["job"], has_ended)
        status = await asked(client, "result", id=started["id"] or polls[-1]["id"])
        whole = await client.read_resource(f"reenact://runs/{status['id']}/result")
        return {
            "started": started,
            "polls": polls,
            "status": status,
            "whole": json.loads(whole.contents[0].text),
        }

    found: Answer = talk(folder, ("--allow-run",), conversation)
    return found | {"folder": folder}


@pytest.mark.release
def test_a_bug_is_started_polled_and_shown(bug: Answer) -> None:
    assert bug["started"]["job"].startswith("bug-")
    last = bug["polls"][-1]
    assert (last["status"], last["exit_code"]) == ("finished", 0), last
    assert last["steps"] > 0
    assert bug["status"]["id"] == last["id"]
    assert bug["status"]["result"]["verdict"] == "reproduced"


def test_the_script_of_a_bug_is_left_where_it_was_asked_for(bug: Answer) -> None:
    left = bug["folder"] / "reproduction"
    assert "abacusnet" in (left / "repro.py").read_text()
    assert (left / "REPORT.md").is_file()
    assert bug["whole"]["repro"] in (left / "repro.py").read_text()


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory, talk: Callable[..., Any]) -> Answer:
    folder = tmp_path_factory.mktemp("paper")
    case = tomllib.loads((PAPER / "case.toml").read_text())

    def is_writing(status: Answer) -> bool:
        return status["steps"] >= 5 or has_ended(status)

    async def conversation(client: Client) -> Answer:
        started = await asked(
            client,
            "reproduce_paper",
            paper=str(PAPER / "paper"),
            library=str(PAPER / "library"),
            **case["goal"],
            seeds=case["seeds"],
            model=f"replay:{PAPER / 'recordings' / 'whole.jsonl'}",
        )
        polls = await polled(client, started["job"], is_writing)
        await client.call_tool("stop", {"id": started["job"]})
        ended = (await polled(client, started["job"], has_ended))[-1]
        status = await asked(client, "result", id=ended["id"])
        runs = await asked(client, "runs", command="paper")
        return {
            "started": started,
            "polls": polls,
            "ended": ended,
            "status": status,
            "runs": runs,
        }

    found: Answer = talk(folder, ("--allow-run",), conversation)
    return found


def test_a_paper_is_started_and_its_recording_answers(paper: Answer) -> None:
    assert paper["started"]["job"].startswith("paper-")
    assert paper["polls"][-1]["status"] == "running", paper["polls"][-1]
    assert paper["polls"][-1]["steps"] >= 5
    assert paper["polls"][-1]["tokens"] > 0


def test_a_paper_is_stopped_at_a_safe_place_and_can_be_continued(paper: Answer) -> None:
    ended = paper["ended"]
    assert (ended["status"], ended["exit_code"], ended["next"]) == (
        "stopped",
        130,
        "resume",
    ), ended
    assert paper["status"]["status"] == "stopped"
    assert paper["status"]["id"] == ended["id"]
    assert paper["runs"]["total"] == 1
