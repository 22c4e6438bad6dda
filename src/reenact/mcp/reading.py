"""Tools and resources that read: nothing is run but our own reading, nothing is written."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from reenact.api.linting import lint
from reenact.api.reference import explain as meaning_of
from reenact.api.reference import hyperparameters, list_rules
from reenact.api.runs import load_run
from reenact.mcp.run_service import RunList, RunResult, RunService, shortened
from reenact.mcp.server import READS, Name, RuleWords, found_or_missing, tool
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
        result = lint(*map(checked_file, paths), select=select, ignore=ignore)
        return {"verdict": result.sentence, **shortened(result.to_dict(), items=MOST)}

    @tool(server, READS)
    def knobs(program: Annotated[str, Field(description="A script or a notebook.")]) -> dict[str, Any]:
        """List the hyperparameters of a training program: value, place, what else each could be."""
        data = hyperparameters(checked_file(program)).to_dict()
        listed: Any = data["knobs"]
        written = [knob for knob in listed if knob["written"] != "absent"]
        wanted = ("name", "kind", "where", "value", "alternatives", "changeable")
        shown = [{name: knob[name] for name in wanted} for knob in written]
        return {"framework": data["framework"], "knobs": shortened(shown, items=len(shown))}

    @tool(server, READS)
    def rules(words: RuleWords = ()) -> dict[str, Any]:
        """List the rules that diagnose a training; without words all of them."""
        return {"rules": [rule_data(rule) for rule in list_rules(*words)]}

    @tool(server, READS)
    def explain(word: str) -> str:
        """Explain a rule's code, a fault type, an exit code, a setting or any word that reenact prints."""
        return plain(meaning_of(word))

    @tool(server, READS)
    def runs(
        command: Annotated[str, Field(description="diagnose, repair, bug, paper; empty: all.")] = "",
        search: str = "",
        limit: Annotated[int, Field(ge=1, le=MOST)] = 10,
    ) -> RunList:
        """List recorded runs, newest first."""
        total, listed = service.listed(command=command or None, search=search or None, limit=limit)
        return RunList(total=total, runs=listed)

    @tool(server, READS)
    def result(id: Name) -> RunResult:  # noqa: A002  the word that every answer uses
        """The result of a run: verdict, findings, diff or script, shortened to what fits."""
        status = service.status(id)
        run = load_run(status.id, runs_dir=service.runs_dir) if status.id else None
        short = shortened(run.result, status.command) if run is not None else {"output": status.output}
        return RunResult(
            **status.model_dump(include={"id", "command", "status", "verdict", "exit_code"}),
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
