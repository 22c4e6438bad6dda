"""The client's own model as the model of a run: what waits in its relay folder goes to the client.

Clients of before 2026-07-28 are asked while the poll waits; later ones get the requests as the
answer to the poll and poll again with what their model answered. The run finds files in its folder,
as from any relay.
"""

import base64
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import is_version_at_least

from reenact.errors import InputError
from reenact.llm.relay import Waiting, file_text, waiting

IN_ANSWERS = "2026-07-28"
"""Protocol from which on a server asks by its answers."""
TOKENS = 8_192
MOST = 4
"""Requests that go out at once."""
LARGEST_IMAGE = 5 * 1024 * 1024
WANTED = "Answer with one JSON object that fits this schema, and nothing else:"


def offers_model(ctx: Context[Any, Any]) -> bool:
    """Whether the client lends its model."""
    offered = ctx.client_capabilities
    return offered is not None and offered.sampling is not None


async def ask_client(
    ctx: Context[Any, Any],
    folder: Path,
) -> types.InputRequiredResult | None:
    """Have the client's model answer what waits in the folder, or return what must be sent to
    it for that.
    """
    asked = waiting(folder)[:MOST]
    if not asked:
        return None
    if is_version_at_least(ctx.protocol_version or "", IN_ANSWERS):
        return types.InputRequiredResult(
            input_requests={one.id: message(one, folder) for one in asked}
        )
    for one in asked:
        try:
            asked_by = ServerMessageMetadata(related_request_id=ctx.request_context.request_id)
            sent = (message(one, folder), types.CreateMessageResult)
            result = await ctx.session.send_request(*sent, metadata=asked_by)
        except MCPError as error:
            says = f"The client's model did not answer {one.id}: {error}."
            raise InputError(says, next_step="Use request and answer.") from error
        await anyio.to_thread.run_sync(file_reply, folder, one.id, result)
    return None


def take_replies(ctx: Context[Any, Any], folder: Path) -> bool:
    """File what a client of today sent along with its poll; false when it sent nothing."""
    replies = ctx.input_responses or {}
    known = {one.id for one in waiting(folder)} if replies else set()
    for name, reply in replies.items():
        if name in known and isinstance(reply, types.CreateMessageResult):
            file_reply(folder, name, reply)
    return bool(replies)


def message(asked: Waiting, folder: Path) -> types.CreateMessageRequest:
    """A request of a run as the protocol says it."""
    request = asked.request
    schema = json.dumps(request["schema"], indent=1)
    messages = [one for turn in request["turns"] for one in _messages(turn, folder)]
    system = f"{request['system']}\n\n{WANTED}\n{schema}"
    bounds = {
        "max_tokens": request.get("max_tokens") or TOKENS,
        "temperature": request.get("temperature"),
    }
    params = types.CreateMessageRequestParams(messages=messages, system_prompt=system, **bounds)
    return types.CreateMessageRequest(params=params)


def file_reply(folder: Path, name: str, reply: types.CreateMessageResult) -> None:
    """Put a reply next to its request; one that does not fit goes as it is, and the run says
    what is wrong.
    """
    text = ""
    if isinstance(reply.content, types.TextContent):
        text = reply.content.text
    try:
        file_text(folder, name, text, by=reply.model)
    except InputError:
        hidden = folder / f".{name}.{uuid.uuid4().hex}"
        hidden.write_text(text, encoding="utf-8")
        hidden.replace(folder / f"{name}.answer.txt")


def _messages(
    turn: Mapping[str, Any],
    folder: Path,
) -> list[types.SamplingMessage]:
    """The texts of a turn in one message, each figure in one of its own."""
    role = "assistant" if turn["role"] == "assistant" else "user"
    texts = [str(part["text"]) for part in turn["parts"] if "text" in part]
    figures = [part for part in turn["parts"] if "image" in part]
    shown = [
        types.SamplingMessage(
            role=role,
            content=_figure(part, folder),
        )
        for part in figures
    ]
    return [
        types.SamplingMessage(
            role=role,
            content=types.TextContent(text="\n\n".join(texts)),
        ),
        *shown,
    ]


def _figure(
    part: Mapping[str, Any],
    folder: Path,
) -> types.ImageContent | types.TextContent:
    path = folder / Path(str(part["image"])).name
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_IMAGE:
        return types.TextContent(text=f"[figure {part.get('label') or part['image']}, not shown]")
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return types.ImageContent(
        data=data,
        mime_type=str(part.get("media_type") or "image/png"),
    )
