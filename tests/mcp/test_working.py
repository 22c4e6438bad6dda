"""Long work over stdio: started, polled, stopped, continued, asked of the client's own model,
read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    TextContent,
)

from mcp import Client

WAITS = """\
import pathlib, time

while not pathlib.Path("go").exists():
    time.sleep(0.05)
print("done")
"""
AT_WORK = ("starting", "running")
ROUNDS = 40


@pytest.fixture(scope="module")
def asked() -> list[CreateMessageRequestParams]:
    return []


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory,
    talk: Callable[..., Any],
    asked: list[CreateMessageRequestParams],
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("worked")
    (folder / "waits.py").write_text(WAITS)

    async def answered(_: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        asked.append(params)
        return CreateMessageResult(
            role="assistant", content=TextContent(text='{"faults": []}'), model="theirs"
        )

    async def ended(client: Client, name: str) -> dict[str, Any]:
        for _ in range(ROUNDS):
            status = (
                await client.call_tool("result", {"id": name, "wait_s": 10})
            ).structured_content
            if status["status"] not in AT_WORK:
                return dict(status)
        raise AssertionError(f"{name} does not end: {status}")

    async def conversation(client: Client) -> dict[str, Any]:
        call = client.call_tool
        given = {"program": "waits.py", "model": "mcp"}
        status: dict[str, Any] = {"started": (await call("diagnose", given)).structured_content}
        job = status["started"]["job"]
        status["apply"] = await call("apply", {"id": job})
        status["command"] = await call(
            "diagnose", {"program": "waits.py", "model": "command:touch here"}
        )
        await call("stop", {"id": job})
        status["stopped"] = await ended(client, job)
        (folder / "go").touch()
        status["resumed"] = (
            await call("resume", {"id": status["stopped"]["id"]})
        ).structured_content
        status["finished"] = await ended(client, status["stopped"]["id"])
        status["result"] = (await call("result", {"id": "last"})).structured_content
        uri = f"reenact://runs/{status['stopped']['id']}/result"
        status["whole"] = (await client.read_resource(uri)).contents[0]
        status["runs"] = (await call("runs", {"command": "diagnose"})).structured_content
        begun = await call("reproduce_bug", {"report": "nowhere.md", "repo": "."})
        status["broken"] = await ended(client, begun.structured_content["job"])
        return status

    found: dict[str, Any] = talk(folder, ("--allow-run",), conversation, sampling_callback=answered)
    found["folder"] = folder
    return found


def test_a_start_answers_with_ids(answers: dict[str, Any]) -> None:
    status = answers["started"]
    assert status["job"].startswith("diagnose-")
    assert status["status"] in AT_WORK
    assert status["next"] == "result"


def test_a_job_is_stopped_and_continued_as_the_same_run(
    answers: dict[str, Any],
) -> None:
    assert (answers["stopped"]["status"], answers["stopped"]["exit_code"]) == (
        "stopped",
        130,
    )
    assert answers["stopped"]["next"] == "resume"
    assert answers["finished"]["status"] == "finished", answers["finished"]
    assert answers["finished"]["id"] == answers["stopped"]["id"]
    assert answers["runs"]["total"] == 1


def test_the_clients_model_was_asked_and_its_answers_were_used(
    answers: dict[str, Any], asked: list[CreateMessageRequestParams]
) -> None:
    assert len(asked) == 2
    first = asked[0]
    assert '"faults"' in (first.system_prompt or "")
    content = first.messages[0].content
    assert isinstance(content, TextContent)
    assert "waits.py" in content.text
    assert answers["finished"]["tokens"] > 0


def test_a_result_is_small_and_the_whole_is_a_resource(answers: dict[str, Any]) -> None:
    status = answers["result"]
    assert status["status"] == "finished"
    assert status["result"]["depth"] == "quick"
    assert status["result"]["findings"] == []
    whole = json.loads(answers["whole"].text)
    assert whole["depth"] == "quick"


def test_flags_that_were_not_given_hold(
    answers: dict[str, Any], text_of: Callable[[CallToolResult], str]
) -> None:
    assert answers["apply"].is_error is True
    assert "--allow-apply" in text_of(answers["apply"])
    assert "named by the user, not by a tool" in text_of(answers["command"])
    assert not (answers["folder"] / "here").exists()


def test_a_job_that_cannot_begin_says_why(answers: dict[str, Any]) -> None:
    status = answers["broken"]
    assert (status["id"], status["status"], status["exit_code"]) == ("", "failed", 2)
    assert "nowhere.md" in status["verdict"]
