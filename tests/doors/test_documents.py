"""Commands in Markdown blocks marked `console run` are run: exit code and the lines that they show."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from reenact.cli.edge import guarded
from reenact.cli.main import VERBS, reenact

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console run(?: exit=(?P<code>\d+))?\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    path
    for folder in ("docs", "skills")
    for path in (ROOT / folder).rglob("*.md")
    if "rules" not in path.parts
)
PAGES += [ROOT / "README.md", ROOT / "AGENTS.md", *(ROOT / "examples").rglob("*.md")]
PYTHON = re.compile(r"^```python run\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@dataclass(frozen=True)
class Shown:
    """One command and what the page shows of its output."""

    words: tuple[str, ...]
    code: int
    lines: tuple[str, ...]


def shown(text: str) -> list[Shown]:
    found = []
    for block in BLOCK.finditer(text):
        for part in block["body"].split("$ ")[1:]:
            command, *lines = part.strip().splitlines()
            words = tuple(shlex.split(command, comments=True))
            found.append(Shown(words, int(block["code"] or 0), tuple(line.strip() for line in lines)))
    return found


COMMANDS = [
    pytest.param(one, id=f"{page.relative_to(ROOT)}:{' '.join(one.words)}")
    for page in PAGES
    for one in shown(page.read_text())
]


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) > 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.mark.parametrize("one", COMMANDS)
def test_a_command_does_what_its_page_shows(
    one: Shown, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert one.words[0] == "reenact"
    assert guarded(reenact, list(one.words[1:])) == one.code, capsys.readouterr().err
    printed = flat(capsys.readouterr().out)
    for line in one.lines:
        assert flat(line) in printed


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if PYTHON.search(page.read_text())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "page"}
    for block in PYTHON.finditer(page.read_text()):
        exec(compile(block["body"], str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_and_verbs_exist(page: Path) -> None:
    text = page.read_text()
    broken = [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    assert not broken
    named = set(re.findall(r"^\$ reenact ([a-z][\w-]*)", text, re.MULTILINE))
    assert named <= set(VERBS)


def test_the_skill_says_when_to_use_it() -> None:
    _, head, body = (ROOT / "skills/reenact/SKILL.md").read_text().split("---\n", 2)
    facts = yaml.safe_load(head)
    assert facts["name"] == "reenact"
    assert 100 < len(facts["description"]) <= 1024
    assert len(body.splitlines()) < 200


def test_the_page_for_agents_is_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 60


def flat(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())
