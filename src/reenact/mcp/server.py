"""The server: tools and resources over the runs folder of the settings, on stdin and stdout."""

import difflib
import logging
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from anyio import to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool, ToolAnnotations
from pydantic import Field, ValidationError

from reenact.errors import InputError, ReenactError
from reenact.jobs import Jobs
from reenact.llm.ask import untitled
from reenact.mcp.run_service import RunService
from reenact.program.launcher import INTERPRETERS, is_python
from reenact.program.program import read_program
from reenact.version import __version__

AT_ONCE = 4
"""Jobs; each uses all cores it may."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True)
INSTRUCTIONS = """\
reenact says what is wrong with a deep-learning training, repairs it, shows reported bugs by scripts and
reproduces papers. Verdicts come from executions and statistics; do not overrule them by opinion.
`lint` reads, in a second. `diagnose`, `repair`, `reproduce_bug` and `reproduce_paper` run code, go on in the
background and answer with an id: call `result` with it until the status is finished; it holds findings, each
with its fix as a diff. A training that fails: diagnose, result, repair, result, apply. Paths count from the
folder that the server was started in.
"""
RuleWords = Annotated[tuple[str, ...], Field(description="Rules: codes, prefixes, names.")]
Name = Annotated[str, Field(description="Of a run or a job, or `last`.")]
LINE = "As typed in a shell: train.py --lr 0.1, -m pkg.train, a.ipynb, env/bin/python train.py"
Line = Annotated[str, Field(description=LINE)]
Data = dict[str, Any]
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
            says = f"{what} runs code, and this server was started to read only."
            raise InputError(says, next_step="Ask the user to start it with: reenact mcp --allow-run")

    def for_applying(self) -> None:
        """Raise InputError when the user's files may not be changed."""
        if not self.apply:
            raise InputError(
                "Applying a change writes to the user's files, and this server was not started for that.",
                next_step="Show the user the diff of the result, or ask to start the server with: reenact mcp"
                " --allow-run --allow-apply",
            )


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """A training program as an agent names it."""

    words: tuple[str, ...]
    """What stands behind our own options; the first is never one of them."""
    python: str
    """The interpreter that the line begins with; empty: the active one."""

    @classmethod
    def read(cls, line: str) -> Self:
        """Understand a line. Raises InputError, or UnreadableProgram when nothing there can be started."""
        if Path(line).is_file():
            return cls((f"./{line}" if line.startswith("-") else line,), "")
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise InputError(f"This is no command line: {error}. Received: {line!r}.") from error
        python = words[0] if words and is_python(Path(words[0]).name) else ""
        if python and python != Path(python).name:
            words[0] = "python"
        read_program(words)
        return cls(tuple(words), "" if python in INTERPRETERS else python)


class Server(MCPServer[Any]):
    """Lists its tools without what no reader needs, and says plainly which argument is wrong."""

    async def list_tools(self) -> list[Tool]:
        """All tools; their schemas without titles, which repeat the names."""
        tools = await super().list_tools()
        for one in tools:
            one.input_schema, one.output_schema = untitled(one.input_schema), untitled(one.output_schema)
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The answer of a tool."""
        known = {one.name: one.input_schema for one in await super().list_tools()}
        if name in known:
            refuse_wrong(name, arguments, known[name])
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            first = error.__cause__.errors()[0]
            where = ".".join(map(str, first["loc"]))
            given = "" if first["type"] == "missing" else f" Received: {where}={first['input']!r:.80}."
            raise ToolError(f"{name}: {where}: {first['msg']}.{given}") from error


def refuse_wrong(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise ToolError for an argument that the tool does not have: the SDK would leave it out silently."""
    known = list(schema.get("properties", {}))
    for other in (word for word in arguments if word not in known):
        near = difflib.get_close_matches(other, known, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise ToolError(f"{name} has no argument {other!r}; it takes {', '.join(known)}.{meant}")


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

        server.tool(description=" ".join((function.__doc__ or "").split()), annotations=annotations)(called)
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

    server = Server(
        "reenact", title="reenact", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    service = RunService(runs_dir, Jobs(runs_dir, at_once=AT_ONCE))
    starter = Starter(service, permits)
    add_reading(server, service)
    add_starting(server, starter)
    add_following(server, starter)
    add_answering(server, service)
    add_resources(server, service)
    return server


def serve(runs_dir: Path, permits: Permits) -> None:
    """Serve one client until it goes away, or Ctrl-C."""
    # A task that Ctrl-C meets in its last moments is reported there, with a traceback.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with suppress(KeyboardInterrupt):
        make_server(runs_dir, permits).run("stdio")
