from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.sandbox.files.cleanup import remove_tree


def test_a_tree_of_any_depth(quick_path: Path) -> None:
    root = quick_path / "tree"
    root.mkdir()
    program = (
        "import os\nfor _ in range(1500):\n os.mkdir('d' * 20); os.chdir('d' * 20)\nopen('x', 'w')"
    )
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)
    assert remove_tree(root) == ()
    assert not root.exists()


def test_closed_folders_odd_names_and_links(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    root = tmp_path / "tree"
    root.mkdir()
    for name in (
        b"a\nb",
        b"\x1b]52;c;AAAA\x07",
        b"-rf",
        b"\xff\xfe",
        b"x" * 255,
        b" ",
        b".lifted-0",
    ):
        folder = root / os.fsdecode(name)
        (folder / "inner").mkdir(parents=True)
        (folder / "link").symlink_to(kept)
    os.mkfifo(root / "fifo")
    (root / "loop").symlink_to("loop")
    for folder in list(root.iterdir()):
        if folder.is_dir() and not folder.is_symlink():
            (folder / "inner").chmod(0)
            folder.chmod(0)
    root.chmod(0)
    assert remove_tree(root) == ()
    assert not root.exists()
    assert (kept / "file").read_text() == "kept"


def test_many_folders_beside_each_other(quick_path: Path) -> None:
    root = quick_path / "tree"
    for number in range(300):
        (root / f"d{number}" / "e").mkdir(parents=True)
        (root / f"d{number}" / "f").write_text("x")
    assert remove_tree(root) == ()
    assert not root.exists()


def test_what_is_not_there_a_file_and_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert remove_tree(tmp_path / "absent") == ()
    assert remove_tree(tmp_path / "link") == ()
    assert (tmp_path / "file").exists()
    assert remove_tree(tmp_path / "file") == ()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file immutable")
def test_a_file_that_root_made_immutable(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "fixed").write_text("x")
    if subprocess.run(
        ["chattr", "+i", root / "fixed"], check=False, capture_output=True
    ).returncode:
        pytest.skip("this file system has no such flag")
    with pytest.raises(PermissionError):
        (root / "fixed").unlink()
    assert remove_tree(root) == ()


@pytest.mark.skipif(
    os.getuid() != 0
    or not Path("/usr/bin/setpriv").exists()
    or not Path("/usr/bin/python3").exists(),
    reason="only root can make files of another user, and needs an interpreter for him",
)
def test_what_another_user_closed_is_reported_and_the_rest_removed(
    open_path: Path,
) -> None:
    root = open_path / "tree"
    (root / "theirs" / "inner").mkdir(parents=True)
    (root / "ours").mkdir()
    os.chown(root, 4242, 4242)
    os.chown(root / "ours", 4242, 4242)
    (root / "theirs").chmod(0o700)
    program = """
import sys
from pathlib import Path
from reenact.sandbox.files.cleanup import remove_tree
print(remove_tree(Path(sys.argv[1])))
"""
    output = subprocess.run(
        [
            "setpriv",
            "--reuid",
            "4242",
            "--regid",
            "4242",
            "--clear-groups",
            "/usr/bin/python3",
            "-c",
            program,
            str(root),
        ],
        env={
            "PYTHONPATH": str(Path(__file__).parents[3] / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named" in output.stderr:
        pytest.skip("another user cannot read these sources")
    assert output.returncode == 0, output.stderr
    assert "theirs" in output.stdout
    assert [path.name for path in root.iterdir()] == ["theirs"]
