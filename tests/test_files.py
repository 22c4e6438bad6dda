"""Only plain files are opened, without waiting, and no more of them is read than was asked for."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from reenact.errors import InputError, NotAFile, UnreadableToml
from reenact.files import (
    DEEPEST_TABLE,
    lock_folder,
    open_regular,
    parse_toml,
    read_bytes,
    read_start,
    read_text,
    read_toml,
)


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "[" * 50_000, "nested deeper"),
        ("a = " + "[" * DEEPEST_TABLE + "]" * DEEPEST_TABLE, "nested deeper"),
        (".".join("a" * 200_000) + " = 1", "nested deeper"),
        (" . ".join('"a"' for _ in range(DEEPEST_TABLE + 1)) + " = 1", "nested deeper"),
        ("a = " + "9" * 5_000, "cannot be read"),
        ("a = 0x" + "f" * 5_000, "more than 64 bits"),
        ("a = 9223372036854775808", "more than 64 bits"),
        ("a = [", "Invalid value"),
        ("a = 2026-02-30", "Invalid date"),
    ],
)
def test_toml_that_no_reader_can_take_is_refused_in_a_sentence(
    text: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableToml, match=why):
        parse_toml(text)
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UnreadableToml, match=why):
        read_toml(tmp_path / "a.toml", 1 << 20)


def test_toml_within_the_bounds_is_read(tmp_path: Path) -> None:
    deep = DEEPEST_TABLE - 2
    text = f"a = {'[' * deep}{']' * deep}\nb.c.d = 9223372036854775807\ne = 'x. y. z.'\n"
    (tmp_path / "a.toml").write_text(text)
    table = read_toml(tmp_path / "a.toml", 1 << 20)
    assert table["b"] == {"c": {"d": 2**63 - 1}}
    (tmp_path / "latin.toml").write_bytes(b"a = '\xe9'\n")
    with pytest.raises(UnreadableToml, match="not text in UTF-8"):
        read_toml(tmp_path / "latin.toml", 1 << 20)
    with pytest.raises(NotAFile, match="more than 3 bytes"):
        read_toml(tmp_path / "a.toml", 3)


def test_a_log_of_the_kernel_without_news_is_named() -> None:
    try:
        os.close(os.open("/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        pytest.skip("this user may not open the log of the kernel")
    with suppress(NotAFile):
        # What there is to read is read once; then nothing is left, without an end.
        read_start(Path("/proc/kmsg"), 1 << 24)
    with pytest.raises(NotAFile, match="has nothing to read now, expected a file"):
        read_start(Path("/proc/kmsg"), 1 << 24)
