"""A program whose two sides are a commit and its parent: each is taken from a mirror and edited."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.dataset.checkout import materialise, materialise_fix, why_not_there
from benchmarks.dataset.foreign import Edit, Fixed, Foreign
from benchmarks.dataset.training import Training
from reenact.errors import InputError

FAULTY = "import model\nrate = 1000\nepochs = 500\nprint(model.NAME)\n"
RIGHT = "import model\n\nrate = 1\nepochs = 500\nprint(model.NAME)\n"


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ("git", *who, *words), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def committed(folder: Path, program: str, name: str) -> str:
    (folder / "train.py").write_text(program, encoding="utf-8")
    (folder / "model.py").write_text(f"NAME = '{name}'\nsize = 7\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", name)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def mirror(tmp_path: Path) -> tuple[Path, Training, Foreign, Fixed]:
    """Checkouts with one mirror, and a case of its two commits."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    before, after = committed(work, FAULTY, "before"), committed(work, RIGHT, "after")
    checkouts = tmp_path / "checkouts"
    git(tmp_path, "clone", "-q", "--bare", str(work), str(checkouts / "owner+name" / "repo"))
    fixed = Fixed("train.py", hashlib.sha256(RIGHT.encode()).hexdigest(), commit=after)
    sha256 = hashlib.sha256(FAULTY.encode()).hexdigest()
    edits = (Edit(3, "500", "2"), Edit(2, "size = 7", "size = 8", file="model.py"))
    foreign = Foreign("owner/name", sha256, commit=before, edits=edits, fixed=fixed)
    training = Training("own", "train.py", sound=True, what="for tests", foreign=foreign)
    return checkouts, training, foreign, fixed


Case = tuple[Path, Training, Foreign, Fixed]


def test_the_faulty_side_is_the_commit_before_and_holds_nothing_of_the_fix(
    mirror: Case, tmp_path: Path
) -> None:
    checkouts, training, foreign, _ = mirror
    entry = materialise(training, foreign, checkouts, tmp_path / "copy")
    assert entry.read_text(encoding="utf-8") == FAULTY.replace("500", "2")
    assert (entry.parent / "model.py").read_text(encoding="utf-8") == "NAME = 'before'\nsize = 8\n"
    assert {path.name for path in entry.parent.iterdir()} == {"train.py", "model.py"}


def test_edits_move_with_their_lines_to_the_fixed_side(mirror: Case, tmp_path: Path) -> None:
    checkouts, training, foreign, fixed = mirror
    entry = materialise_fix(training, foreign, fixed, checkouts, tmp_path / "copy")
    assert entry.read_text(encoding="utf-8") == RIGHT.replace("500", "2")
    assert (entry.parent / "model.py").read_text(encoding="utf-8") == "NAME = 'after'\nsize = 8\n"


def test_a_line_that_the_fix_changed_has_an_edit_of_its_own(mirror: Case, tmp_path: Path) -> None:
    checkouts, training, foreign, fixed = mirror
    foreign = replace(foreign, edits=(Edit(2, "1000", "10"),))
    plain = materialise_fix(training, foreign, fixed, checkouts, tmp_path / "plain")
    assert plain.read_text(encoding="utf-8") == RIGHT
    own = replace(fixed, edits=(Edit(3, "rate = 1", "rate = 3"),))
    entry = materialise_fix(training, foreign, own, checkouts, tmp_path / "copy")
    assert entry.read_text(encoding="utf-8") == RIGHT.replace("rate = 1", "rate = 3")


def test_another_commit_than_the_described_one_is_refused(mirror: Case, tmp_path: Path) -> None:
    checkouts, training, foreign, fixed = mirror
    with pytest.raises(InputError, match="not the one"):
        materialise(training, replace(foreign, commit=fixed.commit), checkouts, tmp_path / "copy")


def test_a_mirror_that_is_missing_is_named(mirror: Case, tmp_path: Path) -> None:
    checkouts, training, foreign, _ = mirror
    assert not why_not_there(training, foreign, checkouts)
    elsewhere = replace(foreign, source="owner/elsewhere")
    assert why_not_there(training, elsewhere, checkouts) == "no mirror"
    with pytest.raises(InputError, match="no mirror"):
        materialise(training, elsewhere, checkouts, tmp_path / "copy")
