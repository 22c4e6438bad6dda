"""A diagnosis is about the data, the configuration, the folder and the environment as they are
now.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose, diagnose_within
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.program.program import Program, read_program

COUNTED = """import os
with open("ran.txt", "a") as count:
    count.write("x")
"""
READS_DATA = COUNTED + 'raise ValueError("the data are " + open("data.csv").read())\n'
READS_CONFIG = (
    COUNTED
    + """name = "con" + "fig"
raise ValueError("the rate is " + open(os.path.join("conf", name + ".yaml")).read())
"""
)
READS_VARIABLE = COUNTED + 'raise ValueError("the rate is " + os.environ.get("MY_RATE", "unset"))\n'
LISTS_FOLDER = (
    COUNTED + 'raise ValueError("the files are " + " ".join(sorted(os.listdir("parts"))))\n'
)
USES_NETWORK = (
    COUNTED
    + """import socket
socket.socket(type=socket.SOCK_DGRAM).connect(("127.0.0.1", 9))
raise ValueError("over")
"""
)
LOOKS_ONLY = COUNTED + 'raise ValueError("there" if os.path.exists("noise") else "not there")\n'
TRAINS = """import torch
rows = [[float(cell) for cell in line.split(",")] for line in open("data.csv")]
x = torch.tensor(rows)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for step in range(4):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
"""


def program_in(folder: Path, text: str) -> Program:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(text)
    return read_program(("train.py",), folder)


def services(journal: Journal, folder: Path, *, fresh: bool = False) -> DiagnoseServices:
    return DiagnoseServices(journal=journal, traces=folder / "runs" / "traces", fresh=fresh)


def crash_message(found: Diagnosis) -> str:
    assert found.evidence.outcome is not None
    assert found.evidence.outcome.crash is not None
    return found.evidence.outcome.crash.message


def times_run(program: Program) -> int:
    return len((program.folder / "ran.txt").read_text())


def continued(journal: Journal, program: Program, tmp_path: Path) -> tuple[Diagnosis, str]:
    """One execution of a run that is left unfinished, as if it had been killed after the
    diagnosis.
    """
    with journal.run(pipeline="diagnose", request="the same") as run:
        given = services(journal, tmp_path)
        found = diagnose_within(program, DiagnoseOptions(depth=Depth.QUICK), given, run, None)
        return found, run.reused


@pytest.mark.release
def test_changed_data_give_another_true_answer(tmp_path: Path) -> None:
    program = program_in(tmp_path / "work", TRAINS)
    seen = []
    with Journal.in_memory() as journal:
        for row in ("1,2\n", "100000,200000\n"):
            (program.folder / "data.csv").write_text(row * 4)
            found = diagnose(
                program, DiagnoseOptions(depth=Depth.QUICK), services(journal, tmp_path)
            )
            assert found.reused == ""
            inputs = found.evidence.data("input", "train")
            assert inputs is not None
            seen.append(inputs.maximum)
    assert seen == [2, 200000]


@pytest.mark.release
def test_a_finished_diagnosis_is_made_again_also_when_nothing_changed(
    tmp_path: Path,
) -> None:
    program = program_in(tmp_path / "work", READS_DATA)
    (program.folder / "data.csv").write_text("one")
    with Journal.in_memory() as journal:
        counts = []
        for _ in range(2):
            found = diagnose(
                program, DiagnoseOptions(depth=Depth.QUICK), services(journal, tmp_path)
            )
            assert (crash_message(found), found.reused) == ("the data are one", "")
            counts.append(times_run(program))
    assert counts[1] == 2 * counts[0]


@pytest.mark.release
def test_the_same_script_in_another_folder_is_another_program(tmp_path: Path) -> None:
    answers = []
    with Journal.in_memory() as journal:
        for name in ("first", "second"):
            program = program_in(tmp_path / name, READS_DATA)
            (program.folder / "data.csv").write_text(name)
            answers.append(
                crash_message(
                    diagnose(
                        program,
                        DiagnoseOptions(depth=Depth.QUICK),
                        services(journal, tmp_path),
                    )
                )
            )
            assert times_run(program)
    assert answers == ["the data are first", "the data are second"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("text", "file"),
    [
        (READS_DATA, "data.csv"),
        (READS_CONFIG, "conf/config.yaml"),
        (LISTS_FOLDER, "parts/a"),
    ],
)
def test_an_interrupted_diagnosis_watches_again_only_what_changed(
    tmp_path: Path, text: str, file: str
) -> None:
    program = program_in(tmp_path / "work", text)
    target = program.folder / file
    target.parent.mkdir(exist_ok=True)
    target.write_text("1e-3")
    with Journal.in_memory() as journal:
        first, _ = continued(journal, program, tmp_path)
        count = times_run(program)
        again, reused = continued(journal, program, tmp_path)
        assert crash_message(again) == crash_message(first)
        assert times_run(program) == count
        assert reused.startswith("Continued run ")
        assert reused.endswith("1 finished step is kept. --fresh starts over.")
        if file.startswith("parts"):
            (target.parent / "b").write_text("")
        else:
            target.write_text("8.0")
        other, reused = continued(journal, program, tmp_path)
        assert crash_message(other) != crash_message(first)
        assert times_run(program) > count
        assert reused == ""
        assert journal.check().problems == ()


def test_a_file_that_was_only_touched_is_the_same_file(tmp_path: Path) -> None:
    program = program_in(tmp_path / "work", READS_DATA)
    (program.folder / "data.csv").write_text("one")
    with Journal.in_memory() as journal:
        continued(journal, program, tmp_path)
        count = times_run(program)
        (program.folder / "data.csv").touch()
        continued(journal, program, tmp_path)
    assert times_run(program) == count


def test_a_file_that_is_only_looked_for_counts(tmp_path: Path) -> None:
    program = program_in(tmp_path / "work", LOOKS_ONLY)
    with Journal.in_memory() as journal:
        first, _ = continued(journal, program, tmp_path)
        (program.folder / "noise").touch()
        second, _ = continued(journal, program, tmp_path)
    assert (crash_message(first), crash_message(second)) == ("not there", "there")


@pytest.mark.release
def test_a_variable_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_in(tmp_path / "work", READS_VARIABLE)
    answers, counts = [], []
    with Journal.in_memory() as journal:
        for value in ("0.1", "0.1", "8"):
            monkeypatch.setenv("MY_RATE", value)
            answers.append(crash_message(continued(journal, program, tmp_path)[0]))
            counts.append(times_run(program))
    assert answers == ["the rate is 0.1", "the rate is 0.1", "the rate is 8"]
    assert counts == [counts[0], counts[0], 2 * counts[0]]


def test_where_what_it_sees_cannot_be_known_nothing_is_reused(tmp_path: Path) -> None:
    program = program_in(tmp_path / "work", USES_NETWORK)
    with Journal.in_memory() as journal:
        first, _ = continued(journal, program, tmp_path)
        count = times_run(program)
        _, reused = continued(journal, program, tmp_path)
    assert first.evidence.opened.blind == ("it uses the network",)
    assert times_run(program) == 2 * count
    assert reused == ""
