"""Reports of every shape from files and standard input; what is no report is refused with a sentence."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import UnreadableReport
from reenact.intake.report import MOST_BODY, RawReport, read_report


def written(folder: Path, content: bytes) -> RawReport:
    (folder / "report.md").write_bytes(content)
    return read_report(str(folder / "report.md"))


def test_the_first_line_is_the_title(tmp_path: Path) -> None:
    report = written(tmp_path, b"\n# Loss is NaN\n\nAfter one epoch.\r\nAlways.\n")
    assert (report.title, report.body, report.cut) == ("Loss is NaN", "After one epoch.\nAlways.", "")
    assert report.text() == "Loss is NaN\n\nAfter one epoch.\nAlways."


@pytest.mark.parametrize("line", ["Title: it breaks", "**Title:** it breaks", "### it breaks"])
def test_marks_of_a_title_are_no_part_of_it(tmp_path: Path, line: str) -> None:
    assert written(tmp_path, line.encode()).title == "it breaks"


def test_standard_input_is_a_report(tmp_path: Path) -> None:
    report = read_report("-", stdin=io.BytesIO(b"broken\nvery"))
    assert (report.title, report.source) == ("broken", "standard input")


def test_a_long_first_line_stays_in_the_body(tmp_path: Path) -> None:
    report = written(tmp_path, b"word " * 100)
    assert report.body.startswith(report.title)
    assert len(report.body) == 499


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"---\n***\n", "﻿".encode()])
def test_an_empty_report_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableReport, match="empty"):
        written(tmp_path, content)


def test_a_report_of_a_megabyte_is_cut_and_says_so(tmp_path: Path) -> None:
    report = written(tmp_path, b"title\nfirst words " + b"log line\n" * 120_000 + b"last words")
    assert len(report.body) < MOST_BODY + 100
    assert report.body.startswith("first words")
    assert report.body.endswith("last words")
    assert "characters left out" in report.cut


@pytest.mark.parametrize(
    "content",
    [bytes(range(256)) * 4, b"\x7fELF\x02\x01\x01\x00\x00", bytes(n * n % 251 for n in range(4096))],
)
def test_binary_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableReport, match="not text"):
        written(tmp_path, content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_texts_of_other_systems_are_read(tmp_path: Path, encoding: str) -> None:
    report = written(tmp_path, "Training fails\nThe loss never falls, naïve or not.".encode(encoding))
    assert report.title == "Training fails"
    assert "never falls" in report.body


def test_what_a_terminal_would_obey_is_gone(tmp_path: Path) -> None:
    report = written(tmp_path, b"\x1b]0;owned\x07title\n\x1b[2Jbody\x1b[0m")
    assert (report.title, report.body) == ("title", "body")


def test_a_missing_file_a_folder_and_a_fifo_are_sentences(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, says in (("nowhere", "No such file"), ("", "it is a folder"), ("fifo", "it is a FIFO")):
        with pytest.raises(UnreadableReport, match=says):
            read_report(str(tmp_path / name))


def test_addresses_of_others_are_not_asked() -> None:
    with pytest.raises(UnreadableReport, match=r"Only issues of github\.com"):
        read_report("https://example.com/issues/3")


@given(st.binary(max_size=300))
def test_bytes_are_text_or_refused_never_anything_else(data: bytes) -> None:
    try:
        text = read_report("-", stdin=io.BytesIO(data)).text()
    except UnreadableReport:
        return
    assert "\x00" not in text
    assert "\x1b" not in text
