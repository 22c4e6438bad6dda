"""Long work over stdio: started, polled, stopped, continued, asked of the client's own model, read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import CallToolResult, CreateMessageRequestParams, CreateMessageResult, TextContent

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
def heard(
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
            told = (await client.call_tool("poll", {"id": name, "wait_s": 10})).structured_content
            if told["status"] not in AT_WORK:
                return dict(told)
        raise AssertionError(f"{name} does not end: {told}")

    async def conversation(client: Client) -> dict[str, Any]:
        call = client.call_tool
        given = {"program": "waits.py", "model": "mcp"}
        told: dict[str, Any] = {"started": (await call("start_diagnose", given)).structured_content}
        job = told["started"]["job"]
        told["apply"] = await call("start_repair", {"program": "waits.py", "apply": True})
        told["command"] = await call("start_diagnose", {"program": "waits.py", "model": "command:touch here"})
        await call("stop", {"id": job})
        told["stopped"] = await ended(client, job)
        (folder / "go").touch()
        told["resumed"] = (await call("resume", {"id": told["stopped"]["id"]})).structured_content
        told["finished"] = await ended(client, told["stopped"]["id"])
        told["result"] = (await call("result", {"id": "last"})).structured_content
        uri = f"reenact://runs/{told['stopped']['id']}/result"
        told["whole"] = (await client.read_resource(uri)).contents[0]
        told["runs"] = (await call("runs", {"story": "diagnose"})).structured_content
        told["broken"] = (await call("start_bug", {"report": "nowhere.md", "repo": "."})).structured_content
        return told

    found: dict[str, Any] = talk(folder, ("--allow-run",), conversation, sampling_callback=answered)
    found["folder"] = folder
    return found


def test_a_start_answers_with_ids(heard: dict[str, Any]) -> None:
    told = heard["started"]
    assert told["job"].startswith("diagnose-")
    assert told["status"] in AT_WORK
    assert told["next"] == "poll"


def test_a_job_is_stopped_and_continued_as_the_same_run(heard: dict[str, Any]) -> None:
    assert (heard["stopped"]["status"], heard["stopped"]["exit_code"]) == ("stopped", 130)
    assert heard["stopped"]["next"] == "resume"
    assert heard["finished"]["status"] == "finished", heard["finished"]
    assert heard["finished"]["id"] == heard["stopped"]["id"]
    assert heard["runs"]["total"] == 1


def test_the_clients_model_was_asked_and_its_answers_were_used(
    heard: dict[str, Any], asked: list[CreateMessageRequestParams]
) -> None:
    assert len(asked) == 5
    first = asked[0]
    assert '"faults"' in (first.system_prompt or "")
    content = first.messages[0].content
    assert isinstance(content, TextContent)
    assert "waits.py" in content.text
    assert heard["finished"]["tokens"] > 0


def test_a_result_is_small_and_the_whole_is_a_resource(heard: dict[str, Any]) -> None:
    told = heard["result"]
    assert told["status"] == "finished"
    assert told["result"]["depth"] == "quick"
    assert told["result"]["findings"] == []
    whole = json.loads(heard["whole"].text)
    assert whole["depth"] == "quick"


def test_flags_that_were_not_given_hold(heard: dict[str, Any], said: Callable[[CallToolResult], str]) -> None:
    assert heard["apply"].is_error is True
    assert "--allow-apply" in said(heard["apply"])
    assert "named by the user, not by a tool" in said(heard["command"])
    assert not (heard["folder"] / "here").exists()


def test_a_job_that_cannot_begin_says_why(heard: dict[str, Any]) -> None:
    told = heard["broken"]
    assert (told["id"], told["status"], told["exit_code"]) == ("", "failed", 2)
    assert "nowhere.md" in told["verdict"]
