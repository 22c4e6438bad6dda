from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from reenact.sandbox.disk import free_bytes, memory_usage, tree_usage


def test_bytes_and_entries_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(b"x" * 100_000)
    (tmp_path / "a" / "b" / "two").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    usage = tree_usage(tmp_path, 100)
    assert usage.files == 5
    assert 200_000 <= usage.bytes < 300_000
    assert usage.whole


def test_hard_links_count_once_and_holes_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 100_000)
    os.link(tmp_path / "one", tmp_path / "two")
    with (tmp_path / "hole").open("wb") as sink:
        sink.truncate(1 << 30)
    assert tree_usage(tmp_path, 100).bytes < 150_000


def test_a_count_stops_once_there_are_too_many(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).touch()
    assert tree_usage(tmp_path, 10).files == 11


def test_depth_does_not_matter(quick_path: Path) -> None:
    program = (
        "import os\nfor _ in range(1200):\n os.mkdir('d' * 20); os.chdir('d' * 20)\nopen('x', 'w')"
    )
    subprocess.run([sys.executable, "-c", program], cwd=quick_path, check=True)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    usage = tree_usage(quick_path, 5000)
    assert (usage.files, usage.whole) == (1201, True)
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before
    subprocess.run(["rm", "-rf", quick_path / ("d" * 20)], check=True)


def test_a_closed_folder_is_counted_and_stays_closed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_bytes(b"x" * 100_000)
    closed.chmod(0)
    try:
        assert tree_usage(tmp_path, 100).bytes >= 100_000
        assert closed.stat().st_mode & 0o777 == 0
    finally:
        closed.chmod(0o700)


def test_a_root_that_is_gone_is_an_unfinished_count(tmp_path: Path) -> None:
    assert not tree_usage(tmp_path / "absent", 10).whole


def test_space_in_memory_and_on_disk_is_read_from_the_file_system(
    tmp_path: Path,
) -> None:
    opened = os.open("/dev/shm", os.O_RDONLY)
    try:
        assert memory_usage(opened).bytes >= 0
    finally:
        os.close(opened)
    assert free_bytes(tmp_path) > 0
