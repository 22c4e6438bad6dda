"""Environments share files with a cache of our own, and the least recently used make way."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from reenact.cli.main import reenact
from reenact.errors import ReenactError
from reenact.sandbox.disk import tree_usage
from reenact.sandbox.environments.install import Installer, Wish, find_installer
from reenact.sandbox.environments.names import Allowed, requirement
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.stored import last_used
from reenact.types import Stop

_SPEC = importlib.util.spec_from_file_location("packages", Path(__file__).with_name("packages.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)
ALL = Allowed.usual()


@pytest.fixture
def environments(tmp_path: Path, links: Path) -> Environments:
    return Environments(tmp_path / "cache" / "environments", installer=find_installer(prefer="uv"))


def test_files_are_linked_from_a_cache_of_our_own(environments: Environments) -> None:
    one = environments.prepare((requirement("tinybeta"),), ALL)
    two = environments.prepare((requirement("tinyalpha"),), ALL)
    files = [next(made.folder.rglob("tinybeta.py")) for made in (one, two)]
    assert files[0].samefile(files[1]), "the second environment adds a thin layer, no copy"
    stored = list((environments.cache / "uv").rglob("tinybeta.py"))
    assert any(files[0].samefile(file) for file in stored)
    assert list(one.folder.rglob("__pycache__/tinybeta.*.pyc")), "no box compiles it again"
    taken = [tree_usage(made.folder, sys.maxsize).bytes for made in (one, two)]
    assert environments.disk_bytes() < sum(taken) * 2


def test_the_least_recently_used_makes_way(environments: Environments) -> None:
    old = environments.prepare((requirement("tinybeta"),), ALL)
    new = environments.prepare((requirement("tinyalpha"),), ALL)
    os.utime(old.folder / "reenact-environment.json", (1, 1))
    before = last_used(old.folder)
    environments.prepare((requirement("tinybeta"),), ALL)
    assert last_used(old.folder) > before, "asked for again is used"
    os.utime(new.folder / "reenact-environment.json", (1, 1))
    removed = environments.prune(environments.disk_bytes() - 1)
    assert [one.key for one in removed] == [new.key]
    assert environments.listing() == (old,)
    assert next(old.folder.rglob("tinybeta.py")).is_file()
    again = environments.prepare((requirement("tinyalpha"),), ALL)
    assert next(again.folder.rglob("tinyalpha.py")).is_file(), (
        "what made way is installed whole again"
    )
    environments.most_bytes = 0
    environments.prepare((requirement("tinyalpha==1.0"),), ALL)
    assert [one.key for one in environments.listing()] == [again.key], "the one in use stays"


class NoSuchBuild:
    """uv where the index of the builds of torch cannot be reached."""

    name = "uv"

    def __init__(self, installer: Installer) -> None:
        self._installer = installer
        self.backends: list[str] = []

    def resolve(self, wish: Wish, stop: Stop | None) -> tuple[str, ...]:
        self.backends.append(wish.backend)
        if wish.backend:
            raise ReenactError("The package index cannot be reached.")
        return self._installer.resolve(wish, stop)

    def install(self, pins: Sequence[str], folder: Path, wish: Wish, stop: Stop | None) -> None:
        self.backends.append(f"install {wish.backend}")
        self._installer.install(pins, folder, wish, stop)


def test_the_wanted_build_of_torch_or_the_one_at_hand(
    environments: Environments, links: Path
) -> None:
    packages.wheel(links, "torch", "2.0")
    notes: list[str] = []
    installer = NoSuchBuild(find_installer(prefer="uv"))
    environments = replace(
        environments,
        installer=installer,
        backend="cpu",
        tell=lambda progress: notes.append(progress.note),
    )
    assert environments.prepare((requirement("torch"),), ALL).packages == ("torch==2.0",)
    assert installer.backends == ["", "cpu", "install "]
    assert "no cpu build of torch can be had; the newest build at hand is taken" in notes
    environments.prepare((requirement("tinybeta"),), ALL)
    assert installer.backends[3:] == ["", "install "], "without torch there is nothing to choose"


def test_command_lists_and_removes(
    environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.prepare((requirement("tinybeta"),), ALL)
    monkeypatch.setenv("REENACT_CACHE_DIR", str(environments.cache.parent))
    listed = CliRunner().invoke(reenact, ["cache"])
    assert "1 environments" in listed.output, listed.output
    assert "tinybeta==1.2" in listed.output
    emptied = CliRunner().invoke(reenact, ["cache", "--prune", "0"])
    assert "removed" in emptied.output, emptied.output
    assert environments.listing() == ()
