from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.files.collect import collect, inner_name


def test_files_are_read_and_missing_ones_named(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.bin").write_bytes(bytes(range(256)))
    found = collect(tmp_path, ("out/a.bin", "b", "no/such/file"), 1000)
    assert (found.results, found.missing, found.refused) == (
        {"out/a.bin": bytes(range(256))},
        ("b", "no/such/file"),
        {},
    )


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("link", "a symbolic link"),
        ("dangling link", "a symbolic link"),
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        ("folder", "a folder"),
        ("sparse", "at most 1000 are read"),
        ("large", "at most 1000 are read"),
        ("hard link", "hard links"),
    ],
)
def test_what_is_no_plain_small_file_is_refused(
    tmp_path: Path, kind: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    result = Path("result")
    match kind:
        case "link":
            result.symlink_to(secret)
        case "dangling link":
            result.symlink_to("/no/such/place")
        case "fifo":
            os.mkfifo(result)
        case "socket":
            socket.socket(socket.AF_UNIX).bind("result")
        case "folder":
            result.mkdir()
        case "sparse":
            with result.open("wb") as sink:
                sink.truncate(200 << 20)
        case "large":
            result.write_bytes(b"x" * 1001)
        case "hard link":
            os.link(secret, result)
    found = collect(work, ("result",), 1000)
    assert found.results == {}
    assert why in found.refused["result"]


def test_a_folder_on_the_way_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "secret").write_text("secret")
    work = tmp_path / "work"
    (work / "deep").mkdir(parents=True)
    (work / "deep" / "out").symlink_to(tmp_path / "real")
    (work / "file").write_text("x")
    found = collect(work, ("deep/out/secret", "file/below"), 1000)
    assert found.results == {}
    assert found.refused == {
        "deep/out/secret": "its folder 'out' is a symbolic link",
        "file/below": "its folder 'file' is a file",
    }


def test_a_result_that_is_swapped_all_the_time_never_gives_the_secret(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    work = tmp_path / "work"
    work.mkdir()
    child = os.fork()
    if child == 0:
        try:
            while True:
                (work / "link").symlink_to(secret)
                (work / "link").rename(work / "result")
                (work / "plain").write_text("plain")
                (work / "plain").rename(work / "result")
        finally:
            os._exit(0)
    try:
        seen = [collect(work, ("result",), 1000).results.get("result", b"") for _ in range(500)]
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert set(seen) <= {b"", b"plain"}


def test_what_was_closed_is_opened_only_where_nobody_else_needs_it(
    tmp_path: Path,
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "result").write_text("x")
    (closed / "result").chmod(0)
    closed.chmod(0)
    found = collect(tmp_path, ("closed/result",), 1000)
    assert closed.stat().st_mode & 0o777 == 0
    assert found.results == ({"closed/result": b"x"} if os.getuid() == 0 else {})
    assert collect(tmp_path, ("closed/result",), 1000, disposable=True).results == {
        "closed/result": b"x"
    }


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a/../../b", "a\0b", "."])
def test_only_names_inside_are_taken(name: str) -> None:
    with pytest.raises(InputError, match="relative to its work folder"):
        inner_name(name)
