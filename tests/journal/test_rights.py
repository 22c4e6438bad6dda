"""Nobody but its owner reads a journal, whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reenact.journal import Journal


@pytest.fixture(params=[0o022, 0o000], ids=["022", "000"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    return [
        str(path)
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]


@pytest.mark.usefixtures("umask")
def test_all_of_a_journal_is_private(folder: Path, tmp_path: Path, pipeline: Any) -> None:
    with Journal.open(folder) as journal:
        pipeline.run(journal)
        assert {path.name for path in folder.iterdir()} >= {
            "journal.db",
            "journal.db-wal",
            "journal.lock",
        }
        assert list(folder.glob("artefacts/*/*"))
        assert open_to_others(folder) == []
        journal.export(journal.find("last"), tmp_path / "out.run")
    assert stat.S_IMODE((tmp_path / "out.run").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.usefixtures("umask")
def test_an_open_folder_of_ours_is_closed_to_others(folder: Path, pipeline: Any) -> None:
    with Journal.open(folder) as journal:
        pipeline.run(journal)
    (folder / "traces" / "train-1").mkdir(parents=True)
    (folder / "traces" / "train-1" / "header.json").write_text("{}")
    (folder / "link").symlink_to("/etc/passwd")
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    with Journal.open(folder):
        pass
    (folder / "link").unlink()
    assert open_to_others(folder) == []
    assert stat.S_IMODE(Path("/etc/passwd").stat().st_mode) & 0o044


def test_the_working_folder_is_not_closed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    monkeypatch.chdir(folder)
    with Journal.open(folder):
        pass
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "journal.db").stat().st_mode) == 0o600
