"""The server: tools and resources over the runs folder of the settings, on stdin and stdout."""

import difflib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool
from pydantic import Field, ValidationError

from reenact.api.linting import lint as lint_files
from reenact.api.reference import explain as meaning_of
from reenact.api.reference import hyperparameters as hyperparameters_in
from reenact.api.reference import load_run
from reenact.errors import InputError, ReenactError
from reenact.jobs import Jobs
from reenact.llm.ask import untitled
from reenact.mcp.run_service import RunService, shortened, without_empty
from reenact.mcp.starting import Starter, add_answering, add_following, add_starting
from reenact.mcp.tools import READS, Data, Line, Permits, ProgramLine, RuleWords, tool
from reenact.plain import plain
from reenact.program.program import read_program
from reenact.report.fault_pages import detector_page, index, page
from reenact.version import __version__

MOST = 50
MARKDOWN = "text/markdown"
JSON = "application/json"
SOURCES = (".py", ".ipynb")
FIX_FIRST = "Apply the `fix` of the first finding, then diagnose: that runs the program."
AT_ONCE = 4
"""Jobs; each uses all cores it may."""
INSTRUCTIONS = """\
reenact says what is wrong with a deep-learning training, repairs it, shows reported bugs by scripts and
reproduces papers. Verdicts come from executions and statistics; do not overrule them by opinion.
`lint` reads, in a second. `diagnose`, `repair`, `test_hypothesis`, `reproduce_bug` and `reproduce_paper` run
code, go on in the background and answer with an id: call `result` with it until the status is finished; it
holds findings, each with its fix as a diff. A training that fails: diagnose, result, repair, result, apply.
What you think is wrong yourself: test_hypothesis. Paths count from the folder that the server was started in.
"""


class Server(MCPServer[Any]):
    """Lists its tools without what no reader needs, and says plainly which argument is wrong."""

    async def list_tools(self) -> list[Tool]:
        """All tools; their schemas without titles, which repeat the names."""
        tools = await super().list_tools()
        for one in tools:
            one.input_schema, one.output_schema = (
                untitled(one.input_schema),
                untitled(one.output_schema),
            )
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
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
            given = ""
            if first["type"] != "missing":
                given = f" Received: {where}={first['input']!r:.80}."
            raise ToolError(f"{name}: {where}: {first['msg']}.{given}") from error


def refuse_wrong(
    name: str,
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any],
) -> None:
    """Raise ToolError for an argument that the tool does not have: the SDK would leave it out
    silently.
    """
    known = list(schema.get("properties", {}))
    for other in (word for word in arguments if word not in known):
        near = difflib.get_close_matches(other, known, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise ToolError(f"{name} has no argument {other!r}; it takes {', '.join(known)}.{meant}")


@contextmanager
def found_or_missing() -> Iterator[None]:
    """A run, a fault or a detector that does not exist is a resource that is not found."""
    try:
        yield
    except ReenactError as error:
        raise ResourceNotFoundError(error.sentence) from error


def add_reading(server: MCPServer[Any], service: RunService) -> None:
    """lint, hyperparameters, explain, runs."""

    @tool(server, READS)
    def lint(program: Line, select: RuleWords = (), ignore: RuleWords = ()) -> Data:
        """Say what the text of a training program, or of a folder of them, shows to be wrong:
        findings with code, place, message, fix. Nothing is run. What only a run shows: diagnose.
        """
        result = lint_files(
            *source_files(program),
            select=select,
            ignore=ignore,
        )
        fixes = any(one.fix for one in result.findings)
        data = {
            "verdict": result.sentence,
            **without_empty(shortened(result.to_dict(), items=MOST)),
        }
        return {**data, "next": FIX_FIRST} if fixes else data

    @tool(server, READS)
    def hyperparameters(program: Line) -> Data:
        """List the hyperparameters of a training program: value, place, what else each could be."""
        data = hyperparameters_in(ProgramLine.read(program).words).to_dict()
        listed: Any = data["knobs"]
        written = [knob for knob in listed if knob["written"] != "absent"]
        wanted = ("name", "kind", "where", "value", "alternatives", "changeable")
        shown = [{name: knob[name] for name in wanted} for knob in written]
        return {
            "framework": data["framework"],
            "hyperparameters": shortened(shown, items=len(shown)),
        }

    @tool(server, READS)
    def explain(word: str) -> str:
        """Explain a fault, a detector, a fault type, an exit code, a setting, or a word such as
        zero_grad.
        """
        return plain(meaning_of(word))

    @tool(server, READS)
    def runs(
        command: Annotated[
            str, Field(description="diagnose, repair, bug, paper; empty: all.")
        ] = "",
        search: str = "",
        limit: Annotated[int, Field(ge=1, le=MOST)] = 10,
    ) -> Data:
        """List recorded runs, newest first."""
        total, listed = service.listed(
            command=command or None,
            search=search or None,
            limit=limit,
        )
        return {
            "total": total,
            "runs": [run.model_dump(exclude_none=True, exclude_defaults=True) for run in listed],
        }


def source_files(program: str) -> list[str]:
    """The files that a linter reads: those below a folder, or the program's own."""
    if Path(program).is_dir():
        return [f"./{program}" if program.startswith("-") else program]
    found = read_program(ProgramLine.read(program).words)
    here = Path.cwd().resolve()
    paths = [
        found.folder.resolve() / file.path for file in found.files if file.path.suffix in SOURCES
    ]
    if not paths:
        # Without a name the linter would read the current folder instead.
        raise InputError(
            f"No Python file or notebook to read. Received: program={program!r}.",
            next_step="Name a .py or .ipynb file, or a folder with such files.",
        )
    return [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths]


def add_resources(server: MCPServer[Any], service: RunService) -> None:
    """reenact://rules, reenact://rules/CODE, reenact://runs, reenact://runs/ID,
    reenact://runs/ID/result.
    """

    @server.resource("reenact://rules", mime_type=MARKDOWN)
    def rules() -> str:
        """All faults by category, with the detectors of each, and the published tools they are
        from.
        """
        from reenact.faults.registry import all_faults

        return index(all_faults())

    @server.resource("reenact://rules/{code}", mime_type=MARKDOWN)
    def rule(code: str) -> str:
        """A fault or a detector, by code or name: what is seen, why it is wrong, an example and
        what to write instead.
        """
        from reenact.faults.registry import detector, fault

        with found_or_missing():
            found = fault(code)
            if found is not None:
                return page(found)
            return detector_page(detector(code))

    @server.resource("reenact://runs", mime_type=JSON)
    def runs() -> str:
        """The newest recorded runs."""
        total, listed = service.listed(
            command=None,
            search=None,
            limit=MOST,
        )
        return json.dumps(
            {
                "total": total,
                "runs": [run.model_dump(exclude_none=True) for run in listed],
            }
        )

    @server.resource("reenact://runs/{id}", mime_type=JSON)
    def run(id: str) -> str:  # noqa: A002
        """The state of a run."""
        with found_or_missing():
            return service.status(id).model_dump_json(exclude_none=True)

    @server.resource("reenact://runs/{id}/result", mime_type=JSON)
    def result(id: str) -> str:  # noqa: A002
        """The whole result of a run."""
        with found_or_missing():
            return json.dumps(load_run(id, runs_dir=service.runs_dir).result)


def make_server(runs_dir: Path, permits: Permits) -> MCPServer[Any]:
    """The server with all its tools; nothing is started yet."""
    about: dict[str, Any] = {
        "title": "reenact",
        "version": __version__,
        "instructions": INSTRUCTIONS,
    }
    server = Server("reenact", log_level="WARNING", **about)
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
