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
            "lint": await call("lint", {"program": "train.py"}),
            "folder": await call("lint", {"program": "."}),
            "module": await call("lint", {"program": "python -m train --lr 3"}),
            "hyperparameters": await call("hyperparameters", {"program": "train.py --lr 3"}),
            "explain": await call("explain", {"word": "RE010"}),
            "runs": await call("runs", {}),
            "rule": (await client.read_resource("reenact://rules/RE010")).contents[0],
            "word": await call("explain", {"word": "zero_grad"}),
            "no such file": await call("lint", {"program": "nowhere.py"}),
            "no program": await call("lint", {"program": "/etc/passwd"}),
            "an option": await call("lint", {"program": "--select=RE010"}),
            "no line": await call("lint", {"program": "train.py 'x"}),
            "other argument": await call("diagnose", {"paths": ["train.py"]}),
            "no argument": await call("diagnose", {}),
            "wrong argument": await call("repair", {"program": "train.py", "seeds": "many"}),
            "no such run": await call("result", {"id": "nobody"}),
            "diagnose": await call("diagnose", {"program": "train.py"}),
            "repair": await call("repair", {"program": "train.py"}),
            "apply": await call("apply", {"id": "last"}),
            "test_hypothesis": await call(
                "test_hypothesis",
                {"program": "train.py", "claim": "x", "edit": "x", "check": "x"},
            ),
            "reproduce_bug": await call("reproduce_bug", {"report": "train.py", "repo": "."}),
            "reproduce_paper": await call("reproduce_paper", {"paper": "train.py"}),
            "resume": await call("resume", {"id": "last"}),
        }
        with pytest.raises(MCPError) as error:
            await client.read_resource("reenact://rules/ZZ999")
        status["no such rule"] = str(error.value)
        return status

    found: dict[str, Any] = talk(folder, (), conversation)
    return found


def test_every_tool_says_what_it_takes_and_what_it_answers(
    answers: dict[str, Any],
) -> None:
    names = {tool.name for tool in answers["tools"]}
    assert {"lint", "explain", "hyperparameters", "runs", "result"} <= names
    assert {"diagnose", "repair", "test_hypothesis", "resume"} <= names
    assert {"reproduce_bug", "reproduce_paper"} <= names
    assert {"apply", "stop", "request", "answer"} <= names
    for tool in answers["tools"]:
        assert tool.description, tool.name
        assert tool.output_schema, tool.name
        assert tool.annotations is not None, tool.name


def test_all_tools_together_cost_an_agent_little(answers: dict[str, Any]) -> None:
    sent = json.dumps(
        [tool.model_dump(by_alias=True, exclude_none=True) for tool in answers["tools"]]
    )
    assert len(sent) <= 12_000, f"{len(sent)} bytes"
    assert '"title"' not in sent


def test_the_name_and_the_description_say_what_runs_code_and_what_writes(
    answers: dict[str, Any],
) -> None:
    tools = {tool.name: tool for tool in answers["tools"]}
    runs = {name for name, tool in tools.items() if "RUN" in tool.description}
    training = {"diagnose", "repair", "test_hypothesis"}
    assert runs == {*training, "reproduce_bug", "reproduce_paper", "resume"}
    assert {name for name, tool in tools.items() if "WRITES" in tool.description} == {"apply"}
    for name in ("lint", "hyperparameters", "explain", "runs", "result"):
        assert tools[name].annotations.read_only_hint, name


def test_every_tool_about_a_training_takes_it_as_program(
    answers: dict[str, Any],
) -> None:
    tools = {tool.name: tool for tool in answers["tools"]}
    for name in ("lint", "hyperparameters", "diagnose", "repair"):
        assert tools[name].input_schema["required"] == ["program"], name


def test_reading_names_rule_line_change_and_fix(answers: dict[str, Any]) -> None:
    for how in ("lint", "folder", "module"):
        status = answers[how].structured_content
        by_code = {one["code"]: one for one in status["findings"]}
        assert by_code["UM005"]["line"] == 5, how
        assert by_code["UM005"]["file"] == "train.py", how
        assert "learning-rate" in by_code["UM005"]["change"], how
        assert (
            "+optimizer = torch.optim.Adam(model.parameters(), lr=0.001)" in by_code["UM005"]["fix"]
        ), how
        assert "RE010" in by_code, how
        assert answers[how].is_error is False, how


def test_hyperparameters_have_places_and_alternatives(answers: dict[str, Any]) -> None:
    status = answers["hyperparameters"].structured_content
    assert status["framework"] == "torch"
    rate = next(one for one in status["hyperparameters"] if one["kind"] == "learning-rate")
    assert (rate["value"], rate["where"].partition(":")[0], rate["changeable"]) == (
        10.0,
        "train.py",
        True,
    )
    assert rate["alternatives"]


def test_rules_and_words_are_explained(
    answers: dict[str, Any], text_of: Callable[[CallToolResult], str]
) -> None:
    assert "gradients-not-cleared" in text_of(answers["explain"])
    assert "RE010" in text_of(answers["word"])
    assert answers["rule"].text.startswith("# RE010 gradients-not-cleared")
    assert answers["rule"].mime_type == "text/markdown"
    assert "ZZ999" in answers["no such rule"]


def test_runs_have_addresses(answers: dict[str, Any]) -> None:
    status = {template.uri_template for template in answers["templates"]}
    assert {
        "reenact://runs/{id}",
        "reenact://runs/{id}/result",
        "reenact://rules/{code}",
    } <= status
    assert answers["runs"].structured_content == {"total": 0, "runs": []}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("no such file", "There is no such file. Received: nowhere.py."),
        ("an option", "There is no script in this line. Received: '--select=RE010'."),
        ("no line", "This is not a command line: No closing quotation."),
        ("no such run", "No run has been recorded here"),
        ("other argument", "diagnose has no argument 'paths'; it takes program, depth"),
        ("no argument", "diagnose: program: Field required."),
        ("wrong argument", "Received: seeds='many'."),
        ("diagnose", "reenact mcp --allow-run"),
        ("repair", "reenact mcp --allow-run"),
        ("test_hypothesis", "reenact mcp --allow-run"),
        ("reproduce_bug", "reenact mcp --allow-run"),
        ("reproduce_paper", "reenact mcp --allow-run"),
        ("resume", "reenact mcp --allow-run"),
        ("apply", "reenact mcp --allow-run --allow-apply"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_sentence(
    answers: dict[str, Any],
    text_of: Callable[[CallToolResult], str],
    asked: str,
    words: str,
) -> None:
    assert answers[asked].is_error is True
    assert words in text_of(answers[asked])


def test_reading_leaves_nothing_behind(answers: dict[str, Any], folder: Path) -> None:
    assert json.dumps(answers["runs"].structured_content)
    assert [path.name for path in folder.iterdir()] == ["train.py"]


def test_what_is_no_program_is_an_error_and_never_the_answer_of_another_folder(
    answers: dict[str, Any], text_of: Callable[[CallToolResult], str]
) -> None:
    answer = answers["no program"]
    assert answer.is_error
    assert "No Python file or notebook" in text_of(answer)
    assert "/etc/passwd" in text_of(answer)
