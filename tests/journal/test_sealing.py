"""The folder of a trace is evidence only below its folder and as the watched run has left it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.journal import Journal


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    folder = tmp_path / "traces" / "train-1"
    (folder / "deep").mkdir(parents=True)
    (folder / "header.json").write_text("{}")
    (folder / "deep" / "chunk-000001.npz").write_bytes(b"numbers")
    return folder


def changed(folder: Path) -> None:
    (folder / "header.json").write_text('{"loss": 0}')


def added(folder: Path) -> None:
    (folder / "chunk-000002.npz").write_bytes(b"more")


def removed(folder: Path) -> None:
    (folder / "deep" / "chunk-000001.npz").unlink()


def renamed(folder: Path) -> None:
    (folder / "header.json").rename(folder / "ending.json")


def linked(folder: Path) -> None:
    (folder / "header.json").rename(folder.parent / "kept")
    (folder / "header.json").symlink_to(folder.parent / "kept")


def piped(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def unsigned(folder: Path) -> None:
    (folder / "trace.mac").unlink()


def misread(folder: Path) -> None:
    (folder / "trace.mac").write_bytes(b"\xff" * 64)


@pytest.mark.parametrize(
    "harm", [changed, added, removed, renamed, linked, piped, unsigned, misread]
)
def test_what_was_changed_since_is_no_evidence(
    journal: Journal, trace: Path, harm: Callable[[Path], None]
) -> None:
    journal.seal(trace)
    assert journal.is_sealed(trace, trace.parent)
    harm(trace)
    assert not journal.is_sealed(trace, trace.parent)


def test_a_folder_elsewhere_is_no_evidence(journal: Journal, trace: Path, tmp_path: Path) -> None:
    journal.seal(trace)
    outside = tmp_path / "outside" / trace.name
    shutil.copytree(trace, outside)
    assert not journal.is_sealed(outside, trace.parent)
    assert not journal.is_sealed(trace.parent / ".." / "outside" / trace.name, trace.parent)
    (trace.parent / "link").mkdir()
    (trace.parent / "link" / trace.name).symlink_to(outside)
    assert not journal.is_sealed(trace.parent / "link" / trace.name, trace.parent)
    assert not journal.is_sealed(trace.parent, trace.parent)
    assert not journal.is_sealed(trace.parent / "gone", trace.parent)
    # The trace of another run of this user under this one's name.
    other = trace.parent / "train-2"
    shutil.copytree(trace, other)
    assert not journal.is_sealed(other, trace.parent)


def test_the_key_of_somebody_else_does_not_seal(journal: Journal, trace: Path) -> None:
    with Journal.in_memory() as other:
        other.seal(trace)
    assert not journal.is_sealed(trace, trace.parent)


def test_a_folder_with_a_link_is_not_sealed(journal: Journal, trace: Path) -> None:
    linked(trace)
    journal.seal(trace)
    assert not (trace / "trace.mac").exists()
