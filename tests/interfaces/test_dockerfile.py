"""The Dockerfile, without an engine: what it copies and starts is there, and it names no
machine.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[2]
Parse = Callable[..., click.Command]


@pytest.fixture(scope="module")
def orders() -> list[tuple[str, str]]:
    """Each instruction and its words, comments and line breaks left out."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(first, rest) for first, _, rest in (line.partition(" ") for line in lines) if first]


def of(orders: list[tuple[str, str]], name: str) -> list[str]:
    return [rest for first, rest in orders if first == name]


def test_every_path_that_is_copied_is_there(orders: list[tuple[str, str]]) -> None:
    stages = {rest.split()[-1] for rest in of(orders, "FROM") if " AS " in rest}
    copied: list[str] = []
    for rest in of(orders, "COPY"):
        *sources, _ = rest.split()
        if sources[0].startswith("--from="):
            assert sources[0].removeprefix("--from=") in stages
        else:
            copied += sources
    assert [path for path in copied if not (ROOT / path).exists()] == []
    assert {"pyproject.toml", "src"} <= set(copied)


def test_what_the_wheel_is_built_of_is_copied(orders: list[tuple[str, str]]) -> None:
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = " ".join(of(orders, "COPY")).split()
    assert facts["project"]["readme"] in copied
    assert set(facts["project"]["license-files"]) <= set(copied)


def test_it_starts_a_command_that_exists(orders: list[tuple[str, str]], parse: Parse) -> None:
    (entry,), (command,) = of(orders, "ENTRYPOINT"), of(orders, "CMD")
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert json.loads(entry)[0] in facts["scripts"]
    parse([*json.loads(entry), *json.loads(command)])
    (extras,) = [rest.partition("=")[2] for rest in of(orders, "ARG") if rest.startswith("EXTRAS=")]
    assert set(extras.split(",")) <= set(facts["optional-dependencies"])


def test_its_commands_are_known_and_its_images_are_pythons(
    orders: list[tuple[str, str]],
) -> None:
    parts = [part for rest in of(orders, "RUN") for part in re.split(r"&&|\|\||;", rest)]
    assert {shlex.split(part)[0] for part in parts} <= {
        "apt-get",
        "pip",
        "python",
        "rm",
        "useradd",
    }
    assert all(re.match(r"python:\$\{PYTHON\}-slim\b", rest) for rest in of(orders, "FROM"))
    assert of(orders, "USER")[-1] == "researcher", "what runs in it is not root"


def test_the_commands_of_its_comments_are_understood(parse: Parse) -> None:
    shown = re.findall(
        r"^#   docker run .* (reenact \w.*)$",
        (ROOT / "Dockerfile").read_text(),
        re.MULTILINE,
    )
    assert shown
    for line in shown:
        parse(shlex.split(line.partition(" (")[0]))


def test_it_names_no_machine() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert not re.search(
        r"https?://|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[\w-]+\.(?:com|org|net|io|dev)\b",
        text,
    )
