"""Looking into git trees from outside runs nothing of what their settings name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.sandbox.repository import Repository, clone

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **IDENTITY},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "train.py").write_text("lr = 0.1\n")
    (folder / "data").mkdir()
    (folder / "data" / "a.md").write_text("text\n")
    (folder / "link").symlink_to("train.py")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def poisoned(tree: Path, tripwire: Path) -> None:
    """Make every look at the tree by a careless git touch the tripwire."""
    trip = tree / "trip.sh"
    trip.write_text(f"#!/bin/sh\necho tripped >> {tripwire}\ncat\n")
    trip.chmod(0o755)
    hooks = tree / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "post-index-change",
        "post-checkout",
        "pre-commit",
        "reference-transaction",
    ):
        (hooks / name).write_text(trip.read_text())
        (hooks / name).chmod(0o755)
    with (tree / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {trip}\n\tpager = {trip}\n\talternateRefsCommand = {trip}\n"
        )
        config.write(
            f'[filter "x"]\n\tclean = {trip}\n\tsmudge = {trip}\n[diff "x"]\n\ttextconv = {trip}\n'
        )
        config.write(f"[diff]\n\texternal = {trip}\n[alias]\n\tstatus = !{trip}\n")
    (tree / ".gitattributes").write_text("* filter=x diff=x\n")


def test_a_careless_git_is_caught_by_the_poison(tree: Path, tmp_path: Path) -> None:
    poisoned(tree, tmp_path / "tripwire")
    (tree / "train.py").write_text("lr = 10\n")
    subprocess.run(["git", "status"], cwd=tree, capture_output=True, check=False)
    assert (tmp_path / "tripwire").exists()


def test_every_look_at_a_poisoned_tree_runs_nothing(tree: Path, tmp_path: Path) -> None:
    before = git(tree, "rev-parse", "HEAD")
    poisoned(tree, tmp_path / "tripwire")
    (tree / "train.py").write_text("lr = 10\n")
    repository = Repository(tree)
    assert repository.head() == before
    assert set(repository.changed()) == {"train.py", ".gitattributes", "trip.sh"}
    repository.export("main", tmp_path / "out")
    assert (tmp_path / "out" / "data" / "a.md").read_text() == "text\n"
    assert not (tmp_path / "tripwire").exists()


def test_links_of_a_tree_come_out_as_plain_files(tree: Path, tmp_path: Path) -> None:
    Repository(tree).export("HEAD", tmp_path / "out")
    assert not (tmp_path / "out" / "link").is_symlink()
    assert (tmp_path / "out" / "link").read_text() == "train.py"


def test_export_needs_an_empty_folder(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "full").write_text("x")
    with pytest.raises(InputError, match="not empty"):
        Repository(tree).export("HEAD", tmp_path)


def test_looking_leaves_the_tree_as_it_was(tree: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in sorted(tree.rglob("*"))}
    Repository(tree).changed()
    assert {path: path.lstat().st_mtime_ns for path in sorted(tree.rglob("*"))} == before


def test_a_sha256_repository_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "a").write_text("a")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    assert len(Repository(tmp_path).head()) == 64


@pytest.mark.parametrize("revision", ["--output=/tmp/x", "-h", "a..b", "", "a b", "main\n"])
def test_a_revision_that_is_an_option_is_refused(tree: Path, revision: str) -> None:
    with pytest.raises(InputError, match="no revision"):
        Repository(tree).commit(revision)


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a git work tree"):
        Repository(tmp_path).head()


def test_a_git_file_that_points_elsewhere_is_refused(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {tree / '.git'}\n")
    with pytest.raises(InputError, match=r"not a git work tree"):
        Repository(other).head()


def test_borrowed_objects_are_not_followed(tree: Path) -> None:
    (tree / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (tree / ".git" / "objects" / "info" / "alternates").write_text("/elsewhere\n")
    with pytest.raises(InputError, match="borrows objects"):
        Repository(tree).head()


def test_a_head_that_is_a_fifo_does_not_hang(tree: Path) -> None:
    (tree / ".git" / "HEAD").unlink()
    os.mkfifo(tree / ".git" / "HEAD")
    with pytest.raises(InputError, match="HEAD"):
        Repository(tree).head()


def test_an_index_that_is_a_link_is_not_followed(tree: Path, tmp_path: Path) -> None:
    (tree / ".git" / "index").rename(tmp_path / "index")
    (tree / ".git" / "index").symlink_to(tmp_path / "index")
    assert "train.py" in Repository(tree).changed()


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c true",
        "file:///etc",
        "-oProxyCommand=x",
        "git@host:x/y",
        "http://host/x",
        "/nowhere",
        "https://a b/c",
    ],
)
def test_addresses_that_are_not_https_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="https"):
        clone(address, tmp_path / "into")


def test_a_folder_is_cloned_only_when_the_user_named_it(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="https"):
        clone(str(tree), tmp_path / "into")
    cloned = clone(str(tree), tmp_path / "into", local=True)
    assert cloned.head() == git(tree, "rev-parse", "HEAD")
    assert cloned.changed() == ()
    assert not (tmp_path / "into" / "link").is_symlink()


def test_cloning_a_poisoned_tree_runs_nothing(tree: Path, tmp_path: Path) -> None:
    git(
        tree,
        "config",
        "uploadpack.packObjectsHook",
        f"sh -c 'touch {tmp_path}/tripwire; exec \"$@\"' --",
    )
    poisoned(tree, tmp_path / "tripwire")
    clone(str(tree), tmp_path / "into", local=True)
    assert not (tmp_path / "tripwire").exists()


def test_a_failed_clone_leaves_nothing(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="git fetch failed"):
        clone(str(tree), tmp_path / "into", revision="no-such-branch", local=True)
    assert not (tmp_path / "into").exists()


def test_a_bare_partial_clone_gives_what_it_has(tree: Path, tmp_path: Path) -> None:
    """Content that is not there is an obstacle for nobody who does not need it."""
    (tree / "model.bin").write_bytes(b"weights" * 1000)
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "second")
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "-q", "--bare", str(tree), str(bare))
    lost = git(tree, "rev-parse", "HEAD:model.bin")
    (bare / "objects" / lost[:2] / lost[2:]).unlink()
    repository = Repository(bare)
    repository.export("HEAD", tmp_path / "out")
    assert (tmp_path / "out" / "train.py").read_text() == "lr = 0.1\n"
    assert not (tmp_path / "out" / "model.bin").exists()
    assert repository.day("HEAD").year >= 2024
