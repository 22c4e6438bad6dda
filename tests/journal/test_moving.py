"""Runs out of one journal and into another; files made to harm are refused and change nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError, ReenactError
from reenact.journal import Journal, Kind, Status
from reenact.journal.archive import LARGEST, MAGIC, Record, put_record
from reenact.journal.database import RENAMED
from reenact.journal.records import Run, Step, check_of, digest


@pytest.fixture
def exported(on_disk: Journal, pipeline: Any, tmp_path: Path) -> Path:
    pipeline.run(on_disk)
    with on_disk.run(pipeline="tale", request="cut") as run:
        run.step("big", lambda: ["word " * 10] * 2000, kind=Kind.BOX)
        on_disk.export(on_disk.find(run.record.id), tmp_path / "running.run")
    on_disk.export(on_disk.find("1"), tmp_path / "tale.run")
    return tmp_path / "tale.run"


@pytest.fixture
def other(in_ram: Path) -> Iterator[Journal]:
    with Journal.open(in_ram / "elsewhere") as journal:
        yield journal


def contents(journal: Journal, run: Run) -> list[tuple[Any, ...]]:
    steps = journal.steps(run)
    return [
        (step.path, step.state, step.key, journal.inputs(step), journal.result(step))
        for step in steps
    ]


def test_a_run_moves_whole_and_nothing_of_it_is_evidence_there(
    exported: Path, on_disk: Journal, other: Journal, pipeline: Any
) -> None:
    moved = other.take_in(exported)
    assert moved.is_new
    original = on_disk.find("1")
    assert (moved.run.id, moved.run.verdict, moved.run.imported) == (
        original.id,
        original.verdict,
        1,
    )
    assert contents(other, moved.run) == contents(on_disk, original)
    assert other.check().problems == ()
    pipeline.run(other)
    assert set(pipeline.paid.values()) == {2}
    assert other.find("last").reused == 0


def test_importing_twice_changes_nothing(exported: Path, other: Journal) -> None:
    assert other.take_in(exported).is_new
    assert not other.take_in(exported).is_new
    assert len(other.runs()) == 1


def test_importing_where_it_came_from_changes_nothing(exported: Path, on_disk: Journal) -> None:
    assert not on_disk.take_in(exported).is_new


def test_a_run_that_went_another_way_is_not_overwritten(
    on_disk: Journal, other: Journal, tmp_path: Path
) -> None:
    with on_disk.run(pipeline="tale", request=1) as run:
        run.step("a", lambda: 1, kind=Kind.BOX)
    on_disk.export(run.record, tmp_path / "early.run")
    other.take_in(tmp_path / "early.run")
    with on_disk.run(pipeline="tale", request=1) as run:
        run.step("b", lambda: 2, kind=Kind.BOX)
    on_disk.export(run.record, tmp_path / "late.run")
    with pytest.raises(InputError, match="another way"):
        other.take_in(tmp_path / "late.run")


def test_what_was_running_is_stopped_where_it_arrives(exported: Path, other: Journal) -> None:
    moved = other.take_in(exported.with_name("running.run"))
    assert moved.run.status is Status.STOPPED
    [step] = other.steps(moved.run)
    assert other.result(step) == ["word " * 10] * 2000


def test_exporting_the_same_run_gives_the_same_bytes_and_overwrites_nothing(
    exported: Path, on_disk: Journal, tmp_path: Path
) -> None:
    on_disk.export(on_disk.find("1"), tmp_path / "again.run")
    assert (tmp_path / "again.run").read_bytes() == exported.read_bytes()
    with pytest.raises(InputError, match="there already"):
        on_disk.export(on_disk.find("1"), exported)


def test_any_flip_or_cut_is_refused_or_harmless(
    exported: Path, other: Journal, tmp_path: Path
) -> None:
    data = exported.read_bytes()
    chance = random.Random(7)
    for number in range(150):
        broken = bytearray(data)
        place = chance.randrange(len(data))
        if number % 3:
            broken[place] ^= 1 << chance.randrange(8)
        else:
            del broken[place:]
        path = tmp_path / "broken.run"
        path.write_bytes(broken)
        try:
            moved = other.take_in(path)
        except InputError:
            continue
        # Bits that carry nothing: the gzip heading's time stamp, the padding of the last compressed
        # byte.
        assert place < 10 or place == len(data) - 9
        assert len(other.steps(moved.run)) == 8
    assert len(other.runs()) <= 1


def records_of(path: Path) -> list[tuple[str, dict[str, Any] | bytes]]:
    from reenact.journal.archive import read_records

    return [
        (
            record.kind,
            json.loads(record.data) if record.kind in ("run", "step") else record.data,
        )
        for record in read_records(path)
    ]


def forged(path: Path, records: list[tuple[str, Any]]) -> Path:
    """An archive whose own check sums hold, whatever its content."""
    with gzip.open(path, "wb") as sink:
        sink.write(MAGIC)
        for kind, content in records:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            put_record(sink, Record(kind, data))
    return path


def sealed(row: dict[str, Any], kind: type[Run] | type[Step]) -> dict[str, Any]:
    bodies = {name: row[name] for name in ("inputs", "result") if name in row and kind is Step}
    for name, body in bodies.items():
        row[f"{name}_digest"] = digest(body)
    row["check_sum"] = check_of([row[name] for name in kind.columns()])
    return row


def forge_run(
    **columns: Any,
) -> Callable[[list[tuple[str, Any]]], list[tuple[str, Any]]]:
    return lambda records: [
        ("run", sealed({**records[0][1], **columns}, Run)),
        *records[1:],
    ]


def forge_step(
    **columns: Any,
) -> Callable[[list[tuple[str, Any]]], list[tuple[str, Any]]]:
    def forge(records: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        place = next(number for number, record in enumerate(records) if record[0] == "step")
        step = sealed({**records[place][1], **columns}, Step)
        return [*records[:place], ("step", step), *records[place + 1 :]]

    return forge


HARM: dict[str, Callable[[list[tuple[str, Any]]], list[tuple[str, Any]]]] = {
    "id with a path": forge_run(id="../../etc/passwd"),
    "id with escapes": forge_run(id="260101-\x1b[2J"),
    "pipeline with escapes": forge_run(pipeline="\x1b]52;c;x\x07"),
    "argv that is no list": forge_run(argv='"rm -rf"'),
    "argv of numbers": forge_run(argv="[1]"),
    "argv that is not JSON": forge_run(argv="["),
    "a number beyond SQLite": forge_run(turn=1 << 70),
    "text where a number belongs": forge_run(steps="8"),
    "a number where text belongs": forge_run(folder=3),
    "not a number": forge_run(worked_s=float("nan")),
    "true where a number belongs": forge_run(fresh=True),
    "half a character": forge_run(what="\ud800"),
    "huge text": forge_run(what="x" * 300_000),
    "deep request": forge_run(request="[" * 200 + "]" * 200),
    "unknown status": forge_run(status="perfect"),
    "more steps than there are": forge_run(steps=9),
    "an unknown column": forge_run(extra=1),
    "a step of another run": forge_step(run=77),
    "a step with a path that leads out": forge_step(path="../../x"),
    "an artefact with a path for a name": forge_step(artefacts='["../../x"]'),
    "an artefact that is not there": forge_step(artefacts=json.dumps(["0" * 64])),
    "a result that is not JSON": forge_step(result="{"),
    "a bomb of brackets": forge_step(result="[" * 100_000),
    "unknown kind": forge_step(kind="spell"),
    "money of another form": forge_step(money="1e999999999"),
    "a step twice": lambda records: [*records[:-1], records[-2], records[-1]],
    "no steps": lambda records: [record for record in records if record[0] != "step"],
    "no artefacts": lambda records: [record for record in records if record[0] != "artefact"],
    "an artefact nobody asked for": lambda records: [
        records[0],
        ("artefact", b"x" * 9000),
        *records[1:],
    ],
    "wrong order": lambda records: [
        records[0],
        records[-2],
        *records[1:-2],
        records[-1],
    ],
    "no run": lambda records: records[1:],
    "two runs": lambda records: [records[0], *records],
    "no end": lambda records: records[:-1],
    "something after the end": lambda records: [*records, ("end", b"")],
    "a list for a run": lambda records: [("run", b"[]"), *records[1:]],
    "deep JSON for a run": lambda records: [("run", b"[" * 100_000), *records[1:]],
    "bytes for a run": lambda records: [("run", b"\xff\xfe"), *records[1:]],
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("harm", HARM)
def test_a_forged_file_is_refused_and_changes_nothing(
    harm: str, exported: Path, other: Journal, tmp_path: Path
) -> None:
    path = forged(tmp_path / "forged.run", HARM[harm](records_of(exported)))
    with pytest.raises(InputError, match="can be imported"):
        other.take_in(path)
    assert other.runs() == []
    assert other.check().problems == ()


def test_the_forger_would_be_believed_if_he_changed_nothing(
    exported: Path, other: Journal, tmp_path: Path
) -> None:
    path = forged(tmp_path / "forged.run", forge_step()(forge_run()(records_of(exported))))
    assert other.take_in(path).is_new


def test_a_file_of_an_earlier_version_is_taken_in(
    exported: Path, other: Journal, tmp_path: Path
) -> None:
    records = records_of(exported)
    kind, row = records[0]
    assert isinstance(row, dict)
    old, new = RENAMED.split(" TO ")
    renamed = {old if name == new else name: value for name, value in row.items()}
    moved = other.take_in(forged(tmp_path / "old.run", [(kind, renamed), *records[1:]]))
    assert (moved.run.pipeline, moved.run.steps) == (row[new], 8)


def raw(content: bytes) -> bytes:
    return gzip.compress(MAGIC + content)


def heading(kind: str, size: object, sha256: str = "") -> bytes:
    return json.dumps({"kind": kind, "size": size, "sha256": sha256}).encode() + b"\n"


STRANGE = {
    "nothing": b"",
    "no gzip": b"no gzip",
    "empty gzip": gzip.compress(b""),
    "something else": gzip.compress(b"something else"),
    "only the beginning": raw(b""),
    "a heading without content": raw(b"{}\n"),
    "one endless line": raw(b"x" * 10_000_000),
    "a part that is too large": raw(heading("run", LARGEST["run"] + 1)),
    "a part of negative size": raw(heading("run", -1)),
    "a part of size true": raw(heading("run", True)),
    "an unknown part": raw(heading("path", 1) + b"x\n"),
    "only an end": raw(heading("end", 0, hashlib.sha256().hexdigest()) + b"\n"),
    "a large part of nothing": raw(heading("run", 1 << 20) + b"\0" * (1 << 20) + b"\n"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_archive_is_refused(name: str, other: Journal, tmp_path: Path) -> None:
    path = tmp_path / "strange.run"
    path.write_bytes(STRANGE[name])
    with pytest.raises(InputError):
        other.take_in(path)
    assert other.runs() == []


def test_a_missing_file_a_folder_and_a_pipe_are_refused(other: Journal, tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "", "pipe"):
        with pytest.raises(ReenactError, match="no file"):
            other.take_in(tmp_path / name)


def test_an_import_and_a_removal_keep_out_of_each_others_way(
    exported: Path, other: Journal
) -> None:
    other.take_in(exported)
    assert other._locks.take(0)
    with pytest.raises(ReenactError, match="under way"):
        other.take_in(exported)
    assert other.remove("1").artefacts is None
    other._locks.release(0)
    assert other.take_in(exported).is_new
    assert other.remove("2").artefacts == 8
