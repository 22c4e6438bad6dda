"""No text of a tool becomes a flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.mcp.run_service import relay_of
from reenact.mcp.starting import model_words, options
from reenact.mcp.tools import ProgramLine


def test_values_are_glued_to_their_options() -> None:
    given = {
        "metric": "--apply",
        "select": ["NL", "--x"],
        "apply": True,
        "branch": "",
        "seeds": 6,
        "data": None,
    }
    assert options(given) == [
        "--metric=--apply",
        "--select=NL",
        "--select=--x",
        "--apply",
        "--seeds=6",
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "my train.py", "--apply"):
        (tmp_path / name).write_text("print(1)\n")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text("print(1)\n")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "words", "python"),
    [
        ("train.py --lr '0.1 '", ("train.py", "--lr", "0.1 "), ""),
        ("my train.py", ("my train.py",), ""),
        ("-m pkg.train --epochs 3", ("-m", "pkg.train", "--epochs", "3"), ""),
        ("python train.py", ("python", "train.py"), ""),
        (
            "env/bin/python -m pkg.train",
            ("python", "-m", "pkg.train"),
            "env/bin/python",
        ),
        ("python3.12 train.py", ("python3.12", "train.py"), "python3.12"),
        ("--apply", ("./--apply",), ""),
    ],
)
def test_a_program_is_named_as_in_a_shell(
    folder: Path, line: str, words: tuple[str, ...], python: str
) -> None:
    assert folder.is_dir()
    assert ProgramLine.read(line) == ProgramLine(words, python)


@pytest.mark.parametrize(
    "line",
    ["", "--branch x train.py", "--apply train.py", "-m --apply", "/bin/sh -c ls"],
)
def test_no_program_becomes_an_option_or_another_command(folder: Path, line: str) -> None:
    assert folder.is_dir()
    with pytest.raises(InputError):
        ProgramLine.read(line)


@pytest.mark.parametrize("name", ["command:rm -rf .", "  command:x"])
def test_a_program_as_a_model_is_the_users_to_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="named by the user"):
        model_words(name, (), tmp_path)


def test_the_own_model_is_a_folder_that_the_command_decides(tmp_path: Path) -> None:
    words = model_words("mcp", ("bug", "a.md"), tmp_path)
    folder = relay_of(words, tmp_path)
    assert folder is not None
    assert words == model_words("mcp", ("bug", "a.md"), tmp_path)
    assert words != model_words("mcp", ("bug", "b.md"), tmp_path)
    assert relay_of(words, tmp_path / "other") is None
    assert relay_of(["--model=anthropic:x"], tmp_path) is None
