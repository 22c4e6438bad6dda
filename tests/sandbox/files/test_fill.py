from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.files.collect import fill


def put(work: Path, limits: Limits | None = None, **kinds: object) -> None:
    work.mkdir()
    fill(work, Command(("true",), **kinds), limits or Limits())  # type: ignore[arg-type]


def test_a_copy_keeps_links_and_leaves_out_what_is_no_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "run.sh").write_text("#!/bin/sh\n")
    (source / "inner" / "run.sh").chmod(0o700)
    (source / "plain").write_bytes(b"x" * 3_000_000)
    (source / "link").symlink_to("/etc/passwd")
    (source / "up").symlink_to("inner/run.sh")
    os.mkfifo(source / "fifo")
    put(tmp_path / "work", workspace=source)
    work = tmp_path / "work"
    assert sorted(path.name for path in work.rglob("*")) == [
        "inner",
        "link",
        "plain",
        "run.sh",
        "up",
    ]
    assert (work / "link").readlink() == Path("/etc/passwd")
    assert (work / "up").read_text() == "#!/bin/sh\n"
    assert os.access(work / "inner" / "run.sh", os.X_OK)
    assert (work / "plain").stat().st_size == 3_000_000


def test_files_go_over_the_copy(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_text("old")
    put(tmp_path / "work", workspace=source, files={"a": b"new", "deep/er/b": b"\x00"})
    assert (tmp_path / "work" / "a").read_bytes() == b"new"
    assert (tmp_path / "work" / "deep" / "er" / "b").read_bytes() == b"\x00"
    assert (source / "a").read_text() == "old"


def test_a_file_is_not_written_through_a_link_of_the_workspace(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    source = tmp_path / "source"
    source.mkdir()
    (source / "folder").symlink_to(outside)
    (source / "file").symlink_to(outside / "planted")
    for number, name in enumerate(("folder/planted", "file")):
        with pytest.raises(InputError, match="over a link"):
            put(tmp_path / f"work{number}", workspace=source, files={name: b"x"})
    assert not list(outside.iterdir())


@pytest.mark.parametrize("limits", [Limits(disk_bytes=999), Limits(files=9)])
def test_a_workspace_that_is_too_large_is_refused_in_words(tmp_path: Path, limits: Limits) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(10):
        (source / str(number)).write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="larger than the box may be") as refused:
        put(tmp_path / "work", limits, workspace=source)
    assert "mount" in refused.value.next_step


def test_a_workspace_that_is_a_file_or_absent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for number, name in enumerate(("file", "absent")):
        with pytest.raises(InputError, match="cannot be read"):
            put(tmp_path / f"work{number}", workspace=tmp_path / name)
