"""Repositories from folders, archives, bundles and addresses; what cannot be used is a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from reenact.errors import InputError, UnreadableRepository
from reenact.intake.repository import CHANGED, git_errors, open_repository

History = tuple[Path, str, str]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)


def test_a_folder_is_used_where_it_lies(history: History, tmp_path: Path) -> None:
    folder, _, second = history
    checkout = open_repository(str(folder), into=tmp_path / "into")
    assert (checkout.folder, checkout.commit, checkout.files) == (folder, second, 1)
    (folder / "net.py").write_text("width = 3\n")
    assert open_repository(str(folder), into=tmp_path / "into").commit == second + CHANGED
    assert not (tmp_path / "into").exists()


def test_a_change_of_equal_size_in_the_second_of_the_commit_is_seen(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    time.sleep(1 - time.time() % 1)
    (tmp_path / "net.py").write_text("width = 2\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "net.py").write_text("width = 3\n")
    time.sleep(1 - time.time() % 1)
    assert open_repository(str(tmp_path), into=tmp_path / "into").commit.endswith(CHANGED)


def test_a_folder_without_history(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert open_repository(str(tmp_path), into=tmp_path / "into").commit == ""


@pytest.mark.parametrize("name", ["hash", "short", "HEAD~1", "main~1"])
def test_a_folder_at_a_commit(history: History, tmp_path: Path, name: str) -> None:
    folder, first, _ = history
    wanted = {"hash": first, "short": first[:8]}.get(name, name)
    checkout = open_repository(str(folder), wanted, into=tmp_path / "into")
    assert checkout.commit == first
    assert (checkout.folder / "net.py").read_text() == "width = 1\n"
    assert not (checkout.folder / ".git").exists()
    assert not (checkout.folder / "link.py").is_symlink()
    assert (folder / "net.py").read_text() == "width = 2\n"


def test_asked_again_the_same_checkout_is_found(history: History, tmp_path: Path) -> None:
    folder, first, _ = history
    once = open_repository(str(folder), first, into=tmp_path / "into")
    (once.folder / "mark").write_text("kept")
    again = open_repository(str(folder), first[:10], into=tmp_path / "into")
    assert again.folder == once.folder
    assert (again.folder / "mark").exists()
    assert [path.name for path in (tmp_path / "into").iterdir() if path.is_dir()] == [
        once.folder.name
    ]
    assert again.day == once.day
    assert again.day is not None, "the day of its commit is known without its history"


def test_a_bundle_at_its_newest_and_at_a_commit(history: History, tmp_path: Path) -> None:
    folder, first, second = history
    git(folder, "bundle", "create", str(tmp_path / "x.bundle"), "--all")
    newest = open_repository(str(tmp_path / "x.bundle"), into=tmp_path / "into")
    assert newest.commit == second
    older = open_repository(str(tmp_path / "x.bundle"), first[:9], into=tmp_path / "into")
    assert (older.folder / "net.py").read_text() == "width = 1\n"


def test_a_bundle_without_a_head_takes_its_only_branch(history: History, tmp_path: Path) -> None:
    folder, first, second = history
    git(folder, "branch", "odd")
    git(folder, "bundle", "create", str(tmp_path / "one.bundle"), "refs/heads/odd")
    assert open_repository(str(tmp_path / "one.bundle"), into=tmp_path / "into").commit == second
    git(folder, "branch", "even", first)
    git(
        folder,
        "bundle",
        "create",
        str(tmp_path / "two.bundle"),
        "refs/heads/odd",
        "refs/heads/even",
    )
    with pytest.raises(UnreadableRepository, match="several branches"):
        open_repository(str(tmp_path / "two.bundle"), into=tmp_path / "into")
    assert (
        open_repository(str(tmp_path / "two.bundle"), "even", into=tmp_path / "into").commit
        == first
    )


def test_what_a_killed_run_left_is_swept_after_a_day(history: History, tmp_path: Path) -> None:
    folder, first, _ = history
    for name, age in ((".partial-old", 90_000), (".partial-new", 60)):
        (tmp_path / "into" / name).mkdir(parents=True)
        moment = time.time() - age
        os.utime(tmp_path / "into" / name, (moment, moment))
    checkout = open_repository(str(folder), first, into=tmp_path / "into")
    folders = {path.name for path in (tmp_path / "into").iterdir() if path.is_dir()}
    assert folders == {".partial-new", checkout.folder.name}


def test_a_torn_bundle_is_a_sentence_and_leaves_nothing(history: History, tmp_path: Path) -> None:
    folder, _, _ = history
    git(folder, "bundle", "create", str(tmp_path / "x.bundle"), "--all")
    whole = (tmp_path / "x.bundle").read_bytes()
    (tmp_path / "x.bundle").write_bytes(whole[: len(whole) - 40])
    with pytest.raises(UnreadableRepository, match=r"bundle x\.bundle cannot be read"):
        open_repository(str(tmp_path / "x.bundle"), into=tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []


def test_a_bare_repository_is_cloned(history: History, tmp_path: Path) -> None:
    folder, first, second = history
    git(tmp_path, "clone", "-q", "--bare", str(folder), "bare")
    assert open_repository(str(tmp_path / "bare"), into=tmp_path / "into").commit == second
    older = open_repository(str(tmp_path / "bare"), first, into=tmp_path / "into")
    assert (older.folder / "net.py").read_text() == "width = 1\n"
    assert not (older.folder / ".git").exists()


def test_an_archive_of_git_knows_its_commit(history: History, tmp_path: Path) -> None:
    folder, first, second = history
    for name in ("p.zip", "p.tar.gz"):
        git(folder, "archive", "--prefix=p-1/", "-o", str(tmp_path / name), "HEAD")
        checkout = open_repository(str(tmp_path / name), second[:7], into=tmp_path / "into")
        assert (checkout.commit, checkout.folder.name) == (second, "p-1")
        with pytest.raises(UnreadableRepository, match="no history"):
            open_repository(str(tmp_path / name), first, into=tmp_path / "into")


def test_an_archive_of_a_work_tree_is_brought_to_a_commit(history: History, tmp_path: Path) -> None:
    folder, first, _ = history
    shutil.make_archive(str(tmp_path / "whole"), "gztar", folder.parent, folder.name)
    checkout = open_repository(str(tmp_path / "whole.tar.gz"), first, into=tmp_path / "into")
    assert (checkout.folder / "net.py").read_text() == "width = 1\n"


@pytest.mark.parametrize(
    "wanted", ["0" * 40, "abc1234", "no-such-branch", "--upload-pack=x", "a..b"]
)
def test_a_missing_commit_is_a_sentence(history: History, tmp_path: Path, wanted: str) -> None:
    folder, _, _ = history
    with pytest.raises(UnreadableRepository, match="has no commit"):
        open_repository(str(folder), wanted, into=tmp_path / "into")
    git(tmp_path, "clone", "-q", "--bare", str(folder), "bare")
    with pytest.raises(UnreadableRepository, match="has no commit"):
        open_repository(str(tmp_path / "bare"), wanted, into=tmp_path / "into")


def test_no_python_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "weights.bin").write_bytes(bytes(range(256)))
    with pytest.raises(UnreadableRepository, match="holds no Python: 1 files"):
        open_repository(str(tmp_path / "binary"), into=tmp_path / "into")
    with pytest.raises(UnreadableRepository, match="neither a zip or tar archive nor a git bundle"):
        open_repository(str(tmp_path / "binary" / "weights.bin"), into=tmp_path / "into")
    for name in ("nowhere", "long" * 2000):
        with pytest.raises(UnreadableRepository, match="there is nothing"):
            open_repository(str(tmp_path / name), into=tmp_path / "into")


@pytest.mark.parametrize(
    "address", ["http://host/x", "git@host:a/b", "ssh://host/x", "file:///etc"]
)
def test_addresses_that_are_not_https(tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match="https"):
        open_repository(address, into=tmp_path / "into")


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (
            "git fetch failed: fatal: unable to access 'https://h/x/': Could not resolve host: h",
            "be reached",
        ),
        (
            "git fetch failed: fatal: couldn't find remote ref abcd",
            "no commit or branch 'abcd'",
        ),
        (
            "git fetch failed: fatal: could not read Username for 'https://h': No such device",
            "not open to",
        ),
        (
            "git fetch failed: fatal: repository 'https://h/x/' not found",
            "is not there",
        ),
    ],
)
def test_errors_of_git_are_named(message: str, named: str) -> None:
    with pytest.raises(Exception, match=named), git_errors("https://h/x", "abcd"):
        raise InputError(message)


def test_other_words_of_git_pass() -> None:
    with (
        pytest.raises(InputError, match=r"^git did not end"),
        git_errors("https://h/x", "abcd"),
    ):
        raise InputError("git did not end within 3 s.")


def test_a_host_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"https://127\.0\.0\.1:1/x cannot be reached"):
        open_repository("https://127.0.0.1:1/x", into=tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []
