"""A claim of an agent over stdio: its edit and its check as text, executed in the background."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from mcp import Client
from reenact.mcp.starting import filed_texts
from tests.claims.conftest import CHECK, FIX, RETURNS

AT_WORK = ("starting", "running")
ROUNDS = 40
CLAIM = "--fresh: the first step has the most to come"
GIVEN = {
    "program": "train.py",
    "claim": CLAIM,
    "edit": FIX,
    "check": CHECK,
    "effect": False,
}
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, talk: Callable[..., Any]) -> Answer:
    folder = tmp_path_factory.mktemp("claimed")
    (folder / "train.py").write_text(RETURNS)

    async def ended(client: Client, started: CallToolResult) -> Answer:
        name = started.structured_content["job"]
        for _ in range(ROUNDS):
            status = await client.call_tool("result", {"id": name, "wait_s": 10})
            if status.structured_content["status"] not in AT_WORK:
                return dict(status.structured_content)
        raise AssertionError(f"{name} does not end: {status}")

    async def conversation(client: Client) -> Answer:
        call = client.call_tool
        holds = CHECK.replace("1.0 + 0.5 + 0.25", "1.0")
        return {
            "shown": await ended(client, await call("test_hypothesis", GIVEN)),
            "holds": await ended(
                client, await call("test_hypothesis", {**GIVEN, "check": holds, "second": FIX})
            ),
            "no edit": await ended(
                client, await call("test_hypothesis", {**GIVEN, "edit": "nothing"})
            ),
        }

    found: Answer = talk(folder, ("--allow-run",), conversation)
    return found | {"folder": folder}


def test_status_and_reason_come_with_what_was_seen(answers: Answer) -> None:
    status = answers["shown"]
    assert (status["command"], status["status"]) == ("test-hypothesis", "finished"), status
    result = status["result"]
    assert result["status"] == "remark"
    assert "What that costs was not measured" in result["reason"]
    assert set(result["red"]) == {"observed 1, reference 1.75"}
    assert set(result["green"]) == {"observed 1.75, reference 1.75"}
    assert "red on the program: passed (observed 1, reference 1.75)" in result["gates"]
    assert not {"claim", "diff", "effect"} & set(result)


def test_a_claim_that_does_not_hold_names_the_gate(answers: Answer) -> None:
    result = answers["holds"]["result"]
    assert result["status"] == "refuted"
    assert result["gates"][-1].startswith("red on the program: NOT PASSED (the property holds")


def test_an_edit_that_is_none_is_a_sentence(answers: Answer) -> None:
    status = answers["no edit"]
    assert (status["status"], status["exit_code"]) == ("failed", 2)
    assert "There is no change in this edit." in status["verdict"]


def test_texts_lie_in_files_of_the_owner_alone(answers: Answer) -> None:
    folder = answers["folder"] / ".reenact" / "mcp" / "claims"
    names = sorted(path.name.partition("-")[0] for path in folder.iterdir())
    assert names == ["check", "check", "edit", "edit", "second"]
    for path in [folder, *folder.iterdir()]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_the_same_text_is_the_same_file(tmp_path: Path) -> None:
    first = filed_texts(tmp_path, {"edit": FIX, "check": CHECK})
    assert filed_texts(tmp_path, {"edit": FIX, "check": CHECK}) == first
    assert filed_texts(tmp_path, {"edit": FIX + " "})["edit"] != first["edit"]
    assert Path(first["check"]).read_text() == CHECK
    assert first["check"].endswith(".py")
