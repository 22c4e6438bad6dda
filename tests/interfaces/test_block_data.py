"""Blocks of Markdown pages that are data or output: held against what they configure, quote or
list.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import fences
import pytest
import yaml

from reenact.faults.registry import chosen
from reenact.llm.relay import ANSWER_FORMAT, REQUEST_FORMAT, file_answer, show_request
from warm import warm_reenact

ROOT = fences.ROOT
BLOCKS = fences.all_blocks()
GROUPS = {"reenact.faults", "reenact.strategies", "reenact.models"}
Parse = Callable[..., click.Command]


def of_kind(*kinds: str) -> list[fences.Block]:
    return [block for block in BLOCKS if block.kind in kinds]


@pytest.mark.parametrize("block", of_kind("json"), ids=str)
def test_json_is_what_its_reader_takes(block: fences.Block, parse: Parse, tmp_path: Path) -> None:
    data = json.loads(block.body)
    if "mcpServers" in data:
        server = data["mcpServers"]["reenact"]
        parse([server["command"], *server["args"]])
    elif "problemMatcher" in data:
        parse(shlex.split(data["command"]))
        check_matcher(data["problemMatcher"]["pattern"])
    elif data.get("format") == REQUEST_FORMAT:
        (tmp_path / f"{data['id']}.request.json").write_text(block.body)
        assert show_request(tmp_path, data["id"]).step == data["step"]
    else:
        assert data["format"] == ANSWER_FORMAT
        check_answer(data, block.page, tmp_path)


def check_matcher(pattern: dict[str, Any]) -> None:
    """The pattern for editors reads a line as it is printed."""
    words = ("lint", "--output-format", "concise", "examples/broken/torch_spirals.py")
    ended = subprocess.run(
        [warm_reenact(), *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = re.match(pattern["regexp"], ended.stdout.splitlines()[0])
    assert found is not None
    assert found[pattern["file"]] == words[-1]
    assert (found[pattern["line"]], found[pattern["code"]]) == ("23", "UM005")


def check_answer(answer: dict[str, Any], page: str, folder: Path) -> None:
    """An answer fits the request on the same page."""
    asked = (json.loads(block.body) for block in of_kind("json") if block.page == page)
    request = next(one for one in asked if one.get("format") == REQUEST_FORMAT)
    (folder / f"{request['id']}.request.json").write_text(json.dumps(request))
    filed = file_answer(folder, answer["id"], answer["answer"], by=answer["by"])
    assert set(json.loads(filed.read_text())) <= set(answer)


@pytest.mark.parametrize("block", of_kind("yaml"), ids=str)
def test_yaml_names_our_hook_and_inputs_of_our_action(block: fences.Block, parse: Parse) -> None:
    data = yaml.safe_load(block.body)
    if "repos" in data:
        (known,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
        (hook,) = data["repos"][0]["hooks"]
        assert hook["id"] == known["id"]
        parse([*shlex.split(known["entry"]), *hook["args"]])
    else:
        ours = next(step for step in data if "/reenact@" in step["uses"])
        assert set(ours["with"]) <= set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])


@pytest.mark.parametrize("block", of_kind("toml"), ids=str)
def test_toml_is_read(block: fences.Block) -> None:
    data = tomllib.loads(block.body)
    assert data
    assert set(data.get("project", {}).get("entry-points", {})) <= GROUPS


@pytest.mark.parametrize("page", sorted({block.page for block in of_kind("ipython")}))
def test_cells_run_up_to_the_first_name_of_the_reader(page: str, tmp_path: Path) -> None:
    cells = [block.body for block in of_kind("ipython") if block.page == page]
    session = (
        "import json, sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "ended = [shell.run_cell(cell) for cell in json.loads(sys.stdin.read())]\n"
        "errors = [repr(one.error_before_exec or one.error_in_exec) for one in ended]\n"
        "print(json.dumps(errors))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", session],
        input=json.dumps(cells),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    errors = json.loads(ended.stdout.splitlines()[-1])
    assert all(error == "None" or error.startswith("NameError") for error in errors), ended.stdout


@pytest.mark.parametrize("block", of_kind("diff of"), ids=str)
def test_a_diff_applies_to_what_it_changes(block: fences.Block) -> None:
    (file,) = block.given("of")
    lines = block.body.splitlines()
    before = "\n".join(line[1:] for line in lines if line[:1] != "+")
    after = "\n".join(line[1:] for line in lines if line[:1] != "-")
    text = (ROOT / file).read_text()
    assert text.count(before) == 1
    compile(text.replace(before, after), file, "exec")


@pytest.mark.parametrize("block", of_kind("text of"), ids=str)
def test_what_was_printed_quotes_what_stands_there(block: fences.Block) -> None:
    (file,) = block.given("of")
    text = (ROOT / file).read_text()
    assert not re.search(r"^(\$ |reenact )", block.body, re.MULTILINE), "a command is no output"
    names = {rule.code: rule.name for rule in chosen()}
    rules = re.findall(r"\b([A-Z]{2}\d{3}) ([a-z][a-z-]+)", block.body)
    assert [(code, names.get(code)) for code, _ in rules] == rules
    quoted = re.findall(r"^ +(\d+) \| (.*)$", block.body, re.MULTILINE)
    lines = text.splitlines()
    assert [lines[int(number) - 1].strip() for number, _ in quoted] == [
        code.strip() for _, code in quoted
    ]
    figures = set(re.findall(r"\d+\.\d+", block.body)) if file.endswith(".md") else set()
    assert {figure for figure in figures if figure not in text} == set()
    # Else the file has every line of it, word by word.
    assert quoted or figures or all(line in text for line in block.body.splitlines())


@pytest.mark.parametrize("block", of_kind("text tree"), ids=str)
def test_a_tree_lists_what_is_there(block: fences.Block) -> None:
    (folder,) = block.given("tree")
    body = block.body.replace(f"{folder}/", "")
    listed = re.findall(r"(?<![\w/])(\w+)/(?=\s)|\b(\w+\.py)\b", body)
    named = {package or file for package, file in listed}
    assert len(named) > 3
    assert [name for name in sorted(named) if not (ROOT / folder / name).exists()] == []
    packages = {path.name for path in (ROOT / folder).iterdir() if (path / "__init__.py").is_file()}
    if block.page == "README.md":
        assert packages - named == set()
