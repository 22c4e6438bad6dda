"""Reading tools and resources, and what a server without a flag refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from mcp import Client, MCPError

BROKEN = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
for epoch in range(12):
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    (folder / "train.py").write_text(BROKEN)
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path, talk: Callable[..., Any]) -> dict[str, Any]:
    """One conversation with a server that was given no flag."""

    async def conversation(client: Client) -> dict[str, Any]:
        call = client.call_tool
        status: dict[str, Any] = {
            "tools": (await client.list_tools()).tools,
            "templates": (await client.list_resource_templates()).resource_templates,
            "diagnose": await call("diagnose", {"paths": ["train.py"]}),
            "knobs": await call("knobs", {"program": "train.py"}),
            "rules": await call("rules", {"words": ["RE010"]}),
            "explain": await call("explain", {"word": "RE010"}),
            "runs": await call("runs", {}),
            "rule": (await client.read_resource("reenact://rules/RE010")).contents[0],
            "no such file": await call("diagnose", {"paths": ["nowhere.py"]}),
            "an option": await call("diagnose", {"paths": ["--select=RE010"]}),
            "no such run": await call("poll", {"id": "nobody"}),
            "start_diagnose": await call("start_diagnose", {"program": "train.py"}),
            "start_repair": await call("start_repair", {"program": "train.py", "apply": True}),
            "start_bug": await call("start_bug", {"report": "train.py", "repo": "."}),
            "resume": await call("resume", {"id": "last"}),
        }
        with pytest.raises(MCPError) as error:
            await client.read_resource("reenact://rules/ZZ999")
        status["no such rule"] = str(error.value)
        return status

    found: dict[str, Any] = talk(folder, (), conversation)
    return found


def test_every_tool_says_what_it_takes_and_what_it_answers(answers: dict[str, Any]) -> None:
    names = {tool.name for tool in answers["tools"]}
    assert {"diagnose", "explain", "knobs", "rules", "runs", "poll", "stop", "result", "resume"} <= names
    assert {"start_diagnose", "start_repair", "start_bug", "start_paper", "request", "answer"} <= names
    for tool in answers["tools"]:
        assert tool.description, tool.name
        assert tool.output_schema, tool.name
        assert tool.annotations is not None, tool.name


def test_a_diagnosis_names_rule_line_and_change(answers: dict[str, Any]) -> None:
    status = answers["diagnose"].structured_content
    by_code = {one["code"]: one for one in status["findings"]}
    assert by_code["UM005"]["line"] == 5
    assert by_code["UM005"]["file"] == "train.py"
    assert "learning-rate" in by_code["UM005"]["change"]
    assert "RE010" in by_code
    assert answers["diagnose"].is_error is False


def test_knobs_have_places_and_alternatives(answers: dict[str, Any]) -> None:
    status = answers["knobs"].structured_content
    assert status["framework"] == "torch"
    rate = next(knob for knob in status["knobs"] if knob["kind"] == "learning-rate")
    assert (rate["value"], rate["where"].partition(":")[0], rate["changeable"]) == (10.0, "train.py", True)
    assert rate["alternatives"]


def test_rules_and_words_are_explained(
    answers: dict[str, Any], text_of: Callable[[CallToolResult], str]
) -> None:
    (rule,) = answers["rules"].structured_content["rules"]
    assert (rule["code"], rule["name"]) == ("RE010", "gradients-not-cleared")
    assert "gradients-not-cleared" in text_of(answers["explain"])
    assert answers["rule"].text.startswith("# RE010 gradients-not-cleared")
    assert answers["rule"].mime_type == "text/markdown"
    assert "ZZ999" in answers["no such rule"]


def test_runs_have_addresses(answers: dict[str, Any]) -> None:
    status = {template.uri_template for template in answers["templates"]}
    assert {"reenact://runs/{id}", "reenact://runs/{id}/result", "reenact://rules/{code}"} <= status
    assert answers["runs"].structured_content == {"total": 0, "runs": []}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("no such file", "There is no such file. Received: 'nowhere.py'."),
        ("an option", "There is no such file. Received: '--select=RE010'."),
        ("no such run", "No run has been recorded here"),
        ("start_diagnose", "runs code, and this server was started to read only."),
        ("start_repair", "Applying a change writes to the user's files"),
        ("start_bug", "reenact mcp --allow-run"),
        ("resume", "runs code"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_sentence(
    answers: dict[str, Any], text_of: Callable[[CallToolResult], str], asked: str, words: str
) -> None:
    assert answers[asked].is_error is True
    assert words in text_of(answers[asked])


def test_reading_leaves_nothing_behind(answers: dict[str, Any], folder: Path) -> None:
    assert json.dumps(answers["runs"].structured_content)
    assert [path.name for path in folder.iterdir()] == ["train.py"]
