"""The server: tools and resources over the runs folder of the settings, on stdin and stdout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Annotated, Any, TypeVar

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from reenact.errors import InputError, ReenactError
from reenact.jobs import Jobs
from reenact.mcp.run_service import RunService
from reenact.version import __version__

AT_ONCE = 4
"""Jobs; each uses all cores it may."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True)
INSTRUCTIONS = """\
reenact says what is wrong with a deep-learning training, repairs it, shows reported bugs by scripts and
reproduces papers. Verdicts come from executions and statistics; do not overrule them by opinion.
Start with `diagnose` (reads only, fast). What must run is started by start_* and answers with ids: then
`poll` until the status is finished, then `result`. Runs are recorded: the same start continues them.
Paths count from the folder that the server was started in.
"""
RuleWords = Annotated[tuple[str, ...], Field(description="Codes, prefixes, names or families of rules.")]
Name = Annotated[str, Field(description="Id of a run or of a job, or `last`.")]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Permits:
    """What the person who started the server allows; reading always is. No tool can change it."""

    run: bool = False
    """Start trainings, scripts and whole pipelines: the user's programs run as the user."""
    apply: bool = False
    """Write a verified change into the user's files."""

    def for_running(self, what: str) -> None:
        """Raise InputError when nothing may be run."""
        if not self.run:
            raise InputError(
                f"{what} runs code, and this server was started to read only.",
                next_step="Ask the user to start it with: reenact mcp --allow-run",
            )

    def for_applying(self) -> None:
        """Raise InputError when the user's files may not be changed."""
        if not self.apply:
            raise InputError(
                "Applying a change writes to the user's files, and this server was not started for that.",
                next_step="Show the user the diff of the result, or ask for --allow-run --allow-apply.",
            )


def tool(server: MCPServer[Any], annotations: ToolAnnotations) -> Callable[[Function], Function]:
    """Add a function as a tool, described by its docstring without the line breaks of the source.

    What goes wrong in it reaches the agent as the message that a person would read.
    """

    def added(function: Function) -> Function:
        @wraps(function)
        async def called(*args: Any, **given: Any) -> Any:
            try:
                if iscoroutinefunction(function):
                    return await function(*args, **given)
                return await to_thread.run_sync(partial(function, *args, **given))
            except ReenactError as error:
                raise ToolError(f"{error.sentence} {error.next_step}".strip()) from error

        description = " ".join((function.__doc__ or "").split())
        server.tool(description=description, annotations=annotations)(called)
        return function

    return added


@contextmanager
def found_or_missing() -> Iterator[None]:
    """A run or rule that does not exist is a resource that is not found."""
    try:
        yield
    except ReenactError as error:
        raise ResourceNotFoundError(error.sentence) from error


def make_server(runs_dir: Path, permits: Permits) -> MCPServer[Any]:
    """The server with all its tools; nothing is started yet."""
    from reenact.mcp.reading import add_reading, add_resources
    from reenact.mcp.starting import Starter, add_answering, add_following, add_starting

    server: MCPServer[Any] = MCPServer(
        "reenact", title="reenact", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    service = RunService(runs_dir, Jobs(runs_dir, at_once=AT_ONCE))
    add_reading(server, service)
    starter = Starter(service, permits)
    add_starting(server, starter)
    add_following(server, starter)
    add_answering(server, service)
    add_resources(server, service)
    return server


def serve(runs_dir: Path, permits: Permits) -> None:
    """Serve one client until it goes away."""
    make_server(runs_dir, permits).run("stdio")
