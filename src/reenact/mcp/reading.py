"""Tools and resources that read: nothing is run but our own reading, nothing is written."""

import json
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from reenact.api.linting import lint as lint_files
from reenact.api.reference import explain as meaning_of
from reenact.api.reference import hyperparameters as hyperparameters_in
from reenact.api.reference import list_rules, load_run
from reenact.mcp.run_service import RunService, shortened
from reenact.mcp.server import READS, Data, Line, ProgramLine, RuleWords, found_or_missing, tool
from reenact.plain import plain
from reenact.program.program import read_program
from reenact.report.rule_pages import index, page

MOST = 50
MARKDOWN, JSON = "text/markdown", "application/json"
SOURCES = (".py", ".ipynb")


def add_reading(server: MCPServer[Any], service: RunService) -> None:
    """lint, hyperparameters, explain, runs."""

    @tool(server, READS)
    def lint(program: Line, select: RuleWords = (), ignore: RuleWords = ()) -> Data:
        """Say what the text of a training program, or of a folder of them, shows to be wrong: findings with
        code, place, message, fix. Nothing is run. What only a run shows: diagnose."""
        result = lint_files(*source_files(program), select=select, ignore=ignore)
        return {"verdict": result.sentence, **shortened(result.to_dict(), items=MOST)}

    @tool(server, READS)
    def hyperparameters(program: Line) -> Data:
        """List the hyperparameters of a training program: value, place, what else each could be."""
        data = hyperparameters_in(ProgramLine.read(program).words).to_dict()
        listed: Any = data["knobs"]
        written = [knob for knob in listed if knob["written"] != "absent"]
        wanted = ("name", "kind", "where", "value", "alternatives", "changeable")
        shown = [{name: knob[name] for name in wanted} for knob in written]
        return {"framework": data["framework"], "hyperparameters": shortened(shown, items=len(shown))}

    @tool(server, READS)
    def explain(word: str) -> str:
        """Explain a rule's code, a fault type, an exit code, a setting, or a word such as zero_grad."""
        return plain(meaning_of(word))

    @tool(server, READS)
    def runs(
        command: Annotated[str, Field(description="diagnose, repair, bug, paper; empty: all.")] = "",
        search: str = "",
        limit: Annotated[int, Field(ge=1, le=MOST)] = 10,
    ) -> Data:
        """List recorded runs, newest first."""
        total, listed = service.listed(command=command or None, search=search or None, limit=limit)
        return {"total": total, "runs": [run.model_dump() for run in listed]}


def source_files(program: str) -> list[str]:
    """The files that a linter reads: those below a folder, or the program's own."""
    if Path(program).is_dir():
        return [f"./{program}" if program.startswith("-") else program]
    found, here = read_program(ProgramLine.read(program).words), Path.cwd().resolve()
    paths = [found.folder.resolve() / file.path for file in found.files if file.path.suffix in SOURCES]
    return [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths]


def add_resources(server: MCPServer[Any], service: RunService) -> None:
    """reenact://rules, reenact://rules/CODE, reenact://runs, reenact://runs/ID, reenact://runs/ID/result."""

    @server.resource("reenact://rules", mime_type=MARKDOWN)
    def rules() -> str:
        """All rules, by family."""
        return index(list_rules())

    @server.resource("reenact://rules/{code}", mime_type=MARKDOWN)
    def rule(code: str) -> str:
        """What a rule sees, why it is wrong, an example and what to write instead."""
        from reenact.rules.registry import rule as named

        with found_or_missing():
            return page(named(code))

    @server.resource("reenact://runs", mime_type=JSON)
    def runs() -> str:
        """The newest recorded runs."""
        total, listed = service.listed(command=None, search=None, limit=MOST)
        return json.dumps({"total": total, "runs": [run.model_dump() for run in listed]})

    @server.resource("reenact://runs/{id}", mime_type=JSON)
    def run(id: str) -> str:  # noqa: A002
        """The state of a run."""
        with found_or_missing():
            return service.status(id).model_dump_json()

    @server.resource("reenact://runs/{id}/result", mime_type=JSON)
    def result(id: str) -> str:  # noqa: A002
        """The whole result of a run."""
        with found_or_missing():
            return json.dumps(load_run(id, runs_dir=service.runs_dir).result)
