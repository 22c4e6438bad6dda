"""A tested claim becomes a test of the user's project, red before the fix and green after it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import reenact
from reenact.cli.edge import guarded
from reenact.cli.main import reenact as command_line
from reenact.errors import Inconclusive, InputError
from reenact.journal import Journal
from tests.claims.conftest import CHECK, FIX, RETURNS

CLAIM = "The first step has the most to come"
PROGRAM = RETURNS.replace(
    "GAMMA = 0.5", 'with open("rows.bin", "rb") as rows:\n    GAMMA = 0.5 * len(rows.read(1))'
)
"""Its data are so large that a copy of its folder has a link in their place."""
LARGE = 17 * 2**20


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A project in which a claim was tested, and one that does not hold."""
    # What lies in /tmp is never shown to a box.
    with tempfile.TemporaryDirectory(prefix="reenact-kept-", dir="/var/tmp") as made:
        yield project(Path(made))


def project(made: Path) -> Path:
    (made / "train.py").write_text(PROGRAM)
    (made / "fix.diff").write_text(FIX)
    (made / "check.py").write_text(CHECK)
    (made / "wrong.py").write_text(CHECK.replace("1.0 + 0.5 + 0.25", "1.0"))
    with (made / "rows.bin").open("wb") as rows:
        rows.truncate(LARGE)
    with contextlib.chdir(made):
        for check in ("check.py", "wrong.py"):
            reenact.test_hypothesis(
                "train.py", claim=CLAIM, edit="fix.diff", check=check, effect=False
            )
        reenact.diagnose("train.py", depth="static")
    return made


@pytest.fixture
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def outcome(folder: Path, file: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def test_the_test_is_red_before_the_fix_and_green_after_it(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = "tests/test_first_step.py"
    assert guarded(command_line, ["keep", "1", "--pytest", file]) == 0
    assert "fails while the fault is in train.py" in capsys.readouterr().out
    text = (place / file).read_text()
    assert CHECK in text
    assert text.startswith(f'"""{CLAIM}\n\nRemark by')
    assert '"rows.bin"' in text
    code, printed = outcome(place, file)
    assert code == 1
    assert "observed 1, reference 1.75" in printed
    fixed = PROGRAM.replace("in rewards", "in reversed(rewards)")
    (place / "train.py").write_text(fixed.replace("append(total)", "insert(0, total)"))
    try:
        assert outcome(place, file)[0] == 0
    finally:
        (place / "train.py").write_text(PROGRAM)


def test_a_file_that_is_there_is_not_written_over(place: Path) -> None:
    (place / "test_mine.py").write_text("mine = 1\n")
    with pytest.raises(InputError, match="is there already") as refused:
        reenact.keep("1", file="test_mine.py")
    assert "--force" in refused.value.next_step
    assert (place / "test_mine.py").read_text() == "mine = 1\n"
    assert "Written: test_mine.py" in reenact.keep("1", file="test_mine.py", force=True)
    assert "reenact.holds(" in (place / "test_mine.py").read_text()


@pytest.mark.parametrize(
    ("run", "file", "says"),
    [
        ("2", "test_x.py", "shows no fault, so nothing is kept. Refuted."),
        ("3", "test_x.py", "Only a claim that was tested is kept"),
        ("last", "test_x.py", "diagnose, finished"),
        ("none", "test_x.py", "There is no run 'none' here"),
        ("1", "test_x.txt", "A test is a Python file"),
    ],
)
def test_what_is_not_kept(place: Path, run: str, file: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        reenact.keep(run, file=file)
    assert not (place / file).exists()


def test_a_run_of_somebody_else_is_not_kept(place: Path, tmp_path: Path) -> None:
    assert guarded(command_line, ["runs", "export", "1", str(tmp_path / "one.run")]) == 0
    with Journal.open(tmp_path / "runs") as journal:
        journal.take_in(tmp_path / "one.run")
    with pytest.raises(InputError, match="recorded by somebody else"):
        reenact.keep(file="test_x.py", runs_dir=tmp_path / "runs")


def test_whether_it_holds_now(place: Path) -> None:
    found = reenact.holds("train.py", CHECK, data=["rows.bin"])
    assert (found.holds, found.saw) == (False, "observed 1, reference 1.75")
    found = reenact.holds(["train.py"], CHECK, shows="same", folder=place, data=["rows.bin"])
    assert found.holds


def test_a_check_that_cannot_tell_is_no_answer(place: Path) -> None:
    with pytest.raises(Inconclusive, match="it ended in FileNotFoundError"):
        reenact.holds("train.py", CHECK)
    with pytest.raises(InputError, match="imports no `reenact_reach`"):
        reenact.holds("train.py", "observed = reference = 1")
    with pytest.raises(InputError, match="data are not there"):
        reenact.holds("train.py", CHECK, data=["nowhere.bin"])


@pytest.mark.parametrize(
    "shows",
    ["", "wrong", "warns something is wrong", "slower 3", "differs abc", "above", "above nan"],
)
def test_what_is_no_relation_is_refused(place: Path, shows: str) -> None:
    with pytest.raises(InputError, match="not a relation of `observed`"):
        reenact.holds("train.py", CHECK, shows=shows)


def test_a_tolerance_has_bounds(place: Path) -> None:
    with pytest.raises(InputError, match="tolerance must be between 0 and 1"):
        reenact.holds("train.py", CHECK, tolerance=2)
