"""Files of a stranger are read as what they are, or left out with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.bug.project_files import MOST_FILE_BYTES, decode, project_files


def test_only_plain_python_files_of_the_tree_are_read(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "pkg").mkdir(parents=True)
    (tmp_path / "secret.py").write_text("key = 1")
    (tree / "pkg" / "a.py").write_text("x = 1")
    (tree / "pkg" / "b.txt").write_text("x")
    (tree / "out.py").symlink_to(tmp_path / "secret.py")
    (tree / "twice.py").symlink_to("pkg/a.py")
    (tree / "folder").symlink_to(tmp_path)
    os.mkfifo(tree / "waits.py")
    (tree / "data.py").write_bytes(b"\x00\x01")
    (tree / "huge.py").write_bytes(b"#" * (MOST_FILE_BYTES + 1))
    (tree / "folder.py").mkdir()
    files = project_files(tree)
    assert {str(path): text for path, text in files.texts.items()} == {"pkg/a.py": "x = 1"}
    why = dict(line.split(": ", 1) for line in files.left_out)
    assert why["out.py"] == why["twice.py"] == "a link"
    assert (why["waits.py"], why["data.py"]) == (
        "cannot be read (it is a FIFO, expected a file)",
        "binary",
    )
    assert "more than 1 MiB" in why["huge.py"]


def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    for name in (b"\xff.py", b"a\nb.py", b"\x1b[2J.py"):
        (tmp_path / os.fsdecode(name)).write_text("x = 1")
    files = project_files(tmp_path)
    assert files.texts == {}
    assert [line.encode() for line in files.left_out] == [
        b"?[2J.py: its name is not text",
        b"a?b.py: its name is not text",
        b"?.py: its name is not text",
    ]


@pytest.mark.parametrize(
    "name", [".venv", "venv", "node_modules", "__pycache__", "x.egg-info", "build/lib"]
)
def test_copies_and_environments_are_not_entered(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name / "a.py").write_text("")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "pyvenv.cfg").write_text("")
    (tmp_path / "mine" / "b.py").write_text("")
    assert project_files(tmp_path).texts == {}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\ny\rz", "x = 1\ny\nz"),
        ("# é\n".encode(), "# é\n"),
        ("# é\n".encode("utf-8-sig"), "# é\n"),
        ("x = 'é'".encode("utf-16"), "x = 'é'"),
        (b"# -*- coding: latin-1 -*-\n# \xe9", "# -*- coding: latin-1 -*-\n# é"),
        (b"# \xe9", "# é"),
        (b"# coding: utf-8\n# \xe9", "# coding: utf-8\n# é"),
        (b"# coding: hex\n6", "# coding: hex\n6"),
        (b"# coding: unicode_escape\n'\\ud800'", "# coding: unicode_escape\n'\\ud800'"),
        (b"# coding: no-such\nx", "# coding: no-such\nx"),
    ],
)
def test_every_encoding_gives_text(data: bytes, text: str) -> None:
    assert decode(data) == text
