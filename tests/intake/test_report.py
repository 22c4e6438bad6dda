"""Reports of every shape from files and standard input; what is no report is refused with a
sentence.
"""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import InputError, ReenactError, Unreachable, UnreadableReport
from reenact.intake.report import MOST_BODY, RawReport, parse_issue, read_report
from reenact.intake.web import Web


def written(folder: Path, content: bytes) -> RawReport:
    (folder / "report.md").write_bytes(content)
    return read_report(str(folder / "report.md"))


def test_the_first_line_is_the_title(tmp_path: Path) -> None:
    report = written(tmp_path, b"\n# Loss is NaN\n\nAfter one epoch.\r\nAlways.\n")
    assert (report.title, report.body, report.cut) == (
        "Loss is NaN",
        "After one epoch.\nAlways.",
        "",
    )
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
    [
        bytes(range(256)) * 4,
        b"\x7fELF\x02\x01\x01\x00\x00",
        bytes(n * n % 251 for n in range(4096)),
    ],
)
def test_binary_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableReport, match="not text"):
        written(tmp_path, content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_texts_of_other_systems_are_read(tmp_path: Path, encoding: str) -> None:
    report = written(
        tmp_path, "Training fails\nThe loss never falls, naïve or not.".encode(encoding)
    )
    assert report.title == "Training fails"
    assert "never falls" in report.body


def test_what_a_terminal_would_obey_is_gone(tmp_path: Path) -> None:
    report = written(tmp_path, b"\x1b]0;owned\x07title\n\x1b[2Jbody\x1b[0m")
    assert (report.title, report.body) == ("title", "body")


def test_a_missing_file_a_folder_and_a_fifo_are_sentences(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, says in (
        ("nowhere", "No such file"),
        ("", "it is a folder"),
        ("fifo", "it is a FIFO"),
    ):
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


ISSUE = "/repos/ann/net/issues/7"
COMMENTS = ISSUE + "/comments?per_page=100&page={}"
TOKEN = "token-of-a-tester"


def issue(**changes: object) -> dict[str, object]:
    issue: dict[str, object] = {
        "title": "Loss is NaN",
        "body": "After one epoch.\r\n",
        "comments": 0,
        "created_at": "2024-03-05T10:00:00Z",
        "user": {"login": "ann", "type": "User"},
    }
    return issue | changes


def ask(hub: Any, environ: Mapping[str, str] | None = None) -> RawReport:
    return read_report("ann/net#7", http=hub.web, environ=environ or {})


@pytest.mark.parametrize(
    "ref",
    [
        "ann/net#7",
        "https://github.com/ann/net/issues/7",
        "http://www.github.com/ann/net/issues/7#issuecomment-12",
        "https://github.com/ann/net/pull/7/files",
        "https://github.com/ann/net/issues/7?tab=x",
    ],
)
def test_names_of_an_issue(ref: str) -> None:
    assert parse_issue(ref) == "ann/net#7"


@pytest.mark.parametrize(
    "ref",
    [
        "report.md",
        "ann/net",
        "ann/net#x",
        "https://evil.example/ann/net/issues/7",
        "../x#1",
        "a/b#1?x",
        "-",
    ],
)
def test_other_names_are_no_issue(ref: str) -> None:
    assert not parse_issue(ref)


def test_an_issue_with_its_comments(hub: Any) -> None:
    hub.say(ISSUE, issue(comments=3))
    person, bot = {"type": "User"}, {"type": "Bot"}
    message = [
        {"body": "same here\x1b[31m", "user": person},
        {"body": "stale", "user": bot},
        {"body": None, "user": None},
    ]
    hub.say(COMMENTS.format(1), message)
    report = ask(hub)
    assert (report.title, report.body, report.source) == (
        "Loss is NaN",
        "After one epoch.",
        "ann/net#7",
    )
    assert report.comments == ("same here",)
    assert report.created == datetime(2024, 3, 5, 10, tzinfo=UTC)
    assert report.cut == ""
    assert [authorization for _, authorization in hub.asked] == ["", ""]


def test_comments_come_in_pages_and_the_rest_is_named(hub: Any) -> None:
    hub.say(ISSUE, issue(comments=412))
    for page in (1, 2, 3):
        hub.say(COMMENTS.format(page), [{"body": f"page {page}"}] * 100)
    report = ask(hub)
    assert len(report.comments) == 300
    assert "112 of 412 comments left out" in report.cut


def test_long_comments_are_cut(hub: Any) -> None:
    hub.say(ISSUE, issue(comments=9))
    hub.say(COMMENTS.format(1), [{"body": "x" * 30_000}] * 9)
    report = ask(hub)
    assert len(report.comments) == 5
    assert "the last 4 comments" in report.cut


def test_the_token_goes_with_every_question(hub: Any) -> None:
    hub.say(ISSUE, issue(comments=1))
    hub.say(COMMENTS.format(1), [{"body": "me too"}])
    ask(hub, {"GITHUB_TOKEN": TOKEN + "\n"})
    assert {authorization for _, authorization in hub.asked} == {f"Bearer {TOKEN}"}


def test_a_token_that_is_none_is_named(hub: Any) -> None:
    with pytest.raises(UnreadableReport, match="GITHUB_TOKEN"):
        ask(hub, {"GITHUB_TOKEN": "two\nlines"})
    assert hub.asked == []


def test_the_api_may_lie_elsewhere(hub: Any) -> None:
    hub.say(ISSUE, issue())
    assert read_report("ann/net#7", environ={"GITHUB_API_URL": hub.api}).title == "Loss is NaN"


def test_a_moved_repository_is_followed_at_home_only(hub: Any) -> None:
    hub.say(ISSUE, {}, 301, Location="/repositories/5/issues/7")
    hub.say("/repositories/5/issues/7", issue())
    assert ask(hub).title == "Loss is NaN"
    hub.say(ISSUE, {}, 302, Location="http://localhost:1/steal")
    with pytest.raises(Unreachable, match="another server"):
        ask(hub, {"GITHUB_TOKEN": TOKEN})
    hub.say(ISSUE, {}, 302, Location="https://[nonsense")
    with pytest.raises(Unreachable, match="another server"):
        ask(hub)
    hub.say(ISSUE, {}, 302, Location=ISSUE)
    with pytest.raises(Unreachable, match="on and on"):
        ask(hub)


@pytest.mark.parametrize(
    ("status", "headers", "kind", "says"),
    [
        (404, {}, UnreadableReport, "knows no issue ann/net#7"),
        (410, {}, UnreadableReport, "deleted"),
        (401, {}, UnreadableReport, "GITHUB_TOKEN"),
        (403, {}, UnreadableReport, "status 403.*Nothing for you"),
        (
            403,
            {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "1893456000"},
            Unreachable,
            "rate limit",
        ),
        (429, {"Retry_After": "40"}, Unreachable, "rate limit"),
        (502, {}, Unreachable, "status 502"),
    ],
)
def test_every_refusal_is_a_sentence(
    hub: Any, status: int, headers: dict[str, str], kind: type[ReenactError], says: str
) -> None:
    hub.say(ISSUE, {"message": "Nothing for you"}, status, **headers)
    with pytest.raises(kind, match=says) as caught:
        ask(hub)
    assert int(caught.value.exit_code) == 2


def test_a_limit_says_when_to_come_back(hub: Any) -> None:
    hub.say(ISSUE, {}, 403, X_RateLimit_Remaining="0", X_RateLimit_Reset="1893456000")
    with pytest.raises(Unreachable) as caught:
        ask(hub)
    assert "2030-01-01 00:00 UTC" in caught.value.next_step
    assert "GITHUB_TOKEN" in caught.value.next_step
    hub.say(ISSUE, {}, 429, Retry_After="40")
    with pytest.raises(Unreachable) as caught:
        ask(hub, {"GITHUB_TOKEN": TOKEN})
    assert caught.value.next_step == "Run the same command again in 40 s."


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b'{"title": NaN}', b"[" * 5000])
def test_an_answer_that_is_no_issue(hub: Any, body: bytes) -> None:
    hub.say(ISSUE, body)
    with pytest.raises(Unreachable, match="cannot be read"):
        ask(hub)


def test_comments_that_are_no_list(hub: Any) -> None:
    hub.say(ISSUE, issue(comments=1))
    hub.say(COMMENTS.format(1), {"message": "no"})
    with pytest.raises(Unreachable, match="not a list"):
        ask(hub)


def test_an_issue_without_words(hub: Any) -> None:
    hub.say(ISSUE, issue(title="...", body=None))
    with pytest.raises(UnreadableReport, match="is empty"):
        ask(hub)


def test_an_answer_without_end_is_not_read(hub: Any) -> None:
    hub.say(ISSUE, issue(body="x" * 5000))
    small = Web(api=hub.api, most_bytes=1000)
    with pytest.raises(Unreachable, match="more than 1000 bytes"):
        read_report("ann/net#7", http=small, environ={})


def test_no_network_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match="cannot be reached") as caught:
        read_report("ann/net#7", http=Web(api=f"http://127.0.0.1:{port}"), environ={})
    assert "file" in caught.value.next_step


def test_an_api_without_https_is_refused() -> None:
    for api in ("http://github.example", "https//x", "https://[x", "file:///etc"):
        with pytest.raises(InputError, match="https only"):
            read_report("ann/net#7", environ={"GITHUB_API_URL": api})
