"""A program written elsewhere: whole, within limits, no link followed, nothing of the user's touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.errors import UnreadableProgram
from reenact.program.program import read_program
from reenact.program.tree import write_to


def make(folder: Path) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text("import torch\ntorch.optim.SGD([], lr=0.1)\n")
    (folder / "data").mkdir()
    (folder / "data" / "rows.csv").write_text("1,2\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "train.pyc").write_bytes(b"x")
    return folder


def test_the_tree_is_copied_without_what_nobody_reads(tmp_path: Path) -> None:
    program = read_program(["train.py"], make(tmp_path / "here"))
    entry = write_to(program, tmp_path / "there")
    found = sorted(str(path.relative_to(tmp_path / "there")) for path in (tmp_path / "there").rglob("*"))
    assert found == ["data", "data/rows.csv", "train.py"]
    assert entry == tmp_path / "there" / "train.py"


def test_links_are_made_anew_and_not_followed(tmp_path: Path) -> None:
    here = make(tmp_path / "here")
    (tmp_path / "big.bin").write_bytes(b"0" * 1000)
    (here / "link.bin").symlink_to("../big.bin")
    (here / "loop").symlink_to(".")
    os.mkfifo(here / "pipe")
    write_to(read_program(["train.py"], here), tmp_path / "a" / "there", max_bytes=500)
    link = tmp_path / "a" / "there" / "link.bin"
    assert link.is_symlink()
    assert link.resolve() == (tmp_path / "big.bin").resolve()
    assert (tmp_path / "a" / "there" / "loop").is_symlink()
    assert not (tmp_path / "a" / "there" / "pipe").exists()


def test_a_copy_inside_itself_ends(tmp_path: Path) -> None:
    here = make(tmp_path / "here")
    program = read_program(["train.py"], here)
    write_to(program, here / "copy")
    assert not (here / "copy" / "copy").exists()


@pytest.mark.parametrize("limits", [{"max_bytes": 10}, {"max_files": 1}])
def test_too_large_a_tree_is_refused(tmp_path: Path, limits: dict[str, int]) -> None:
    program = read_program(["train.py"], make(tmp_path / "here"))
    with pytest.raises(UnreadableProgram, match="more than"):
        write_to(program, tmp_path / "there", **limits)


def test_a_linked_source_is_replaced_in_the_copy_only(tmp_path: Path) -> None:
    here = make(tmp_path / "here")
    (here / "real.py").write_text("LR = 0.1\n")
    (here / "config.py").symlink_to("real.py")
    (here / "train.py").write_text("import torch, config\ntorch.optim.SGD([], lr=config.LR)\n")
    program = read_program(["train.py"], here)
    changed = program.with_files(
        [file.with_text("LR = 0.5\n") for file in program.files if file.path.name == "config.py"]
    )
    write_to(changed, tmp_path / "there")
    assert (tmp_path / "there" / "config.py").read_text() == "LR = 0.5\n"
    assert (here / "real.py").read_text() == "LR = 0.1\n"


def test_a_file_that_could_not_be_read_is_copied_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text("import helper\n")
    (folder / "helper.py").write_bytes(b"name = '\xff\xfe'\n")
    copied = write_to(read_program(("train.py",), folder), tmp_path / "copy")
    assert (copied.parent / "helper.py").read_bytes() == b"name = '\xff\xfe'\n"
