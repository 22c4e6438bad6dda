"""From "my training fails" to an applied, verified fix, as an agent goes there with the SDK's
client.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from mcp import Client
from reenact.demo import CASES

pytestmark = pytest.mark.slow
FLAGS = ("--allow-run", "--allow-apply")
MOST_CALLS = 8
MOST_TOKENS = 3000
CHARACTERS_PER_TOKEN = 4
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, talk: Callable[..., Any]) -> Answer:
    """Every answer by the number of the call, and what is asked once the walk is over."""
    folder = tmp_path_factory.mktemp("walk")
    shutil.copyfile(CASES / "train.py", folder / "train.py")

    async def conversation(client: Client) -> Answer:
        calls: list[Answer] = []

        async def progress(number: float, _: float | None, message: str | None) -> None:
            messages.append((number, message or ""))

        messages: list[tuple[float, str]] = []

        async def call(tool: str, **given: object) -> Answer:
            answer = await client.call_tool(tool, given, progress_callback=progress)
            assert not answer.is_error, answer.content
            calls.append(dict(answer.structured_content))
            return calls[-1]

        await call("lint", program="train.py")
        step = await call("diagnose", program="train.py")
        while step["next"] == "result":
            step = await call("result", id=step["job"], wait_s=3600)
        if step["next"] == "repair":
            step = await call("repair", program="train.py", budget="6t", seeds=6)
        while step["next"] == "result":
            step = await call("result", id=step["job"], wait_s=3600)
        if step["next"] == "apply":
            await call("apply", id=step["id"])
        again = await client.call_tool("apply", {"id": step["id"]})
        after = await client.call_tool("result", {"id": step["id"]})
        return {
            "calls": calls,
            "messages": messages,
            "again": again,
            "after": dict(after.structured_content),
        }

    found: Answer = talk(folder, FLAGS, conversation)
    return found | {"folder": folder}


def test_few_calls_lead_to_a_fix_that_is_verified_and_written(walk: Answer) -> None:
    calls = walk["calls"]
    assert len(calls) <= MOST_CALLS, [(one.get("command"), one.get("status")) for one in calls]
    assert calls[-1]["applied"].startswith("Written; what stood there before:")
    assert "lr=8.0" not in (walk["folder"] / "train.py").read_text()
    assert "lr=8.0" in (walk["folder"] / "train.py.before-repair").read_text()


def test_all_answers_together_are_short_and_have_no_null(walk: Answer) -> None:
    text = json.dumps(walk["calls"])
    assert len(text) / CHARACTERS_PER_TOKEN <= MOST_TOKENS
    assert "null" not in text


def test_a_client_that_waits_hears_how_far_it_is(walk: Answer) -> None:
    numbers = [number for number, _ in walk["messages"]]
    said = [message for _, message in walk["messages"]]
    assert any("epoch" in message for message in said)
    assert any(" %" in message for message in said)
    assert numbers[0] == 1


def test_findings_have_the_codes_that_the_command_prints(walk: Answer) -> None:
    diagnosis = next(
        one for one in walk["calls"] if one.get("command") == "diagnose" and "result" in one
    )
    first = diagnosis["result"]["findings"][0]
    printed = next(line for line in diagnosis["output"] if line.startswith("train.py:20"))
    assert f" {first['code']} " in printed


def test_the_diagnosis_has_the_fix_as_a_diff(walk: Answer) -> None:
    diagnosis = next(
        one for one in walk["calls"] if one.get("command") == "diagnose" and "result" in one
    )
    first = diagnosis["result"]["findings"][0]
    assert first["line"] == 20
    assert "-optimizer = torch.optim.SGD(model.parameters(), lr=8.0)" in first["fix"]
    assert diagnosis["stale"] == ""


def test_the_repair_held_on_fresh_seeds(walk: Answer) -> None:
    repair = walk["calls"][-2]
    assert repair["result"]["decision"] == "repaired"
    assert "6 fresh seeds" in repair["verdict"]
    assert repair["result"]["diff"].startswith("--- a/train.py")


def test_a_result_says_when_the_program_has_changed_since(
    walk: Answer, text_of: Callable[[Any], str]
) -> None:
    assert "train.py has changed since this run" in walk["after"]["stale"]
    assert walk["again"].is_error
    assert "has changed since run" in text_of(walk["again"])
