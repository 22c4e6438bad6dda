"""Answers that a watched program reads on its stdin, for the other processes that run it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

import pytest

from reenact.host_program import Stream
from reenact.probe.answers import MOST_BYTES, NO_KEYBOARD, Answers


def opened(stream: Stream) -> IO[bytes]:
    assert stream is not None
    assert not isinstance(stream, int)
    return stream


def read(stream: Stream) -> bytes:
    with opened(stream) as file:
        return file.read()


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (b"3\r", b"3\n"),
        (b"3\nyes\n", b"3\nyes\n"),
        (b"no Enter yet", b""),
        (b"4\x7f3\r", b"3\n"),
        (b"\x7f\x083\r", b"3\n"),
        ("ä\x7fö\r".encode(), "ö\n".encode()),
        (b"12 epochs\x17 rounds\r", b"12  rounds\n"),
        (b"all wrong\x15right\r", b"right\n"),
        (b"half a line\x04", b"half a line"),
    ],
)
def test_keys_become_the_lines_that_a_terminal_makes_of_them(keys: bytes, lines: bytes) -> None:
    answers = Answers()
    answers.note_keys(keys)
    assert answers.text == lines


def test_a_redirected_file_is_everybodys_and_stays_unread(tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("read before\n3\nyes\n")
    with (tmp_path / "answers.txt").open("rb", buffering=0) as file:
        os.lseek(file.fileno(), len("read before\n"), os.SEEK_SET)
        answers = Answers(file)
        assert answers.for_watched_run() is file
        assert read(answers.for_watched_run()) == b"3\nyes\n"
        assert read(answers.as_they_come()) == b"3\nyes\n"
        assert file.read() == b"3\nyes\n"
    assert not answers.typed


def test_a_large_file_is_data_and_goes_to_the_watched_run_alone(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * (MOST_BYTES + 1))
    with (tmp_path / "data").open("rb") as file:
        answers = Answers(file)
        assert answers.for_watched_run() is file
        assert answers.as_they_come() is NO_KEYBOARD


def test_a_pipe_goes_to_the_first_watched_run_alone() -> None:
    end, other = os.pipe()
    answers = Answers(end)
    assert answers.for_watched_run() == end
    assert answers.as_they_come() is NO_KEYBOARD
    assert answers.for_watched_run() is NO_KEYBOARD
    os.close(end)
    os.close(other)


def test_without_a_stream_there_are_no_answers() -> None:
    assert Answers().for_watched_run() is NO_KEYBOARD
    assert Answers().as_they_come() is NO_KEYBOARD
    assert not Answers().typed


def test_what_is_typed_reaches_whoever_follows_line_by_line() -> None:
    terminal, theirs = os.openpty()
    answers = Answers(theirs)
    answers.note_keys(b"3\r")
    follower = opened(answers.as_they_come())
    assert stat.S_ISFIFO(os.fstat(follower.fileno()).st_mode)
    assert follower.read(100) == b"3\n"
    answers.note_keys(b"ye")
    answers.note_keys(b"s\r")
    assert follower.read(100) == b"yes\n"
    answers.end()
    assert follower.read(100) == b""
    assert answers.typed
    assert read(answers.again()) == b"3\nyes\n"
    follower.close()
    os.close(theirs)
    os.close(terminal)


def test_a_follower_that_is_gone_or_full_holds_nobody_up() -> None:
    terminal, theirs = os.openpty()
    answers = Answers(theirs)
    opened(answers.as_they_come()).close()
    full = opened(answers.as_they_come())
    for _ in range(200):
        answers.note_keys(b"x" * 999 + b"\r")
    assert len(answers.text) == 200_000
    answers.end()
    full.close()
    os.close(theirs)
    os.close(terminal)
