"""How a function becomes a tool, and the arguments that several tools share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True)

Words = Annotated[tuple[str, ...], Field(description="Codes, prefixes, names or families of rules.")]
Name = Annotated[str, Field(description="Id of a run or of a job, or `last`.")]
Function = TypeVar("Function", bound=Callable[..., Any])


def tool(server: MCPServer[Any], annotations: ToolAnnotations) -> Callable[[Function], Function]:
    """Add a function as a tool, described by its docstring without the line breaks of the source."""

    def added(function: Function) -> Function:
        told = " ".join((function.__doc__ or "").split())
        return server.tool(description=told, annotations=annotations)(function)

    return added
