from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.box import Command, Mount
from reenact.sandbox.view import (
    box_environment,
    checked_mounts,
    etc_files,
    host_view,
    interpreter_folders,
)


def test_the_interpreter_is_shown_and_no_home() -> None:
    shown = [Path(source) for source, _ in host_view().binds]
    assert any(Path(sys.base_prefix).is_relative_to(folder) for folder in shown)
    assert not any(Path.home().is_relative_to(folder) for folder in shown)
    assert Path("/") not in shown
    assert not [
        path for path in interpreter_folders() if path == "/usr" or path.startswith("/usr/")
    ]


def test_etc_is_made_for_the_box_and_tells_no_user() -> None:
    files = etc_files(1234)
    assert b"box:x:1234:1234:" in files["/etc/passwd"]
    assert len(files["/etc/passwd"].splitlines()) == 2
    assert b"192.0.2.1" in files["/etc/resolv.conf"]
    assert "/etc/shadow" not in files


@pytest.mark.parametrize("target", ["data", "/", "/proc", "/data/../etc", "/box", "/usr/", ""])
def test_a_mount_may_not_hide_the_box_itself(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match="absolute place"):
        checked_mounts(Command(("true",), mounts=(Mount(tmp_path, target),)))


def test_the_environment_is_built_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LD_PRELOAD", "")
    found = box_environment("/h", "/t", {"SEED": "1", "HOME": "/other"})
    assert "sk-secret" not in found.values()
    assert "LD_PRELOAD" not in found
    assert (found["SEED"], found["HOME"], found["TMPDIR"]) == ("1", "/other", "/t")
    assert "OMP_NUM_THREADS" not in found
