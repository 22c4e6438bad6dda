"""The same work started twice over MCP is done twice, about the data as they are each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcp import Client

READS = 'raise ValueError("the data are " + open("data.csv").read())\n'
AT_WORK = ("starting", "running")
ROUNDS = 40


@pytest.mark.release
def test_a_diagnosis_started_again_after_the_data_changed_is_made_again(
    tmp_path_factory: pytest.TempPathFactory, talk: Callable[..., Any]
) -> None:
    folder = tmp_path_factory.mktemp("again")
    (folder / "train.py").write_text(READS)

    async def diagnosed(client: Client, data: str) -> dict[str, Any]:
        (folder / "data.csv").write_text(data)
        started = (await client.call_tool("diagnose", {"program": "train.py"})).structured_content
        for _ in range(ROUNDS):
            status = (
                await client.call_tool("result", {"id": started["job"], "wait_s": 10})
            ).structured_content
            if status["status"] not in AT_WORK:
                break
        return dict((await client.call_tool("result", {"id": status["id"]})).structured_content)

    async def conversation(client: Client) -> dict[str, Any]:
        return {data: await diagnosed(client, data) for data in ("one", "two")}

    found = talk(folder, ("--allow-run",), conversation)
    assert found["one"]["id"] != found["two"]["id"]
    for data, other in (("one", "two"), ("two", "one")):
        assert f"the data are {data}" in str(found[data]["result"])
        assert f"the data are {other}" not in str(found[data]["result"])
        assert found[data]["reused"] == ""
