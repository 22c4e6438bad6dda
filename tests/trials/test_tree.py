"""What a run wrote into its folder is gone for the next one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.trials.folder import injected


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A folder of a program."""
    folder = tmp_path / "first"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)")
    (folder / "data" / "deep" / "rows.csv").write_text("1,2")
    (folder / "link").symlink_to("data")
    (folder / "nowhere").symlink_to("/not/there")
    return folder


def picture(folder: Path) -> dict[str, str]:
    """Everything below a folder."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else ("folder" if path.is_dir() else path.read_text())
        for path in sorted(folder.rglob("*"))
    }


def test_everything_that_changed_is_as_it_was(first: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    tree = injected("reenact_trials_tree").Tree(str(first), str(place))
    wanted = picture(first)
    rows = place / "data" / "deep" / "rows.csv"

    def same_size() -> None:
        times = rows.stat()
        rows.write_text("3,4")
        os.utime(rows, ns=(times.st_atime_ns, times.st_mtime_ns))

    def other_kinds() -> None:
        (place / "train.py").unlink()
        (place / "train.py").mkdir()
        (place / "link").unlink()
        (place / "link").symlink_to("train.py")
        rows.unlink()
        rows.parent.rmdir()

    def more() -> None:
        (place / "runs" / "1").mkdir(parents=True)
        (place / "runs" / "1" / "model.pt").write_text("x")
        rows.parent.chmod(0o500)

    def replaced() -> None:
        tree.write("train.py", b"print(2)")

    for change in (same_size, other_kinds, more, replaced):
        change()
        tree.restore()
        assert picture(place) == wanted, change.__name__
        assert picture(first) == wanted
    assert os.access(rows.parent, os.W_OK)
