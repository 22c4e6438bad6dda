"""The reading tools import nothing from the folder that the server works in."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest

from mcp import Client, StdioServerParameters

CALLS: dict[str, dict[str, Any]] = {
    "lint": {"program": "train.py"},
    "hyperparameters": {"program": "train.py"},
    "explain": {"word": "RE010"},
    "runs": {},
}


class Planted(Protocol):
    folder: Path

    @property
    def imported(self) -> list[str]: ...


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", ["", "."])
def test_every_reading_tool_answers_and_imports_nothing_from_the_folder(
    planted: Planted, path: str
) -> None:
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("reenact")),
        args=["mcp"],
        cwd=planted.folder,
        env={"HOME": os.environ.get("HOME", "/"), "PYTHONPATH": path},
    )

    async def whole() -> list[Any]:
        async with Client(server) as session:
            assert {"lint", "hyperparameters"} <= {
                tool.name for tool in (await session.list_tools()).tools
            }
            answers = [await session.call_tool(name, words) for name, words in CALLS.items()]
            await session.read_resource("reenact://rules/RE010")
            return answers

    answers = anyio.run(whole)
    assert not any(answer.is_error for answer in answers), answers
    # With a relative PYTHONPATH of the user, Python imports these for the server before our first
    # line.
    allowed = {"sitecustomize", "usercustomize"} if path else set()
    assert set(planted.imported) <= allowed
