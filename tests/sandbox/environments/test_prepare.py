"""Prepared environments: complete or not there, from wheels alone, source distributions built
in a box.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from reenact.errors import InputError, SandboxUnavailable, Stopped
from reenact.sandbox.box import Command, Limits, Sandbox
from reenact.sandbox.environments.install import (
    Installer,
    Pip,
    Uv,
    Wish,
    find_installer,
)
from reenact.sandbox.environments.names import Allowed, ProposedBy, requirement
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.stored import locked
from reenact.sandbox.tiers.bubblewrap import Bubblewrap
from reenact.types import Progress, Stop

_PACKAGES = Path(__file__).with_name("packages.py")
_SPEC = importlib.util.spec_from_file_location("packages", _PACKAGES)
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)

ALL = Allowed.usual()


@pytest.fixture
def environments(tmp_path: Path, links: Path) -> Environments:
    return Environments(tmp_path / "cache", installer=find_installer())


def box() -> Sandbox:
    sandbox = Bubblewrap()
    if sandbox.missing():
        pytest.skip(sandbox.missing())
    return sandbox


def test_packages_and_what_they_need_are_installed_and_usable_in_a_box(
    each: Environments,
) -> None:
    made = each.prepare((requirement("tinyalpha"),), ALL)
    assert made.packages == ("tinyalpha==1.0", "tinybeta==1.2")
    assert made.size_bytes > 0
    assert each.listing() == (made,)
    program = (
        b"import tinyalpha, tinybeta, sys; print(tinyalpha.VERSION, tinybeta.VERSION, sys.prefix)"
    )
    ran = box().run(
        Command((made.python, "p.py"), files={"p.py": program}, mounts=made.mounts),
        Limits(wall_s=60),
    )
    assert ran.output == f"1.0 1.2 {made.folder}\n", ran
    script = str(made.folder / "bin" / "tinybeta-run")
    ran = box().run(Command((script,), mounts=made.mounts), Limits(wall_s=60))
    assert ran.output == "script of 1.2\n", "a script of a package works in its final place"


def test_the_same_request_is_neither_resolved_nor_built_again(
    environments: Environments, links: Path
) -> None:
    made = environments.prepare((requirement("tinyalpha"),), ALL)
    for file in links.iterdir():
        file.unlink()
    assert environments.prepare((requirement("tinyalpha"),), ALL) == made
    with pytest.raises(InputError, match="tinyalpha"):
        environments.prepare((requirement("tinyalpha==1.0"),), ALL)


def test_other_words_for_the_same_packages_share_one_environment(
    environments: Environments,
) -> None:
    one = environments.prepare((requirement("tinyalpha"),), ALL)
    two = environments.prepare((requirement("tinybeta==1.2"), requirement("tinyalpha>=1")), ALL)
    assert one.key == two.key


def test_no_packages_at_all_is_an_environment_too(environments: Environments) -> None:
    assert environments.prepare((), ALL).packages == ()


@pytest.mark.release
def test_a_name_that_is_nowhere_is_named(each: Environments) -> None:
    with pytest.raises(InputError, match="tinynowhere"):
        each.prepare((requirement("tinybeta"), requirement("tinynowhere")), ALL)
    assert each.listing() == ()


def test_a_version_that_is_nowhere_is_named(environments: Environments) -> None:
    with pytest.raises(InputError, match="tinybeta"):
        environments.prepare((requirement("tinybeta==9"),), ALL)


def test_names_of_a_model_are_checked_before_anything_else(
    environments: Environments,
) -> None:
    with pytest.raises(InputError, match="may be made up: tinybeta"):
        environments.prepare((requirement("tinybeta", ProposedBy.MODEL),), ALL)
    made = environments.prepare(
        (requirement("tinybeta", ProposedBy.MODEL),), Allowed.usual("tinybeta")
    )
    assert made.packages == ("tinybeta==1.2",)


def test_the_users_variables_are_written_nowhere(
    environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://user:CANARYWORD@index.invalid/simple")
    with pytest.raises(InputError) as caught:
        environments.prepare((requirement("tinynowhere"),), ALL)
    environments.prepare((requirement("tinybeta"),), ALL)
    assert "CANARYWORD" not in caught.value.sentence + caught.value.next_step
    for path in environments.cache.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert b"CANARYWORD" not in path.read_bytes(), path


def test_progress_tells_what_is_done_and_the_size(environments: Environments) -> None:
    reported: list[Progress] = []
    environments.tell = reported.append
    environments.prepare((requirement("tinybeta"),), ALL)
    notes = [progress.note for progress in reported]
    assert notes[0].startswith("resolving 1 requirements with")
    assert notes[-1].startswith("ready: ")
    assert notes[-1].endswith(" MB")


@pytest.mark.release
def test_a_source_distribution_is_built_in_a_box_and_never_on_the_host(
    each_slowly: Environments, links: Path, tmp_path: Path
) -> None:
    each_slowly.box = box()
    tripwire = tmp_path / "tripwire"
    trip = f"import os\ntry:\n    open({str(tripwire)!r}, 'w').close()\nexcept OSError:\n    pass\n"
    packages.source(links, "tinysource", "0.3", backend=trip + packages.BACKEND)
    made = each_slowly.prepare((requirement("tinysource>=0.1"), requirement("tinyalpha")), ALL)
    assert made.packages == ("tinyalpha==1.0", "tinybeta==1.2", "tinysource==0.3")
    assert not tripwire.exists()
    reported = subprocess.run(
        [made.python, "-c", "import tinysource; print(tinysource.WORD)"],
        capture_output=True,
    )
    assert reported.stdout == b"built in a box\n"


def test_without_a_box_a_source_distribution_is_refused(
    environments: Environments, links: Path
) -> None:
    packages.source(links, "tinysource", "0.3")
    with pytest.raises(SandboxUnavailable, match="tinysource has no wheel"):
        environments.prepare((requirement("tinysource"),), ALL)
    assert environments.listing() == ()


@pytest.mark.release
def test_what_a_build_needs_comes_from_wheels_and_needs_a_word(
    environments: Environments, links: Path
) -> None:
    environments.box = box()
    packages.source(links, "tinysource", "0.3", needs='"tinybeta"', marker="tinybeta")
    with pytest.raises(InputError, match=r"tinybeta \(proposed by a document\)"):
        environments.prepare((requirement("tinysource"),), ALL)
    made = environments.prepare((requirement("tinysource"),), Allowed.usual("tinybeta"))
    assert made.packages == ("tinysource==0.3",)


@pytest.mark.release
def test_a_build_that_fails_names_the_package(environments: Environments, links: Path) -> None:
    environments.box = box()
    packages.source(links, "tinysource", "0.3", marker="nothing_of_that_name")
    with pytest.raises(
        InputError, match=r"tinysource 0.3 .* cannot be built .*nothing_of_that_name"
    ):
        environments.prepare((requirement("tinysource"),), ALL)


@pytest.mark.release
def test_where_a_build_fails_the_wheel_of_another_version_may_do(
    each_slowly: Environments, links: Path
) -> None:
    each_slowly.box = box()
    packages.wheel(links, "tinysource", "0.2")
    packages.source(links, "tinysource", "0.3", marker="cmake_that_is_not_here")
    asked = (requirement("tinysource==0.3"), requirement("tinybeta"))
    with pytest.raises(InputError, match=r"tinysource 0.3 .* cannot be built"):
        each_slowly.prepare(asked, ALL)
    made = each_slowly.prepare(asked, ALL, any_version=True)
    assert made.packages == ("tinybeta==1.2", "tinysource==0.2")
    assert each_slowly.prepare(asked, ALL, any_version=True) == made
    with pytest.raises(InputError, match="cannot be built"):
        each_slowly.prepare(asked, ALL)


@pytest.mark.release
def test_a_package_without_any_wheel_is_given_up(environments: Environments, links: Path) -> None:
    environments.box = box()
    packages.source(links, "tinysource", "0.3", marker="cmake_that_is_not_here")
    with pytest.raises(InputError, match=r"tinysource 0.3 .* cannot be built"):
        environments.prepare((requirement("tinysource==0.3"),), ALL, any_version=True)


@pytest.mark.release
def test_a_build_that_makes_another_package_is_refused(
    environments: Environments, links: Path
) -> None:
    environments.box = box()
    evil = packages.BACKEND.replace("{name}", "tinybeta")
    packages.source(links, "tinysource", "0.3", backend=evil)
    with pytest.raises(InputError, match=r"made a wheel of tinybeta 0.3"):
        environments.prepare((requirement("tinysource"),), ALL)


class Halted:
    """An installer that stands still in the middle of installing."""

    name = "halted"

    def __init__(self, real: Installer) -> None:
        self._real = real

    def resolve(self, wish: Wish, stop: Stop | None) -> tuple[str, ...]:
        return self._real.resolve(wish, stop)

    def install(self, pins: Sequence[str], folder: Path, wish: Wish, stop: Stop | None) -> None:
        self._real.install(pins, folder, wish, stop)
        (folder / "halfway").touch()
        time.sleep(600)


def _halt(cache: Path, installer: Installer) -> None:
    Environments(cache, installer=Halted(installer)).prepare((requirement("tinybeta"),), ALL)


def test_a_killed_build_leaves_nothing_that_is_taken_for_complete(
    environments: Environments,
) -> None:
    assert environments.installer is not None
    builder = multiprocessing.get_context("fork").Process(
        target=_halt, args=(environments.cache, environments.installer)
    )
    builder.start()
    while not list(environments.cache.glob("half-*/halfway")):
        assert builder.is_alive()
        time.sleep(0.02)
    assert builder.pid is not None
    os.kill(builder.pid, signal.SIGKILL)
    builder.join()
    assert environments.listing() == ()
    made = environments.prepare((requirement("tinybeta"),), ALL)
    assert made.packages == ("tinybeta==1.2",)
    assert not (made.folder / "halfway").exists()
    assert not list(environments.cache.glob("half-*")), "the rubbish of the killed build is removed"


def test_what_a_killed_build_of_another_environment_left_is_cleared(
    environments: Environments,
) -> None:
    cache = environments.cache
    cache.mkdir(parents=True, exist_ok=True)
    left = cache / f"half-{'a' * 32}-0123"
    wheel = cache / "wheels" / f"half-{'c' * 64}-0123"
    held = cache / f"half-{'b' * 32}-0123"
    for folder in (left, held, wheel):
        folder.mkdir(parents=True)
        (folder / "halfway").touch()
    with locked(cache / f"{'b' * 32}.lock", lambda _: None, None):
        environments.prepare((requirement("tinybeta"),), ALL)
    assert not left.exists()
    assert not wheel.exists()
    assert (held / "halfway").exists(), "somebody builds it"


def test_different_environments_are_installed_at_once(environments: Environments) -> None:
    """One lock for all let an installation of minutes wait for every other."""
    environments.cache.mkdir(parents=True, exist_ok=True)
    store = environments.cache / "uv.lock"
    with locked(store, lambda _: None, None, shared=True):
        environments.prepare((requirement("tinybeta"),), ALL)
    stop, reported = Stop(), []

    def tell(progress: Progress) -> None:
        reported.append(progress.note)
        stop.ask()

    with (
        locked(store, lambda _: None, None, shared=True),
        pytest.raises(Stopped),
        locked(store, tell, stop, why="another process installs packages"),
    ):
        pass
    assert reported == ["another process installs packages; waiting"]


def test_whoever_waits_for_another_builder_is_informed_and_can_stop(
    environments: Environments,
) -> None:
    assert environments.installer is not None
    builder = multiprocessing.get_context("fork").Process(
        target=_halt, args=(environments.cache, environments.installer)
    )
    builder.start()
    try:
        while not list(environments.cache.glob("half-*/halfway")):
            assert builder.is_alive()
            time.sleep(0.02)
        stop, reported = Stop(), []

        def tell(progress: Progress) -> None:
            reported.append(progress.note)
            stop.ask()

        environments.tell, environments.stop = tell, stop
        with pytest.raises(Stopped):
            environments.prepare((requirement("tinybeta"),), ALL)
        assert reported == ["another process builds the same environment; waiting"]
    finally:
        builder.kill()
        builder.join()


def _prepare(cache: Path) -> str:
    return Environments(cache).prepare((requirement("tinyalpha"),), ALL).key


def test_several_processes_at_once_make_one_environment(tmp_path: Path, links: Path) -> None:
    with multiprocessing.get_context("fork").Pool(3) as pool:
        keys = pool.map(_prepare, [tmp_path / "cache"] * 3)
    assert len(set(keys)) == 1
    assert len(Environments(tmp_path / "cache").listing()) == 1
    assert not list((tmp_path / "cache").glob("half-*"))


def test_an_interpreter_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a Python interpreter"):
        Environments(tmp_path, python="/bin/false").prepare((), ALL)


def test_a_relative_folder_of_wheels_is_found_from_where_the_user_stands(
    environments: Environments, links: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(links.parent)
    monkeypatch.setenv("PIP_FIND_LINKS", "links")
    assert environments.prepare((requirement("tinybeta"),), ALL).packages == ("tinybeta==1.2",)


def test_constraints_of_the_user_hold(
    environments: Environments,
    links: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    packages.wheel(links, "tinybeta", "1.3")
    (tmp_path / "constraints.txt").write_text("tinybeta==1.2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_CONSTRAINT", "constraints.txt")
    assert environments.prepare((requirement("tinybeta"),), ALL).packages == ("tinybeta==1.2",)
    monkeypatch.delenv("PIP_CONSTRAINT")
    assert environments.prepare((requirement("tinybeta"),), ALL).packages == ("tinybeta==1.3",)


def test_a_date_needs_uv(tmp_path: Path, links: Path) -> None:
    from datetime import date

    from reenact.errors import MissingExtra

    wish = Wish((requirement("tinybeta"),), sys.executable, date(2020, 1, 1))
    with pytest.raises(MissingExtra, match="uv"):
        Pip().resolve(wish, None)
    uv = find_installer()
    if isinstance(uv, Uv):
        assert uv.resolve(wish, None) == ("tinybeta==1.2",), (
            "wheels in a folder of the user's have no date"
        )
