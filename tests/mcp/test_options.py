"""No text of a tool becomes a flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.mcp.run_service import relay_of
from reenact.mcp.starting import checked_file, model_words, options


def test_values_are_glued_to_their_options() -> None:
    given = {
        "metric": "--apply",
        "select": ["NL", "--x"],
        "apply": True,
        "branch": "",
        "seeds": 6,
        "data": None,
    }
    assert options(given) == ["--metric=--apply", "--select=NL", "--select=--x", "--apply", "--seeds=6"]


def test_a_file_that_looks_like_an_option_is_named_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--apply").touch()
    assert checked_file("--apply") == "./--apply"
    with pytest.raises(InputError, match="no such file"):
        checked_file("--branch")


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
