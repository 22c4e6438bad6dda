"""Where a source distribution lies and when it was uploaded, read from what others print."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from packaging.version import Version

from reenact.errors import InputError, ReenactError
from reenact.sandbox.environments.source import Source, download, read_link, upload_time

JSON_PAGE = (
    b'{"files": [{"filename": "a-1.0.tar.gz", "upload-time": "2010-08-24T14:33:52.4Z"}, '
    b'{"filename": "b"}]}'
)
HTML_PAGE = b"""<html>
<a href="https://x.example/y/other-a-1.0.tar.gz" data-upload-time="2001-01-01T00:00:00Z">o</a>
<a href="https://x.example/y/a-1.0.tar.gz#sha256=0" data-upload-time="2010-08-24T14:33:52.4Z">a</a>"""


@pytest.mark.parametrize("page", [JSON_PAGE, HTML_PAGE])
def test_both_kinds_of_index_page_tell_the_date(page: bytes) -> None:
    found = upload_time(page, "a-1.0.tar.gz")
    assert found is not None
    assert found.date().isoformat() == "2010-08-24"


@pytest.mark.parametrize("page", [JSON_PAGE, HTML_PAGE, b"", b'<a href="/a-1.0.tar.gz">a</a>'])
def test_a_page_that_is_silent_gives_no_date(page: bytes) -> None:
    assert upload_time(page, "b") is None


def test_the_line_of_an_installer_is_read() -> None:
    address, page = (
        "https://x.example/p/a_b-1.0.tar.gz",
        "https://x.example/simple/a-b/",
    )
    line = f"  Skipping link: No sources permitted for a: {address}#sha256=ab12 (from {page})"
    found = read_link(line)
    assert found == Source(
        "a-b",
        Version("1.0"),
        "a_b-1.0.tar.gz",
        "https://x.example/p/a_b-1.0.tar.gz",
        "ab12",
        "https://x.example/simple/a-b/",
    )
    assert read_link("Skipping link: wrong project name (not a): file:///x/b-1.0.tar.gz") is None
    assert read_link("No sources permitted for a: file:///x/readme.txt") is None


def source(path: Path, sha256: str) -> Source:
    return Source("a", Version("1"), path.name, path.as_uri(), sha256, "")


def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a-1.tar.gz"
    path.write_bytes(b"content")
    assert download(source(path, hashlib.sha256(b"content").hexdigest())) == b"content"
    assert download(source(path, "")) == b"content"
    with pytest.raises(InputError, match="checksum"):
        download(source(path, "0" * 64))


def test_only_https_and_files_are_fetched(tmp_path: Path) -> None:
    for address in ("http://x.example/a-1.tar.gz", "ftp://x.example/a"):
        with pytest.raises(InputError, match="https alone"):
            download(Source("a", Version("1"), "a", address, "", ""))
    with pytest.raises(ReenactError, match="cannot be downloaded"):
        download(source(tmp_path / "nowhere.tar.gz", ""))
