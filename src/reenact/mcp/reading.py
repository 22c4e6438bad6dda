"""Tools and resources that read: nothing is run but our own reading, nothing is written."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from pydantic import Field

from reenact.api import hyperparameters, lint, list_rules, load_run
from reenact.api.reference import explain as meaning_of
from reenact.errors import ReenactError
from reenact.mcp.answers import RunList, RunResult, shortened
from reenact.mcp.run_service import RunService
from reenact.mcp.server import READS, Name, RuleWords, as_tool_errors, tool
from reenact.mcp.starting import checked_file
from reenact.plain import plain
from reenact.report.rule_pages import index, page, rule_data

MOST = 50
MARKDOWN, JSON = "text/markdown", "application/json"
Paths = Annotated[list[str], Field(min_length=1, description="Files, notebooks or folders.")]


def add_reading(server: MCPServer[Any], service: RunService) -> None:
    """diagnose, knobs, rules, explain, runs, result."""

    @tool(server, READS)
    def diagnose(paths: Paths, select: RuleWords = (), ignore: RuleWords = ()) -> dict[str, Any]:
        """Say what the text of training programs alone shows to be wrong: verdict, findings (code, file,
        line, message, change), files that could not be parsed. Nothing is run: takes a second or so. For
        what only a run shows use start_diagnose."""
        with as_tool_errors():
            result = lint(*map(checked_file, paths), select=select, ignore=ignore)
        return {"verdict": result.sentence, **shortened(result.to_dict(), items=MOST)}

    @tool(server, READS)
    def knobs(program: Annotated[str, Field(description="A script or a notebook.")]) -> dict[str, Any]:
        """List the hyperparameters of a training program: value, place, what else each could be."""
        with as_tool_errors():
            data = hyperparameters(checked_file(program)).to_dict()
        written = [knob for knob in _dicts(data["knobs"]) if knob["written"] != "absent"]
        wanted = ("name", "kind", "where", "value", "alternatives", "changeable")
        shown = [{name: knob[name] for name in wanted} for knob in written]
        return {"framework": data["framework"], "knobs": shortened(shown, items=len(shown))}

    @tool(server, READS)
    def rules(words: RuleWords = ()) -> dict[str, Any]:
        """List the rules that diagnose a training; without words all of them."""
        with as_tool_errors():
            return {"rules": [rule_data(rule) for rule in list_rules(*words)]}

    @tool(server, READS)
    def explain(word: str) -> str:
        """Explain a rule's code, a fault type, an exit code, a setting or any word that reenact prints."""
        with as_tool_errors():
            return plain(meaning_of(word))

    @tool(server, READS)
    def runs(
        command: Annotated[str, Field(description="diagnose, repair, bug, paper; empty: all.")] = "",
        search: str = "",
        limit: Annotated[int, Field(ge=1, le=MOST)] = 10,
    ) -> RunList:
        """List recorded runs, newest first."""
        with as_tool_errors():
            total, listed = service.listed(command=command or None, search=search or None, limit=limit)
        return RunList(total=total, runs=listed)

    @tool(server, READS)
    def result(id: Name) -> RunResult:  # noqa: A002  the word that every answer uses
        """The result of a run: verdict, findings, diff or script, shortened to what fits."""
        with as_tool_errors():
            status = service.status(id)
            run = load_run(status.id, runs_dir=service.runs_dir) if status.id else None
        short = shortened(run.result, status.command) if run is not None else {"output": status.output}
        return RunResult(
            id=status.id,
            command=status.command,
            status=status.status,
            verdict=status.verdict,
            exit_code=status.exit_code,
            reused=run.reused if run is not None else "",
            result=short if isinstance(short, dict) else {"verdict": short},
        )


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

        try:
            return page(named(code))
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error

    @server.resource("reenact://runs", mime_type=JSON)
    def runs() -> str:
        """The newest recorded runs."""
        total, listed = service.listed(command=None, search=None, limit=MOST)
        return json.dumps({"total": total, "runs": [run.model_dump() for run in listed]})

    @server.resource("reenact://runs/{id}", mime_type=JSON)
    def run(id: str) -> str:  # noqa: A002
        """The state of a run."""
        try:
            return service.status(id).model_dump_json()
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error

    @server.resource("reenact://runs/{id}/result", mime_type=JSON)
    def result(id: str) -> str:  # noqa: A002
        """The whole result of a run."""
        try:
            return json.dumps(load_run(id, runs_dir=service.runs_dir).result)
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error


def _dicts(value: Any) -> list[dict[str, Any]]:
    return list(value)
