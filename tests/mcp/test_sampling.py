"""A run asks whoever talks to the server: clients that lend a model, of both eras, and those
that do not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CreateMessageRequestParams, CreateMessageResult, TextContent

from contracts.model import question
from mcp import Client
from reenact.journal import Journal
from reenact.llm.live import open_model
from reenact.mcp.server import make_server
from reenact.mcp.tools import Permits

GOOD = '{"holds": true, "why": "seen"}'


class Asker:
    """A run in this process whose model is the client."""

    def __init__(self, runs_dir: Path) -> None:
        self.runs_dir = runs_dir
        self.folder = runs_dir / "mcp" / "asked-1"
        self.answers: list[Any] = []
        self._model = open_model(f"relay:{self.folder}")
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        self.answers.append(self._model.ask(question("bug/plan")))

    def __enter__(self) -> Asker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Asker]:
    asker = Asker(tmp_path / ".reenact")
    words = ["diagnose", f"--model=relay:{asker.folder}", "train.py"]
    with (
        Journal.open(asker.runs_dir) as journal,
        journal.run(pipeline="diagnose", request=1, argv=words),
    ):
        yield asker


async def until(client: Client, field: str) -> dict[str, Any]:
    """Poll until something is status in that field."""
    while True:
        status = (await client.call_tool("result", {"id": "last", "wait_s": 5})).structured_content
        assert status is not None
        if status[field]:
            return dict(status)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_lends_its_model_is_asked_in_the_course_of_a_poll(
    asker: Asker, mode: str
) -> None:
    answers: list[CreateMessageRequestParams] = []
    replies = iter(["I cannot say.", f"Well:\n```json\n{GOOD}\n```"])

    async def lend(_: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        answers.append(params)
        return CreateMessageResult(
            role="assistant", content=TextContent(text=next(replies)), model="theirs"
        )

    async def conversation() -> None:
        server = make_server(asker.runs_dir, Permits())
        async with Client(server, mode=mode, sampling_callback=lend) as client:
            with anyio.fail_after(60):
                while not asker.answers:
                    await client.call_tool("result", {"id": "last", "wait_s": 1})

    with asker:
        anyio.run(conversation)
    assert asker.answers[0].value.why == "seen"
    assert asker.answers[0].model == "relay:theirs"
    assert "You judge." in (answers[0].system_prompt or "")
    # The first reply was no answer: the run reported it, and asked again in the same conversation.
    assert [message.role for message in answers[1].messages] == [
        "user",
        "assistant",
        "user",
    ]


def test_a_client_without_a_model_reads_and_answers_itself(asker: Asker) -> None:
    async def conversation() -> dict[str, Any]:
        async with Client(make_server(asker.runs_dir, Permits())) as client:
            with anyio.fail_after(60):
                status = await until(client, "waiting")
            (name,) = status["waiting"]
            asked = await client.call_tool("request", {"id": "last", "request": name})
            wrong = await client.call_tool(
                "answer", {"id": "last", "request": name, "answer": {"holds": 7}}
            )
            given = {"holds": True, "why": "read"}
            filed = await client.call_tool(
                "answer", {"id": "last", "request": name, "answer": given}
            )
            return {"status": status, "asked": asked, "wrong": wrong, "filed": filed}

    with asker:
        answers = anyio.run(conversation)
    assert "request, answer" in answers["status"]["next"]
    asked = answers["asked"].structured_content
    assert asked["step"] == "bug/plan"
    assert asked["answer_schema"]["required"]
    assert answers["wrong"].is_error is True
    assert answers["filed"].structured_content["request"] == asked["id"]
    assert (asker.answers[0].value.why, asker.answers[0].model) == (
        "read",
        "relay:client",
    )


def test_a_run_with_another_model_asks_nobody_here(tmp_path: Path) -> None:
    runs_dir = tmp_path / ".reenact"

    async def conversation() -> Any:
        async with Client(make_server(runs_dir, Permits())) as client:
            return await client.call_tool("request", {"id": "last", "request": "x"})

    words = ["diagnose", "--model=relay:elsewhere", "train.py"]
    with (
        Journal.open(runs_dir) as journal,
        journal.run(pipeline="diagnose", request=1, argv=words),
    ):
        answers = anyio.run(conversation)
    assert answers.is_error is True
    assert "asks another model than this client" in answers.content[0].text
