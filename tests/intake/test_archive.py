"""Archives made to harm are refused; ordinary ones come out whole."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from reenact.errors import UnreadableRepository
from reenact.intake.archive import Bounds, is_archive, unpack

SMALL = Bounds(most_bytes=100_000, most_files=20, deepest=5)


def tarred(path: Path, members: list[tuple[str, bytes]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def zipped(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def refused(path: Path, says: str, bounds: Bounds = SMALL) -> None:
    into = path.parent / "out"
    into.mkdir()
    with pytest.raises(UnreadableRepository, match=says):
        unpack(path, into, bounds)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tars_of_every_packing(tmp_path: Path, mode: str) -> None:
    path = tarred(tmp_path / "a", [("p-1/a.py", b"x = 1\n"), ("p-1/b/c.py", b"")], mode)
    assert is_archive(path)
    (tmp_path / "out").mkdir()
    folder, _ = unpack(path, tmp_path / "out", SMALL)
    assert folder == tmp_path / "out" / "p-1"
    assert (folder / "a.py").read_bytes() == b"x = 1\n"
    assert (folder / "b" / "c.py").exists()


def test_a_zip_without_a_top_folder(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.py", b"x"), ("b/c.py", b"y")])
    (tmp_path / "out").mkdir()
    assert is_archive(path)
    assert unpack(path, tmp_path / "out", SMALL) == (tmp_path / "out", "")


@pytest.mark.parametrize(
    "name",
    ["/etc/x", "../x", "a/../../x", "a\\..\\x", "a\x01b", "a/b/c/d/e/f", "x" * 300],
)
def test_names_that_may_not_be(tmp_path: Path, name: str) -> None:
    refused(tarred(tmp_path / "a.tar.gz", [(name, b"")]), "refused")


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/b/c/d/e/f"])
def test_names_in_a_zip_that_may_not_be(tmp_path: Path, name: str) -> None:
    refused(zipped(tmp_path / "a.zip", [(name, b"")]), "refused")


def test_bombs_are_counted_while_they_unpack(tmp_path: Path) -> None:
    refused(zipped(tmp_path / "a.zip", [("a.py", b"0" * 200_000)]), "more than 100000 bytes")
    (tmp_path / "out").rename(tmp_path / "other")
    refused(tarred(tmp_path / "a.tgz", [("a.py", b"0" * 200_000)]), "more than 100000 bytes")


def test_too_many_members(tmp_path: Path) -> None:
    refused(
        tarred(tmp_path / "a.tgz", [(f"{n}.py", b"") for n in range(30)]),
        "more than 20 members",
    )


def test_the_same_name_twice(tmp_path: Path) -> None:
    refused(
        tarred(tmp_path / "a.tgz", [("a.py", b"1"), ("./a.py", b"2")]),
        "same name twice",
    )


def test_a_header_made_to_fill_the_memory(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    (tmp_path / "a.tar").write_bytes(entry.tobuf(tarfile.GNU_FORMAT) + b"a" * 10_240)
    refused(tmp_path / "a.tar", "a header is larger")


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, kind in (
            ("l", tarfile.SYMTYPE),
            ("h", tarfile.LNKTYPE),
            ("f", tarfile.FIFOTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        archive.addfile(tarfile.TarInfo("l/x.py"), io.BytesIO())
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "a.tar", tmp_path / "out", SMALL)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["l"]
    assert not (tmp_path / "out" / "l").is_symlink()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zip_archive:
        link = zipfile.ZipInfo("l")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zip_archive.writestr(link, "/etc/passwd")
    (tmp_path / "other").mkdir()
    unpack(tmp_path / "a.zip", tmp_path / "other", SMALL)
    assert list((tmp_path / "other").iterdir()) == []


@pytest.mark.parametrize("cut", [10, 60, 200])
def test_torn_archives(tmp_path: Path, cut: int) -> None:
    whole = tarred(tmp_path / "a.tgz", [("a.py", bytes(range(256)) * 9)]).read_bytes()
    (tmp_path / "a.tgz").write_bytes(whole[:cut])
    refused(tmp_path / "a.tgz", "cannot be unpacked")


def test_a_torn_zip(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", [("a.py", b"1" * 900)]).read_bytes()
    (tmp_path / "a.zip").write_bytes(whole[:-30])
    refused(tmp_path / "a.zip", "cannot be unpacked")


def test_an_encrypted_member(tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path / "a.zip", [("a.py", b"1")]).read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(bytes(data))
    refused(tmp_path / "a.zip", "encrypted")
