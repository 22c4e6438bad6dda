"""A client of the SDK that talks to `reenact mcp` over stdio, as an agent does."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp_types import CallToolResult, TextContent

from mcp import Client, StdioServerParameters
from warm import warm_reenact

Found = TypeVar("Found")
Talk = Callable[..., Any]


@pytest.fixture(scope="session")
def talk() -> Talk:
    """`talk(folder, flags, conversation, **client)`: start a server there and hold the
    conversation.
    """

    def held(
        folder: Path,
        flags: tuple[str, ...],
        conversation: Callable[[Client], Awaitable[Found]],
        **client: Any,
    ) -> Found:
        server = StdioServerParameters(
            command=warm_reenact(),
            args=["mcp", *flags],
            cwd=folder,
            env={
                "REENACT_NO_NETWORK_MODELS": "1",
                "OMP_NUM_THREADS": "1",
                "HOME": os.environ.get("HOME", "/"),
            },
        )

        async def whole() -> Found:
            async with Client(server, **client) as session:
                return await conversation(session)

        return anyio.run(whole)

    return held


@pytest.fixture(scope="session")
def text_of() -> Callable[[CallToolResult], str]:
    """The text of an answer."""

    def text(result: CallToolResult) -> str:
        return "\n".join(part.text for part in result.content if isinstance(part, TextContent))

    return text
