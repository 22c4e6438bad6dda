"""Blocks of Markdown pages that a test cannot run: why not, and that their commands and names
are there.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import inspect
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anyio
import click
import fences
import pytest

from reenact.errors import ReenactError
from reenact.mcp.server import make_server
from reenact.mcp.tools import Permits

ROOT = fences.ROOT
BLOCKS = fences.all_blocks()
INLINE = [(fences.named(page), text) for page in fences.pages() for text in fences.inline(page)]
Parse = Callable[..., click.Command]


def of_kind(*kinds: str) -> list[fences.Block]:
    return [block for block in BLOCKS if block.kind in kinds]


def test_every_block_says_how_it_is_proven() -> None:
    assert [f"{block} {' '.join(block.info)}" for block in BLOCKS if not block.kind] == []
    fence = re.compile(r"^ *(?:```|~~~)", re.MULTILINE)
    opened = sum(len(fence.findall(page.read_text())) for page in fences.written())
    assert opened == 2 * len(BLOCKS), "a fence is indented, left open, or made of ~~~"


@pytest.mark.parametrize(
    "info",
    ["", "console", "console run needs=model", "python", "text", "json run", "sh"],
)
def test_a_block_that_does_not_say_it_is_of_no_kind(info: str) -> None:
    assert fences.Block("page.md", 3, tuple(info.split()), "").kind == ""


def commands(block: fences.Block) -> list[list[str]]:
    """The words of each command, without what the shell would make of them."""
    lines = [line.removeprefix("$ ") for line in block.body.splitlines() if line.startswith("$ ")]
    words = [fences.words(line) for line in lines]
    return [line[: line.index(">")] if ">" in line else line for line in words]


TRAINS = {"diagnose", "repair", "alternatives", "watch", "mutate", "demo", "test-hypothesis"}
STAYS = {"view", "mcp"}


def reasons(words: Sequence[str]) -> Iterator[str]:
    """Why a command cannot be run in a test, as its words show it."""
    text = " ".join(words)
    if re.search(r"--model (?!replay:)|--align\b", text):
        yield "model"
    if re.search(
        r"https://|ray://|^(?:pip|uv tool) install|\b\d{4}\.\d{5}\b|\b\w+/\w+#\d+\b",
        text,
    ):
        yield "network"
    if words[0] in ("make", "python") or (
        words[1] in TRAINS and not {"static", "--help"} & {*words}
    ):
        yield "minutes"
    if words[1] in STAYS:
        yield "terminal"
    named = [word for word in words[2:] if re.fullmatch(r"[A-Z]+|last|[\w-]*[./][\w./-]*", word)]
    if any(not (ROOT / word).exists() for word in named):
        yield "yours"


@pytest.mark.parametrize("block", of_kind("console needs"), ids=str)
def test_what_is_not_run_is_understood_and_cannot_be_run(block: fences.Block, parse: Parse) -> None:
    needs, met = set(block.given("needs")), set()
    assert needs <= set(fences.NEEDS)
    lines = commands(block)
    assert lines
    for words in lines:
        known(words, parse)
        found = needs & set(reasons(words))
        assert found, f"{words} needs none of {needs}: run it"
        met |= found
    assert met == needs


def known(words: list[str], parse: Parse) -> None:
    """The program, its verb and its options exist."""
    if words[0] in ("reenact", "python"):
        parse(words)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[:2] == ["pip", "install"] or words[:3] == ["uv", "tool", "install"]:
        facts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        asked = re.fullmatch(rf"(?:\.|{facts['name']})(?:\[([\w,]+)\])?", words[-1])
        assert asked, words
        extras = asked[1].split(",") if asked[1] else []
        assert set(extras) <= set(facts["optional-dependencies"])
    else:
        assert words[0] == "git", f"no check is known for {words[0]}"
        listed = subprocess.run(
            ["git", "--list-cmds=main"], capture_output=True, text=True, check=True
        )
        assert words[1] in listed.stdout.split()


@pytest.mark.parametrize(("page", "text"), INLINE, ids=[f"{page}:{text}" for page, text in INLINE])
def test_commands_within_sentences_are_understood(page: str, text: str, parse: Parse) -> None:
    words = shlex.split(text)
    words += ["VALUE"] * words[-1].startswith("--")
    parse([re.sub(r"^\[(.*)\]$", r"\1", word) for word in words], whole=False)


@pytest.mark.parametrize(
    "words",
    [
        "reenact lnit x.py",
        "reenact lint --fast x.py",
        "reenact runs",
        "reenact report last",
        "reenact diagnose --depth huge train.py",
        "reenact completion bash zsh",
    ],
)
def test_what_does_not_exist_is_noticed(words: str, parse: Parse) -> None:
    with pytest.raises((click.UsageError, ReenactError)):
        parse(words.split())


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Every tool for agents, and the names of its arguments."""
    server = make_server(tmp_path_factory.mktemp("tools"), Permits())
    return {
        one.name: set(one.input_schema.get("properties", {}))
        for one in anyio.run(server.list_tools)
    }


@pytest.mark.parametrize("block", of_kind("python needs"), ids=str)
def test_python_that_is_not_run_names_what_is_there(
    block: fences.Block, tools: dict[str, set[str]]
) -> None:
    tree = compile(
        block.body,
        str(block),
        "exec",
        ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
    )
    names, missing = imported(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        check_call(call, names, tools)
    foreign = missing | undefined(tree) - set(tools)
    assert "reenact" not in foreign
    starts = [
        one for one in map(called, calls) if one.removeprefix("reenact.") in ("repair", "diagnose")
    ]
    found = ({"yours"} if foreign else set()) | ({"minutes"} if starts else set())
    assert set(block.given("needs")) <= found


def imported(tree: ast.AST) -> tuple[dict[str, Any], set[str]]:
    """What the block takes from reenact, and modules that are not on this machine."""
    names, missing = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node.names[0].name == "reenact":
            names["reenact"] = importlib.import_module("reenact")
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("reenact"):
            module = importlib.import_module(str(node.module))
            names.update({one.asname or one.name: getattr(module, one.name) for one in node.names})
        elif (
            isinstance(node, ast.ImportFrom) and importlib.util.find_spec(str(node.module)) is None
        ):
            missing.add(str(node.module))
    return names, missing


def undefined(tree: ast.AST) -> set[str]:
    """Names that the block uses and does not make."""
    made, used = set(dir(builtins)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.alias):
            made.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
    return used - made


def called(call: ast.Call) -> str:
    """What is called; the tool itself where a client calls one."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "call_tool":
        return str(ast.literal_eval(call.args[0]))
    return ast.unparse(call.func)


def check_call(call: ast.Call, names: dict[str, Any], tools: dict[str, set[str]]) -> None:
    """What is called is there, and takes the arguments."""
    name = called(call)
    first, *rest = name.split(".")
    if first in names:
        target = names[first]
        for part in rest:
            target = getattr(target, part)
        keywords = {str(one.arg): None for one in call.keywords}
        inspect.signature(target).bind(*call.args, **keywords)
    elif "call_tool" in ast.unparse(call.func):
        given = call.args[1]
        assert isinstance(given, ast.Dict)
        assert {ast.literal_eval(key) for key in given.keys if key is not None} <= tools[name]
    elif name in tools:
        assert {one.arg for one in call.keywords} <= tools[name]
