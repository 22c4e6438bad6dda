"""Only plain files are opened, without waiting, and no more of them is read than was asked for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from reenact.errors import InputError, NotAFile
from reenact.files import lock_folder, open_regular, read_bytes, read_start, read_text


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("grüße", "utf-8")
    (tmp_path / "link").symlink_to("a.txt")
    assert read_text(tmp_path / "a.txt", 100) == "grüße"
    assert read_bytes(tmp_path / "link", 7) == "grüße".encode()
    assert read_start(tmp_path / "a.txt", 2) == b"gr"


def test_what_is_not_a_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name, kind in (
            ("fifo", "a FIFO"),
            ("socket", "a socket"),
            (".", "a folder"),
            ("/dev/zero", "a device"),
        ):
            with pytest.raises(NotAFile, match=f"is {kind}, expected a file"):
                open_regular(tmp_path / name)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(NotAFile, match="has more than 2 MiB"):
        read_bytes(tmp_path / "huge", 2 << 20)
    assert len(read_start(tmp_path / "huge", 10)) == 10


def test_a_file_of_the_kernel_that_does_not_know_its_size_is_bounded() -> None:
    with pytest.raises(NotAFile, match="more than 3 bytes"):
        read_bytes(Path("/proc/self/status"), 3)


def test_it_is_an_input_error_and_an_os_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError) as reported:
        read_bytes(tmp_path, 3)
    assert isinstance(reported.value, OSError)
    assert reported.value.strerror == "it is a folder, expected a file"
    assert str(reported.value) == f"{tmp_path} is a folder, expected a file."
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "nowhere", 3)


def test_a_folder_is_locked_once_until_its_holder_lets_go(tmp_path: Path) -> None:
    held = lock_folder(tmp_path)
    assert held is not None
    assert lock_folder(tmp_path) is None
    os.close(held)
    again = lock_folder(tmp_path)
    assert again is not None
    os.close(again)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert lock_folder(link) is None
    assert lock_folder(tmp_path / "absent") is None
