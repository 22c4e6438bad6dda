"""A cache that somebody else filled shows no folder of the host inside a box."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from reenact.sandbox.box import Command, Limits
from reenact.sandbox.choose import choose
from reenact.sandbox.environments.install import find_installer
from reenact.sandbox.environments.names import Allowed, requirement
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.environments.stored import Environment

ALL = Allowed.usual()
RECORD = "reenact-environment.json"


@pytest.fixture
def environments(tmp_path: Path, links: Path) -> Environments:
    return Environments(tmp_path / "cache", installer=find_installer())


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A folder of the host with a secret."""
    file = tmp_path / "home" / ".ssh" / "id"
    file.parent.mkdir(parents=True)
    file.write_text("CANARYWORD")
    return file


def seen(made: Environment, file: Path) -> str:
    """What a program in a box sees of a file of the host."""
    program = (
        f"import tinybeta\ntry:\n    print(open({str(file)!r}).read())\nexcept OSError:\n    "
        f"print('closed')"
    )
    command = Command((made.python, "p.py"), files={"p.py": program.encode()}, mounts=made.mounts)
    return choose().run(command, Limits(wall_s=60)).output


def plant(folder: Path, **words: object) -> None:
    record = json.loads((folder / RECORD).read_text())
    (folder / RECORD).write_text(json.dumps({**record, **words}))


def test_a_planted_record_that_names_a_folder_is_not_believed(
    environments: Environments, canary: Path
) -> None:
    made = environments.prepare((requirement("tinybeta"),), ALL)
    plant(made.folder, interpreter=str(canary.parent.parent))
    assert environments.listing() == ()
    again = environments.prepare((requirement("tinybeta"),), ALL)
    assert again == made, "it is built again"
    assert seen(again, canary) == "closed\n"


@pytest.mark.sample(3)
@pytest.mark.parametrize("key", ["../home", "{home}", ".."])
def test_a_remembered_request_that_points_elsewhere_is_not_believed(
    environments: Environments, canary: Path, key: str
) -> None:
    made = environments.prepare((requirement("tinybeta"),), ALL)
    home = canary.parent.parent
    for place in (home, home.parent):
        shutil.copy(made.folder / RECORD, place / RECORD)
    (memo,) = (environments.cache / "requests").glob("*.json")
    memo.write_text(json.dumps({"key": key.format(home=home)}))
    again = environments.prepare((requirement("tinybeta"),), ALL)
    assert again == made
    assert seen(again, canary) == "closed\n"


def test_a_link_is_not_taken_for_an_environment(environments: Environments, canary: Path) -> None:
    made = environments.prepare((requirement("tinybeta"),), ALL)
    home = canary.parent.parent
    shutil.copy(made.folder / RECORD, home / RECORD)
    made.folder.rename(made.folder.with_name("aside"))
    made.folder.symlink_to(home)
    assert environments.listing() == ()
    again = environments.prepare((requirement("tinybeta"),), ALL)
    assert not again.folder.is_symlink()
    assert seen(again, canary) == "closed\n"
    assert canary.read_text() == "CANARYWORD", "what the link led to is as it was"


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", ["", "[]", "null", '{"packages": 3}', '{"key": []}'])
def test_a_record_that_is_none_means_building_again(environments: Environments, text: str) -> None:
    made = environments.prepare((requirement("tinybeta"),), ALL)
    (made.folder / RECORD).write_text(text)
    (memo,) = (environments.cache / "requests").glob("*.json")
    memo.write_text(text)
    assert environments.prepare((requirement("tinybeta"),), ALL) == made
