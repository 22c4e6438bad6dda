"""The command that adds an extra, for each way in which reenact can have been installed."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from reenact.errors import MissingExtra, require
from reenact.installed import DISTRIBUTION, MODULES, install_line, missing_module

FACTS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
HEAVY = ("numpy", "scipy", "optuna", "pydantic-ai", "jsonschema", "ruff", "torch", "keras")


def installed(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    installer: str = "pip",
    origin: dict[str, object] | None = None,
) -> None:
    """A record of an installation, found before that of this environment."""
    record = folder / "site" / "reenact_dl-9.9.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: 9.9\n")
    (record / "INSTALLER").write_text(f"{installer}\n")
    if origin is not None:
        (record / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(record.parent)
    monkeypatch.setattr(sys, "prefix", str(folder))


def test_the_name_is_that_of_the_project() -> None:
    assert FACTS["name"] == DISTRIBUTION
    assert list(FACTS["scripts"]) == ["reenact"]


def test_the_base_package_brings_nothing_heavy() -> None:
    needed = " ".join(FACTS["dependencies"])
    assert [name for name in HEAVY if name in needed] == []


def test_all_brings_every_part_that_a_command_may_lack() -> None:
    extras = FACTS["optional-dependencies"]
    assert extras["all"] == [f"{DISTRIBUTION}[{','.join(MODULES)}]"]
    for part in MODULES:
        assert extras[part]


def test_from_an_index_pip_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch)
    assert install_line("train") == f"pip install '{DISTRIBUTION}[train]'"


def test_what_uv_installed_uv_extends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, installer="uv")
    assert install_line("train") == f"uv pip install '{DISTRIBUTION}[train]'"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("uv-receipt.toml", "uv tool install --force"),
        ("pipx_metadata.json", "pipx install --force"),
    ],
)
def test_an_environment_of_a_tool_is_built_again_with_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str
) -> None:
    installed(tmp_path, monkeypatch)
    (tmp_path / file).touch()
    assert install_line("train") == f"{line} '{DISTRIBUTION}[all]'"


def test_from_a_clone_the_clone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    origin: dict[str, object] = {"url": clone.as_uri(), "dir_info": {}}
    installed(tmp_path, monkeypatch, origin=origin)
    assert shlex.split(install_line("web")) == ["pip", "install", f"{clone}[web]"]


def test_an_editable_one_stays_editable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin: dict[str, object] = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    installed(tmp_path, monkeypatch, origin=origin)
    assert shlex.split(install_line("web")) == ["pip", "install", "-e", f"{tmp_path}[web]"]


def test_a_wheel_that_is_gone_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin: dict[str, object] = {"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}}
    installed(tmp_path, monkeypatch, origin=origin)
    assert install_line("web") == f"pip install '{DISTRIBUTION}[web]'"


def test_from_git_the_address_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin: dict[str, object] = {"url": "ssh://host/reenact.git", "vcs_info": {"vcs": "git"}}
    installed(tmp_path, monkeypatch, origin=origin)
    asked = f"{DISTRIBUTION}[web] @ git+ssh://host/reenact.git"
    assert shlex.split(install_line("web")) == ["pip", "install", asked]


def test_a_part_that_is_missing_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch)
    monkeypatch.setitem(MODULES, "train", ("sys", "no_such_module"))
    assert missing_module("train") == "no_such_module"
    with pytest.raises(MissingExtra, match="no_such_module") as caught:
        require("web", "train")
    assert caught.value.next_step == f"pip install '{DISTRIBUTION}[train]'"


def test_a_part_that_is_there_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "train", ("sys",))
    require("train")
