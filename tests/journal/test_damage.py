"""Any flipped byte, any cut: what was written comes back, or JournalDamaged says so. Never a
wrong answer.
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import JournalError
from reenact.journal import Journal, Kind, Run, Status

WRITER = Path(__file__).with_name("killed_writer.py")
_spec = importlib.util.spec_from_file_location("killed_writer", WRITER)
assert _spec is not None
assert _spec.loader is not None
writer = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(writer)
PAGE = 4096
DB, WAL = "journal.db", "journal.db-wal"
some_flips = pytest.mark.parametrize("flips", [20, pytest.param(100, marks=pytest.mark.slow)])
"""So many bits anywhere, beside those of the structures."""


def written(folder: Path, *words: str) -> Path:
    ended = subprocess.run([sys.executable, str(WRITER), str(folder), *words], check=False)
    assert ended.returncode == -9
    # Shared memory is not durable: after a power cut it is gone.
    (folder / "journal.db-shm").unlink()
    return folder


@pytest.fixture(scope="module")
def in_the_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything is in the write-ahead log still."""
    return written(tmp_path_factory.mktemp("log") / ".reenact")


@pytest.fixture(scope="module")
def in_both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log has been carried over into the file and is still there: losing a part of it mixes
    two times.
    """
    return written(tmp_path_factory.mktemp("both") / ".reenact", "checkpoint")


@pytest.fixture(scope="module")
def in_the_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Closed properly: all is in the file."""
    folder = written(tmp_path_factory.mktemp("file") / ".reenact")
    Journal.open(folder).close()
    assert not (folder / WAL).exists()
    return folder


class Answers:
    """All that a journal tells: rows, results, and what continuing its run gives and costs."""

    def __init__(self, folder: Path) -> None:
        self.performed: list[int] = []
        with Journal.open(folder) as journal:
            self.runs = [_lasting(run) for run in journal.runs()]
            self.results = {
                (run.id, step.path): journal.result(step)
                for run in journal.runs()
                for step in journal.steps(run)
            }
            self.continued = self._tell(journal, "half")
            self.reused = self._tell(journal, "whole")

    def _tell(self, journal: Journal, request: str) -> list[Any]:
        with journal.run(pipeline="tale", request=request) as run:
            reported = [
                run.step(
                    "ask",
                    lambda n=number: self._perform(n),
                    kind=Kind.LLM,
                    inputs=number,
                    attempt=number,
                    shared=True,
                )
                for number in range(writer.CALLS)
            ]
            run.finish(None)
            return reported

    def _perform(self, number: int) -> object:
        self.performed.append(number)
        return writer.result_of(number)


def _lasting(run: Run) -> tuple[Any, ...]:
    return (
        run.id,
        run.pipeline,
        run.what,
        run.request,
        run.status,
        run.verdict,
        run.steps,
        run.money,
    )


RIGHT = [writer.result_of(number) for number in range(writer.CALLS)]


