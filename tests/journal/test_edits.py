"""Edits of files: complete after any interruption, never over another's change, never through a
link.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from reenact.errors import InputError, JournalDiverged, StorageError
from reenact.journal import Journal, State


@pytest.fixture
def root(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_bytes(b"old a")
    (work / "b.py").write_bytes(b"old b")
    return work


def test_an_edit_changes_makes_and_removes(on_disk: Journal, root: Path) -> None:
    (root / "a.py").chmod(0o755)
    with on_disk.run(pipeline="tale", request=1) as run:
        run.edit("patch", root, {"a.py": b"new a", "deep/er/c.py": b"new c", "b.py": None})
    assert (root / "a.py").read_bytes() == b"new a"
    assert stat.S_IMODE((root / "a.py").stat().st_mode) == 0o755
    assert (root / "deep/er/c.py").read_bytes() == b"new c"
    assert not (root / "b.py").exists()
    assert sorted(path.name for path in root.rglob("*")) == [
        "a.py",
        "c.py",
        "deep",
        "er",
    ]


def test_an_edit_is_applied_once_in_a_run_and_again_in_the_next(
    on_disk: Journal, root: Path
) -> None:
    with on_disk.run(pipeline="tale", request=1) as run:
        run.edit("patch", root, {"a.py": b"new a"})
        (root / "a.py").write_bytes(b"changed by a later step")
        run.edit("patch", root, {"a.py": b"new a"})
        assert (root / "a.py").read_bytes() == b"changed by a later step"
        run.finish(None)
    with on_disk.run(pipeline="tale", request=1) as run:
        run.edit("patch", root, {"a.py": b"new a"})
        assert (root / "a.py").read_bytes() == b"new a"
        run.finish(None)


def test_somebody_elses_change_in_between_is_not_overwritten(on_disk: Journal, root: Path) -> None:
    """The first try fails in the middle (a folder stands where a file should go); then the user
    edits.
    """
    files: dict[str, bytes | None] = {
        "a.py": b"new a",
        "sub/c.py": b"new c",
        "b.py": b"new b",
    }
    (root / "sub").write_bytes(b"a file where a folder should be")
    with on_disk.run(pipeline="tale", request=1) as run, pytest.raises(StorageError):
        run.edit("patch", root, files)
    assert [(root / name).read_bytes() for name in ("a.py", "b.py")] == [
        b"new a",
        b"old b",
    ]
    (root / "sub").unlink()
    (root / "b.py").write_bytes(b"edited by the user")
    with (
        on_disk.run(pipeline="tale", request=1) as run,
        pytest.raises(JournalDiverged, match="somebody else"),
    ):
        run.edit("patch", root, files)
    assert (root / "b.py").read_bytes() == b"edited by the user"
    (root / "b.py").write_bytes(b"old b")
    with on_disk.run(pipeline="tale", request=1) as run:
        run.edit("patch", root, files)
    assert [(root / name).read_bytes() for name in files] == [
        b"new a",
        b"new c",
        b"new b",
    ]


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/../../x", "", "sub\\x", "nul\x00", "."])
def test_names_that_lead_out_are_refused(journal: Journal, root: Path, name: str) -> None:
    with journal.run(pipeline="tale", request=1) as run, pytest.raises(InputError):
        run.edit("patch", root, {name: b"x"})


def test_links_are_not_written_through(journal: Journal, root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (root / "link").symlink_to(secret)
    (root / "file").symlink_to(secret / "f")
    for name in ("link/x", "file"):
        with (
            journal.run(pipeline="tale", request=name) as run,
            pytest.raises(InputError, match="link"),
        ):
            run.edit("patch", root, {name: b"x"})
    assert not list(secret.iterdir())


def test_a_folder_or_pipe_is_no_file_to_edit(journal: Journal, root: Path) -> None:
    (root / "d").mkdir()
    os.mkfifo(root / "pipe")
    for name in ("d", "pipe"):
        with (
            journal.run(pipeline="tale", request=name) as run,
            pytest.raises(InputError, match="plain file"),
        ):
            run.edit("patch", root, {name: b"x"})


def test_a_report_is_written_whole_and_both_contents_are_on_record(
    journal: Journal, tmp_path: Path
) -> None:
    report = tmp_path / "out" / "report.md"
    with journal.run(pipeline="tale", request=1) as run:
        run.edit("report", report.parent, {report.name: b"# first"})
        run.finish(None)
    with journal.run(pipeline="tale", request=1) as run:
        run.edit("report", report.parent, {report.name: b"# second"})
        run.finish(None)
    assert report.read_bytes() == b"# second"
    [step] = journal.steps(journal.find("last"))
    assert step.state is State.DONE
    assert journal.inputs(step)["old"] == {"report.md": b"# first"}
    assert journal.inputs(step)["new"] == {"report.md": b"# second"}
