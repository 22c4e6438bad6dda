"""An environment whose interpreter or configuration a package replaced is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.environments.intact import check_interpreter


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def _own_file(path: Path) -> None:
    path.unlink()
    path.write_text("#!/bin/sh\n")


def _other_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/bin/sh")


def _add(line: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(f"{path.read_text()}\n{line}\n")


def test_a_fresh_environment_is_intact_and_other_programs_in_bin_are_nobodys_business(
    made: Path,
) -> None:
    check_interpreter(made, sys.executable)
    (made / "bin" / "python-argcomplete").write_text("#!/bin/sh\n")
    check_interpreter(made, sys.executable)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bin/python", _own_file),
        ("bin/python", _other_link),
        ("bin/python", Path.unlink),
        ("bin/python3", _own_file),
        ("pyvenv.cfg", _add("home = /tmp")),
        ("pyvenv.cfg", _add("include-system-site-packages = true")),
        ("pyvenv.cfg", Path.unlink),
    ],
)
def test_what_a_package_replaced_is_named(
    made: Path, name: str, change: Callable[[Path], object]
) -> None:
    change(made / name)
    with pytest.raises(InputError, match=f"replaced {name} of the environment"):
        check_interpreter(made, sys.executable)
