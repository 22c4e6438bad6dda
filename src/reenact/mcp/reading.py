"""Tools that read: nothing is run but our own reading, nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from reenact.journal import JournalReader
from reenact.mcp.answers import (
    Diagnosed,
    Found,
    HyperparameterAnswer,
    HyperparametersAnswer,
    ResultTold,
    RulesTold,
    RuleTold,
    RunsTold,
)
from reenact.mcp.brief import in_brief
from reenact.mcp.command import asked, printed
from reenact.mcp.permits import in_sentences
from reenact.mcp.run_service import RunService
from reenact.mcp.tools import READS, Name, Words, tool
from reenact.mcp.words import checked_file, options
from reenact.report.run_words import reused_in
from reenact.report.stored import Stored
from reenact.report.views import result_data

MOST = 50
Paths = Annotated[list[str], Field(min_length=1, description="Files, notebooks or folders.")]


def add_reading(server: MCPServer[Any], service: RunService) -> None:
    """diagnose, hyperparameters, rules, explain, runs, result."""

    @tool(server, READS)
    def diagnose(paths: Paths, select: Words = (), ignore: Words = ()) -> Diagnosed:
        """Say what the text of training programs alone shows to be wrong. Nothing is run: takes a second or
        so. For what only a run shows use start_diagnose."""
        with in_sentences():
            files = [checked_file(path) for path in paths]
            chosen = options({"select": select, "ignore": ignore})
            return _diagnosed(asked(("lint", *chosen), "--", *files))

    @tool(server, READS)
    def knobs(program: Annotated[str, Field(description="A script or a notebook.")]) -> HyperparametersAnswer:
        """List the hyper-parameters of a training program: value, place, what else each could be."""
        with in_sentences():
            data = asked(("params",), checked_file(program))["data"]
        found = [_hyperparameter(one) for one in data["knobs"] if one["written"] != "absent"]
        return HyperparametersAnswer(framework=data["framework"], knobs=found)

    @tool(server, READS)
    def rules(words: Words = ()) -> RulesTold:
        """List the rules that diagnose a training; without words all of them."""
        with in_sentences():
            found = asked(("rules",), "--", *words)["data"]
        return RulesTold(
            rules=[RuleTold(**{name: one[name] for name in RuleTold.model_fields}) for one in found]
        )

    @tool(server, READS)
    def explain(word: str) -> str:
        """Explain a rule's code, a fault type, an exit code, a setting or any word that reenact prints."""
        with in_sentences():
            return printed(("explain", "--", word))

    @tool(server, READS)
    def runs(
        story: Annotated[str, Field(description="diagnose, repair, bug, paper; empty: all.")] = "",
        search: str = "",
        limit: Annotated[int, Field(ge=1, le=MOST)] = 10,
    ) -> RunsTold:
        """List recorded runs, newest first."""
        with in_sentences():
            total, found = service.listed(story=story or None, search=search or None, limit=limit)
        return RunsTold(total=total, runs=found)

    @tool(server, READS)
    def result(id: Name) -> ResultTold:  # noqa: A002  the word that every answer uses
        """What came of a run: verdict, findings, diff or script, cut down to what fits."""
        with in_sentences():
            return _result(service, id)


def _result(service: RunService, name: str) -> ResultTold:
    told = service.told(name)
    if not told.id:
        return ResultTold(
            id="", story=told.story, status=told.status, verdict=told.verdict, exit_code=told.exit_code,
            result={"said": told.said},
        )  # fmt: skip
    with JournalReader.open(service.runs_dir) as shelf:
        run = shelf.find(told.id)
        found, reused = (
            in_brief(told.story, result_data(Stored(shelf, run, service.runs_dir))),
            reused_in(run, shelf),
        )
    return ResultTold(
        id=told.id, story=told.story, status=told.status, verdict=told.verdict, exit_code=told.exit_code,
        reused=reused, result=found,
    )  # fmt: skip


def _diagnosed(document: Mapping[str, Any]) -> Diagnosed:
    data = document["data"]
    found = [_found(one) for one in data["findings"]]
    return Diagnosed(
        verdict=document["verdict"],
        findings=found[:MOST],
        unread=[one["file"] for one in data["unread"]],
        left_out=max(0, len(found) - MOST),
    )


def _found(one: Mapping[str, Any]) -> Found:
    first = one["witnesses"][0]
    change = next((f"{each['knob']} = {each['new']}" for each in one["suggestions"] if each["knob"]), None)
    return Found(
        code=first["code"],
        name=first["name"],
        file=one["file"],
        line=one["line"] or 1,
        confidence=one["confidence"],
        message=f"{first['saw']}. {first['why']}",
        fault=one["fault"],
        change=change,
    )


def _hyperparameter(one: Mapping[str, Any]) -> HyperparameterAnswer:
    return HyperparameterAnswer(
        id=one["name"],
        kind=one["kind"],
        where=one["where"],
        value=one["value"],
        alternatives=one["alternatives"][:6],
        changeable=one["changeable"],
    )