def damages(
    size: int, structures: Iterable[int], flips: int
) -> Iterator[tuple[str, Callable[[bytearray], None]]]:
    """Flips and cuts all over the file, and flips in the structures that hold it together."""
    chance = random.Random(20260101)
    places = {chance.randrange(size) for _ in range(flips)} | set(structures)
    for place in sorted(places):
        bit = 1 << chance.randrange(8)
        yield f"flip {place} {bit}", partial(flip, place=place, bit=bit)
    for place in sorted(
        {0, 1, 31, 32, 33, size // 2, size - 1} | {chance.randrange(size) for _ in range(20)}
    ):
        yield f"cut {place}", partial(cut, place=place)


def flip(data: bytearray, place: int, bit: int) -> None:
    data[place] ^= bit


def cut(data: bytearray, place: int) -> None:
    del data[place:]


def outcomes(
    folder: Path, name: str, scratch: Path, structures: Iterable[int], flips: int
) -> Iterator[tuple[str, Answers | None]]:
    original = (folder / name).read_bytes()
    for label, damage in damages(len(original), structures, flips):
        shutil.copytree(folder, scratch)
        data = bytearray(original)
        damage(data)
        (scratch / name).write_bytes(data)
        try:
            yield label, Answers(scratch)
        except JournalError:
            yield label, None
        shutil.rmtree(scratch)


def test_the_undamaged_journal_answers_rightly(
    in_the_file: Path, in_the_log: Path, in_both: Path, tmp_path: Path
) -> None:
    for number, folder in enumerate((in_the_file, in_the_log, in_both)):
        shutil.copytree(folder, tmp_path / str(number))
        answers = Answers(tmp_path / str(number))
        assert answers.continued == answers.reused == RIGHT
        assert answers.performed == []
        assert [run[4] for run in answers.runs] == [Status.RUNNING, Status.FINISHED]


@pytest.mark.release
@some_flips
def test_damage_in_the_file_is_named_or_harmless(
    in_the_file: Path, tmp_path: Path, in_ram: Path, flips: int
) -> None:
    """Nothing acknowledged is lost in silence: either all of it is there, or the damage is
    named.
    """
    whole = tmp_path / "whole"
    shutil.copytree(in_the_file, whole)
    right = Answers(whole)
    named = 0
    pages = range(0, (in_the_file / DB).stat().st_size, PAGE)
    structures = {
        *range(0, 100, 2),
        *(page + offset for page in pages for offset in (0, 1, 3, 4, 5, 6, 8, 9, 12)),
    }
    for label, answers in outcomes(in_the_file, DB, in_ram, structures, flips):
        if answers is None:
            named += 1
            continue
        assert answers.runs == right.runs, label
        assert answers.results == right.results, label
        assert answers.continued == RIGHT, label
        assert answers.reused == RIGHT, label
        # Steps of another run are looked up by an index: a damaged one may cost, but never lies.
        assert answers.performed == [] or label.startswith("flip"), label
    assert named > 50


@some_flips
@pytest.mark.parametrize("state", ["in_the_log", "in_both"])
def test_damage_in_the_log_gives_an_earlier_state_or_is_named(
    state: str, in_ram: Path, flips: int, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(state)
    kept = 0
    for label, answers in outcomes(folder, WAL, in_ram, range(0, 56, 4), flips):
        if answers is None:
            continue
        kept += 1
        assert answers.continued == RIGHT, label
        assert answers.reused == RIGHT, label
        for (_, path), result in answers.results.items():
            number = int(path.split("[")[1].rstrip("]"))
            assert result in (RIGHT[number], None), label
    assert kept > 20


def test_damage_in_an_artefact_is_named(in_the_file: Path, tmp_path: Path) -> None:
    artefacts = sorted(path for path in (in_the_file / "artefacts").rglob("*") if path.is_file())
    assert len(artefacts) == writer.CALLS
    for artefact in artefacts:
        scratch = tmp_path / artefact.name
        shutil.copytree(in_the_file, scratch)
        damaged = scratch / artefact.relative_to(in_the_file)
        damaged.chmod(0o644)
        damaged.write_bytes(damaged.read_bytes()[:-1])
        with Journal.open(scratch) as journal:
            assert journal.check().problems
        with pytest.raises(JournalError, match="does not hold what was written"):
            Answers(scratch)


def test_a_check_names_the_damaged_run_and_removing_it_repairs_the_journal(
    in_the_file: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    shutil.copytree(in_the_file, scratch)
    with Journal.open(scratch) as journal:
        journal._database.connection.execute(
            "UPDATE step_rows SET tries = 99 WHERE run = 1 AND nr = 2"
        )
        with pytest.raises(JournalError, match="tale/ask"):
            journal.steps(journal.find("1"))
        [problem] = journal.check().problems
        assert "tale/ask" in problem
        journal.remove("1")
        assert journal.check().problems == ()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    for content in (b"not a database, though long enough to be looked at " * 100, b"x"):
        folder = tmp_path / str(len(content))
        folder.mkdir()
        (folder / DB).write_bytes(content)
        with pytest.raises(JournalError):
            Journal.open(folder)
        assert (folder / DB).read_bytes() == content
