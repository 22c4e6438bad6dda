"""Artefacts: kept whole, checked on every read, left-overs of dead writers swept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reenact.errors import JournalDamaged
from reenact.journal.artefacts import Artefacts, FolderArtefacts, MemoryArtefacts
from reenact.journal.storage import locks_at


class ArtefactsConformance:
    """What any store of artefacts must do: inherit it and give the fixture `store`."""

    @pytest.fixture
    def store(self) -> Artefacts:
        raise AssertionError("Give a fixture named store that makes an empty store of artefacts.")

    def test_what_was_kept_is_read_back(self, store: Artefacts) -> None:
        kept = store.keep(b"\x00weights")
        assert kept.size == 8
        assert store.read(kept.sha256) == b"\x00weights"

    def test_the_same_bytes_are_kept_once(self, store: Artefacts) -> None:
        assert store.keep(b"same") == store.keep(b"same")
        assert len(list(store.names())) == 1

    def test_nothing_is_something_too(self, store: Artefacts) -> None:
        assert store.read(store.keep(b"").sha256) == b""

    def test_names_are_listed_in_order(self, store: Artefacts) -> None:
        kept = [store.keep(bytes([number])).sha256 for number in range(20)]
        assert list(store.names()) == sorted(kept)

    def test_what_was_dropped_is_damage_when_read(self, store: Artefacts) -> None:
        kept = store.keep(b"gone")
        store.drop(kept.sha256)
        store.drop(kept.sha256)
        assert not list(store.names())
        with pytest.raises(JournalDamaged):
            store.read(kept.sha256)


class TestInMemory(ArtefactsConformance):
    @pytest.fixture
    def store(self) -> Artefacts:
        return MemoryArtefacts()


class TestInAFolder(ArtefactsConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Artefacts]:
        locks = locks_at(tmp_path / "journal.lock")
        yield FolderArtefacts(tmp_path, locks)
        locks.leave()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[FolderArtefacts]:
    locks = locks_at(tmp_path / "journal.lock")
    yield FolderArtefacts(tmp_path, locks)
    locks.leave()


def file_of(tmp_path: Path, sha256: str) -> Path:
    return tmp_path / "artefacts" / sha256[:2] / sha256[2:]


def test_any_flipped_byte_is_noticed(tmp_path: Path, folder: FolderArtefacts) -> None:
    kept = folder.keep(b"0123456789")
    path = file_of(tmp_path, kept.sha256)
    path.chmod(0o644)
    for place in range(10):
        data = bytearray(b"0123456789")
        data[place] ^= 0x20
        path.write_bytes(data)
        with pytest.raises(JournalDamaged, match="does not hold what was written"):
            folder.read(kept.sha256)


def test_a_damaged_file_is_repaired_by_who_has_the_content(
    tmp_path: Path, folder: FolderArtefacts
) -> None:
    kept = folder.keep(b"content")
    path = file_of(tmp_path, kept.sha256)
    path.chmod(0o644)
    path.write_bytes(b"broken!")
    folder.keep(b"content")
    assert folder.read(kept.sha256) == b"content"


def test_only_files_of_dead_writers_are_swept(tmp_path: Path, folder: FolderArtefacts) -> None:
    folder.keep(b"now this writer is known to live")
    mine = tmp_path / "tmp" / f"{folder._token()}-00000000"
    mine.write_bytes(b"half")
    dead = tmp_path / "tmp" / "123456789-00000000"
    dead.write_bytes(b"half")
    locks = locks_at(tmp_path / "journal.lock")
    FolderArtefacts(tmp_path, locks).sweep()
    locks.leave()
    assert mine.exists()
    assert not dead.exists()


def test_a_writer_killed_in_the_middle_leaves_nothing_that_stays(
    tmp_path: Path,
) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\nfrom reenact.journal.artefacts import "
        "FolderArtefacts\nfrom reenact.journal.storage import locks_at\nimport "
        "reenact.journal.storage as storage\nfolder = Path(sys.argv[1]); store = "
        "FolderArtefacts(folder, locks_at(folder / 'journal.lock'))\n(folder / 'tmp').mkdir()\n"
        "(folder / 'tmp' / f'{store._token()}-0000abcd').write_bytes(b'half')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env={**os.environ}, check=False
    )
    assert ended.returncode == -9
    assert list((tmp_path / "tmp").iterdir())
    locks = locks_at(tmp_path / "journal.lock")
    FolderArtefacts(tmp_path, locks).sweep()
    locks.leave()
    assert not list((tmp_path / "tmp").iterdir())


def test_a_name_that_is_no_hash_never_becomes_a_path(folder: FolderArtefacts) -> None:
    with pytest.raises(JournalDamaged, match="64 hexadecimal digits"):
        folder.read("../../etc/passwd")
