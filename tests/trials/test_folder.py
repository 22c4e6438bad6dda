"""The folder of a trial is like the user's, and nothing that is written there reaches the
user's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.executor import fingerprint, program_in
from reenact.errors import StorageError
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import program_from_text, read_program
from reenact.trials.folder import CROWDED, MOST_FILE_BYTES, SCRATCH, place
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial


def large_file(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"mine")
        file.truncate(MOST_FILE_BYTES + 1)


def test_small_files_are_copies_large_ones_and_crowds_are_links(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    program = program_in(folder, "print(1)")
    (folder / "images").mkdir()
    for number in range(CROWDED + 1):
        (folder / "images" / f"{number}.txt").touch()
    (folder / "few").mkdir()
    (folder / "few" / "a.csv").write_text("1")
    for name in (".git", "__pycache__", SCRATCH + "x"):
        (folder / name).mkdir()
        (folder / name / "kept").touch()
    large_file(folder / "data.bin")
    (folder / "inside").symlink_to("few")
    (folder / "outside").symlink_to(tmp_path / "elsewhere")
    placed = place(program, tmp_path / "t")
    made = placed.folder
    assert placed.linked
    assert {path.name for path in made.iterdir()} == {
        "train.py",
        "images",
        "few",
        "data.bin",
        "inside",
        "outside",
    }
    assert (made / "images").readlink() == folder / "images"
    assert (made / "data.bin").readlink() == folder / "data.bin"
    assert (made / "outside").readlink() == tmp_path / "elsewhere"
    assert (made / "inside" / "a.csv").resolve() == made.resolve() / "few" / "a.csv"
    assert not (made / "few" / "a.csv").is_symlink()


def test_a_program_given_as_text_takes_nothing_along(tmp_path: Path) -> None:
    placed = place(program_from_text("import b\n", others={"b.py": "x = 1\n"}), tmp_path / "t")
    assert sorted(path.name for path in placed.folder.iterdir()) == ["b.py", "train.py"]
    assert placed.entry.read_text() == "import b\n"


def test_a_program_below_the_folder_it_is_started_in(tmp_path: Path) -> None:
    (tmp_path / "w" / "data").mkdir(parents=True)
    (tmp_path / "w" / "data" / "x").write_text("1")
    program_in(tmp_path / "w" / "code", "print(1)")
    placed = place(read_program(["code/train.py"], tmp_path / "w"), tmp_path / "t")
    assert (placed.working / "data" / "x").read_text() == "1"
    assert placed.entry == placed.working / "code" / "train.py"


def test_a_program_that_looks_upwards_sees_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "w" / "data").mkdir(parents=True)
    (tmp_path / "w" / "data" / "x").write_text("1")
    plain = place(
        program_in(tmp_path / "w" / "a", "print(__import__('pathlib').Path(__file__).parent)"),
        tmp_path / "t1",
    )
    assert not plain.linked
    looks = place(program_in(tmp_path / "w" / "a", "open('../data/x')"), tmp_path / "t2")
    assert (looks.working / ".." / "data" / "x").read_text() == "1"
    apart = program_in(tmp_path / "w" / "b", "open('../data/x')")
    other = place(
        read_program([str(apart.folder / "train.py")], tmp_path / "w" / "data"),
        tmp_path / "t3",
    )
    assert (other.working / "x").read_text() == "1"
    assert other.entry.is_file()


def test_a_file_that_could_not_be_read_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "odd.py").write_bytes(b"x = '\xff'\n")
    placed = place(program_in(tmp_path / "p", "import odd\n"), tmp_path / "t")
    assert (placed.folder / "odd.py").read_bytes() == b"x = '\xff'\n"


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", "print(1)")
    (tmp_path / "t").write_text("in the way")
    with pytest.raises(StorageError, match="could not be made"):
        place(program, tmp_path / "t")


WRITER = """\
import os, pathlib, shutil, sqlite3, subprocess, sys, threading
import numpy as np
import torch

assert open("large.bin", "rb").read(4) == b"mine"
torch.save({"a": 1}, "checkpoint.pt")
assert torch.load("checkpoint.pt") == {"a": 1}
with open("large.bin", "r+b") as file:
    file.write(b"ours")
assert open("large.bin", "rb").read(4) == b"ours"
np.memmap("mapped.bin", mode="r+", shape=(4,))[:] = 7
os.truncate("cut.bin", 2)
pathlib.Path("crowd/0.txt").write_text("ours")
pathlib.Path("crowd/new.txt").write_text("ours")
os.remove("crowd/1.txt")
assert len(os.listdir("crowd")) == len(os.listdir("../p/crowd"))
pathlib.Path("../beside/new.txt").write_text("ours")
code = "open('child.bin', 'r+b').write(b'ours'); print(open('child.bin', 'rb').read(4))"
assert b"ours" in subprocess.run([sys.executable, "-c", code], capture_output=True).stdout
shutil.rmtree("other")
"""


def test_nothing_is_written_through_a_link(pool: ProcessPool, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    program = program_in(folder, WRITER)
    for name in ("large.bin", "checkpoint.pt", "mapped.bin", "cut.bin", "child.bin"):
        large_file(folder / name)
    for name in ("crowd", "other"):
        (folder / name).mkdir()
        for number in range(CROWDED + 1):
            (folder / name / f"{number}.txt").touch()
    (tmp_path / "beside").mkdir()
    before = fingerprint(tmp_path)
    (outcome,) = pool.run([Trial(program)])
    assert outcome.kind is OutcomeKind.NO_TRAINING, outcome
    assert fingerprint(tmp_path) == before


def test_a_trial_stays_within_the_callers_temporary_folder(tmp_path: Path) -> None:
    program = program_in(tmp_path, "import os; open('made.txt', 'w').write(os.getcwd())")
    with ProcessPool(1, python=sys.executable, scratch=tmp_path) as inside:
        found = inside.run([Trial(program), Trial(program, seed=1)])
    assert [outcome.kind for outcome in found] == [OutcomeKind.NO_TRAINING] * 2, found
    assert not (tmp_path / "made.txt").exists()
