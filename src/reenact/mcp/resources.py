"""Runs and rules by address, for clients that attach them to a conversation."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from reenact.errors import ReenactError
from reenact.journal import JournalReader
from reenact.mcp.run_service import RunService
from reenact.report.stored import Stored
from reenact.report.views import result_data

MARKDOWN, JSON = "text/markdown", "application/json"
LISTED = 50


def add_resources(server: MCPServer[Any], service: RunService) -> None:
    """reenact://rules, reenact://rules/CODE, reenact://runs, reenact://runs/ID, reenact://runs/ID/result."""

    @server.resource("reenact://rules", mime_type=MARKDOWN)
    def rules() -> str:
        """All rules, by family."""
        from reenact.report.rule_pages import index
        from reenact.rules.registry import all_rules

        return index(all_rules())

    @server.resource("reenact://rules/{code}", mime_type=MARKDOWN)
    def rule(code: str) -> str:
        """What a rule sees, why it is wrong, an example and what to write instead."""
        from reenact.report.rule_pages import page
        from reenact.rules.registry import rule as named

        try:
            return page(named(code))
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error

    @server.resource("reenact://runs", mime_type=JSON)
    def runs() -> str:
        """The newest recorded runs."""
        total, found = service.listed(story=None, search=None, limit=LISTED)
        return json.dumps({"total": total, "runs": [one.model_dump() for one in found]})

    @server.resource("reenact://runs/{id}", mime_type=JSON)
    def run(id: str) -> str:  # noqa: A002
        """How a run stands."""
        try:
            return service.told(id).model_dump_json()
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error

    @server.resource("reenact://runs/{id}/result", mime_type=JSON)
    def result(id: str) -> str:  # noqa: A002
        """All that a story noted at its end."""
        try:
            with JournalReader.open(service.runs_dir) as shelf:
                return json.dumps(result_data(Stored(shelf, shelf.find(id), service.runs_dir)))
        except ReenactError as error:
            raise ResourceNotFoundError(error.sentence) from error
