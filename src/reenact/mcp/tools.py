"""What every tool of the server is made with: its types, how a program is named, what may be run,
and how a function becomes a tool.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from reenact.errors import InputError, ReenactError
from reenact.program.program import read_program
from reenact.program.syntax.launcher import INTERPRETERS, is_python

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True)
RuleWords = Annotated[
    tuple[str, ...], Field(description="Faults and detectors: codes, prefixes, names.")
]
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
            raise InputError(
                says, next_step="Ask the user to start it with: reenact mcp --allow-run"
            )

    def for_applying(self) -> None:
        """Raise InputError when the user's files may not be changed."""
        if not self.apply:
            says = (
                "Applying a change writes to the user's files, and this server was not started for "
                "that."
            )
            asked = "ask to start the server with: reenact mcp --allow-run --allow-apply"
            raise InputError(says, next_step=f"Show the user the diff of the result, or {asked}")


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """A training program as an agent names it."""

    words: tuple[str, ...]
    """What is behind our own options; the first is never one of them."""
    python: str
    """The interpreter that the line begins with; empty: the active one."""

    @classmethod
    def read(cls, line: str) -> Self:
        """Understand a line. Raises InputError, or UnreadableProgram when nothing there can be
        started.
        """
        if Path(line).is_file():
            return cls(
                (f"./{line}" if line.startswith("-") else line,),
                "",
            )
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise InputError(f"This is not a command line: {error}. Received: {line!r}.") from error
        python = ""
        if words and is_python(Path(words[0]).name):
            python = words[0]
        if python and python != Path(python).name:
            words[0] = "python"
        read_program(words)
        return cls(
            tuple(words),
            "" if python in INTERPRETERS else python,
        )


def tool(
    server: MCPServer[Any],
    annotations: ToolAnnotations,
) -> Callable[[Function], Function]:
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

        server.tool(
            description=" ".join((function.__doc__ or "").split()),
            annotations=annotations,
        )(called)
        return function

    return added
