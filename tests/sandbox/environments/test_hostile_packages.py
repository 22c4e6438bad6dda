"""Packages that want to run on the host while an environment is built: none of them does."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.errors import InputError, ReenactError
from reenact.sandbox.box import Command, Limits, Sandbox
from reenact.sandbox.choose import choose
from reenact.sandbox.environments.install import pip_alone
from reenact.sandbox.environments.names import Allowed, requirement
from reenact.sandbox.environments.pip_alone import REFUSED
from reenact.sandbox.environments.prepare import Environments

pytestmark = pytest.mark.release

_SPEC = importlib.util.spec_from_file_location("packages", Path(__file__).with_name("packages.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)

ALL = Allowed.usual()


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "mark"


@pytest.fixture
def box() -> Sandbox:
    return choose()


def has_pth(folder: Path) -> bool:
    return bool(list(folder.glob("lib/python*/site-packages/zz_hostile.pth")))


def test_a_hostile_wheel_runs_nothing_on_the_host(
    each_slowly: Environments, links: Path, mark: Path
) -> None:
    packages.hostile_wheel(links, "tinyhostile", mark)
    made = each_slowly.prepare((requirement("tinyhostile"), requirement("tinyalpha")), ALL)
    assert made.packages == ("tinyalpha==1.0", "tinybeta==1.2", "tinyhostile==1.0")
    assert has_pth(made.folder)
    assert each_slowly.prepare((requirement("tinyhostile"),), ALL).packages == ("tinyhostile==1.0",)
    assert each_slowly.listing()
    assert not mark.exists(), mark.read_text()
    subprocess.run([made.python, "-c", ""], check=True)
    assert mark.read_text().startswith("pth "), (
        "it is hostile: started on the host, it would have left its mark"
    )


def test_the_users_settings_for_installers_do_not_bring_it_back(
    each: Environments,
    links: Path,
    mark: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packages.hostile_wheel(links, "tinyhostile", mark)
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    monkeypatch.setenv("PIP_COMPILE", "1")
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text("[pip]\ncompile-bytecode = true\nno-build = false\n")
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv" / "uv.toml"))
    made = each.prepare((requirement("tinyhostile"),), ALL)
    assert has_pth(made.folder)
    assert not mark.exists(), mark.read_text()


def test_a_hostile_source_distribution_runs_in_the_box_alone(
    each: Environments, links: Path, mark: Path, box: Sandbox
) -> None:
    packages.hostile_source(links, "tinysource", mark)
    each.box = box
    made = each.prepare((requirement("tinysource"),), ALL)
    assert made.packages == ("tinysource==1.0",)
    assert has_pth(made.folder), "the wheel that was built has it"
    assert not mark.exists(), mark.read_text()
    program = Command(
        (made.python, "p.py"),
        files={"p.py": b"import tinysource; print(tinysource.WORD)"},
        mounts=made.mounts,
    )
    assert box.run(program, Limits(wall_s=60)).output == "built in a box\n"
    assert not mark.exists(), mark.read_text()


def test_a_wheel_that_needs_a_source_distribution_at_an_address_is_refused(
    each: Environments, links: Path, mark: Path, tmp_path: Path, box: Sandbox
) -> None:
    (tmp_path / "far").mkdir()
    far = packages.hostile_source(tmp_path / "far", "tinyfar", mark)
    packages.wheel(links, "tinynear", requires=(f"tinyfar @ {far.as_uri()}",))
    each.box = box
    with pytest.raises(InputError, match="from an address of its own"):
        each.prepare((requirement("tinynear"),), ALL)
    assert each.listing() == ()
    assert not mark.exists(), mark.read_text()


def test_a_wheel_that_needs_a_wheel_at_an_address_is_refused(
    each: Environments, links: Path, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    far = packages.wheel(tmp_path / "far", "tinyfar")
    packages.wheel(links, "tinynear", requires=(f"tinyfar @ {far.as_uri()}",))
    with pytest.raises(InputError, match="needs tinyfar from an address of its own"):
        each.prepare((requirement("tinynear"),), ALL)


def test_a_source_distribution_that_a_wheel_needs_by_name_is_built_in_the_box(
    each_slowly: Environments, links: Path, mark: Path, box: Sandbox
) -> None:
    packages.hostile_source(links, "tinysource", mark)
    packages.wheel(links, "tinynear", requires=("tinysource",))
    each_slowly.box = box
    made = each_slowly.prepare((requirement("tinynear"),), ALL)
    assert made.packages == ("tinynear==1.0", "tinysource==1.0")
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.fork()",
    ],
)
def test_pip_can_start_no_other_program(start: str, tmp_path: Path) -> None:
    (tmp_path / "runner.py").write_text(start)
    python, isolated, alone, *_ = pip_alone(sys.executable)
    words = [python, isolated, alone, str(tmp_path / "runner.py")]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert REFUSED in ran.stderr


@pytest.mark.parametrize(
    "name", ["scripts/python", "scripts/python3", "data/bin/python", "data/pyvenv.cfg"]
)
def test_a_package_cannot_replace_the_interpreter_of_its_environment(
    each_slowly: Environments, links: Path, name: str
) -> None:
    text = "#!/bin/sh\n" if "python" in name else "home = /tmp\n"
    packages.wheel(links, "tinytaker", **{f"tinytaker-1.0.data/{name}": text})
    with pytest.raises(ReenactError) as refused:
        each_slowly.prepare((requirement("tinytaker"),), ALL)
    assert Path(name).name in refused.value.sentence or "exists" in refused.value.sentence
