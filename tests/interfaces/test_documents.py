"""Blocks of Markdown pages that are marked `run` are run: exit codes, and the lines that they
show.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import fences
import pytest
import yaml

from benchmarks.command import bench
from reenact.cli.edge import guarded
from reenact.cli.main import VERBS, reenact
from warm import warm_python_of_commands

pytestmark = pytest.mark.usefixtures("warm_python")

BENCHMARKS = ["python", "-m", "benchmarks"]
ROOT = fences.ROOT
PAGES = fences.pages()
BLOCKS = fences.all_blocks()
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@dataclass(frozen=True)
class Shown:
    """One command and what the page shows of its output."""

    words: tuple[str, ...]
    code: int
    lines: tuple[str, ...]


def shown(block: fences.Block) -> list[Shown]:
    """The commands of a block; `exit=1,0` is one code after the other, the last for all that
    follow.
    """
    codes = [int(code) for code in block.given("exit") or ("0",)]
    found = []
    for at, part in enumerate(block.body.split("$ ")[1:]):
        command, *lines = part.strip().splitlines()
        code = codes[min(at, len(codes) - 1)]
        found.append(
            Shown(
                tuple(fences.words(command)),
                code,
                tuple(line.strip() for line in lines),
            )
        )
    return found


def test_the_pages_are_found() -> None:
    names = {fences.named(page) for page in PAGES}
    assert {
        "README.md",
        "docs/repair.md",
        "skills/reenact/SKILL.md",
        "examples/broken/README.md",
    } <= names
    assert not any(name.startswith("docs/faults/") for name in names)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.kind == "console run"], ids=str
)
def test_commands_do_what_their_page_shows(
    block: fences.Block,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = shown(block)
    assert commands
    if "reenact test-hypothesis" in block.body:
        # A box has no warm interpreter.
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    for one in commands:
        is_benchmark = list(one.words[:3]) == BENCHMARKS
        assert is_benchmark or one.words[0] == "reenact"
        code = (
            guarded(bench, list(one.words[3:]))
            if is_benchmark
            else guarded(reenact, list(one.words[1:]))
        )
        printed = capfd.readouterr()
        assert code == one.code, (one.words, printed.err)
        for line in one.lines:
            assert flat(line) in flat(printed.out), one.words


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "page",
    sorted({block.page for block in BLOCKS if block.kind == "python run"}),
    ids=str,
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, folder: Path) -> None:
    bodies = [block.body for block in BLOCKS if block.page == page and block.kind == "python run"]
    (folder / "page.py").write_text("\n".join(bodies))
    ended = subprocess.run(
        [warm_python_of_commands(), "page.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("page", PAGES, ids=fences.named)
def test_links_lead_somewhere(page: Path) -> None:
    broken = [
        target for target in LINK.findall(page.read_text()) if not (page.parent / target).exists()
    ]
    assert not broken


def test_every_verb_is_reported_of_somewhere() -> None:
    reported = " ".join(page.read_text() for page in PAGES)
    assert [verb for verb in VERBS if f"reenact {verb}" not in reported] == []


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
