"""The table of docs/exit-codes.md, row by row: what was seen decides the exit code, the sentence,
the JSON.

Programs without a training run through the command line itself. Those with one run as real
processes under the probe, each once; the rules judge them and the page is made of that, as the
command does it.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reenact.api.reference import known_words
from reenact.bug.reproduction import Verdict as BugVerdict
from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judge import diagnose_evidence
from reenact.diagnosis.judgement import Judgement
from reenact.diagnosis.options import DiagnoseOptions
from reenact.faults.evidence import Evidence
from reenact.paper.measure.verdict import Verdict as PaperVerdict
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.trace import Columns, Event
from reenact.probe.watch import watch
from reenact.program.program import program_from_text, read_program
from reenact.program.static_graph import static_graph
from reenact.repairs.verdict import Decision
from reenact.report.render import render
from reenact.report.views.diagnosis import diagnosis_document
from reenact.testing.faults import evidence_of
from reenact.types import ExitCode
from warm import warm_reenact

pytestmark = pytest.mark.usefixtures("warm_python")

HEAD = """\
import os, sys, time
import torch
from torch import nn
from reenact.testing.toys import blobs

torch.manual_seed(0)
x, y = map(torch.from_numpy, blobs(400, spread=2.0))
"""
LEARNS = (
    HEAD
    + """\
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    model.train()
    for rows in torch.randperm(240).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item(), flush=True)
"""
)
AT_CHANCE = LEARNS.replace("model =", "y = y[torch.randperm(400)]\nmodel =").replace(
    "lr=0.01", "lr=0.002"
)
FORGETS = LEARNS.replace("        optimizer.zero_grad()\n", "")
RISES = (
    HEAD
    + """\
model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(300):
    optimizer.zero_grad()
    (-model(x[step % 5 * 48 :][:48]).square().sum(1).mean()).backward()
    optimizer.step()
"""
)
NOT_A_NUMBER = LEARNS.replace("y[rows]).backward()", "y[rows]).sub(5).sqrt().backward()")
COLUMN = (
    HEAD
    + """\
y = x.sum(1) + 0.1 * torch.randn(400)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for epoch in range(8):
    for rows in torch.randperm(240).split(16):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_loss", nn.functional.mse_loss(model(x[240:]), y[240:]).item())
"""
)


@dataclass(frozen=True)
class Row:
    """A program, and what a diagnosis must say of it."""

    text: str
    judgement: Judgement
    says: str
    exit_code: int


FINDINGS, BROKEN, SOUND, UNJUDGED = Judgement
LOOKS_BROKEN = "cause not identified. Try --depth normal."
TRAINED = {
    "sound": Row(LEARNS, SOUND, "No fault found at depth quick.", 0),
    "crashed after a sound training": Row(f"{LEARNS}print(undefined)\n", FINDINGS, "1 finding.", 1),
    "faulty": Row(FORGETS, FINDINGS, "finding", 1),
    "at chance": Row(AT_CHANCE, BROKEN, LOOKS_BROKEN, 1),
    "not a number": Row(NOT_A_NUMBER, FINDINGS, "finding", 1),
    "without bound": Row(RISES, FINDINGS, "1 finding.", 1),
    "output and target broadcast": Row(COLUMN, FINDINGS, "1 finding.", 1),
}
SLEEPS = "import time\nprint('ready', flush=True)\ntime.sleep(600)\n"
UNTRAINED = {
    "syntax error": Row(
        "def f(:\n",
        UNJUDGED,
        "train.py could not be parsed (line 1: invalid syntax)",
        3,
    ),
    "killed by signal 9": Row(
        "import os\nos.kill(os.getpid(), 9)\n",
        UNJUDGED,
        "killed by signal 9 before any training",
        3,
    ),
    "killed by signal 11": Row(
        "import os\nos.kill(os.getpid(), 11)\n",
        UNJUDGED,
        "killed by signal 11 before any training",
        3,
    ),
    "exit code 7": Row(
        "import sys\nsys.exit(7)\n",
        UNJUDGED,
        "exit code 7: sys.exit(7) (train.py:2:1) before any training step",
        3,
    ),
    "no training": Row("print(1)\n", UNJUDGED, "no training step was seen", 3),
    "crashed": Row("print(undefined)\n", FINDINGS, "1 finding.", 1),
}


@pytest.fixture(scope="module")
def sound() -> Evidence:
    return evidence_of(LEARNS, run=True)


def check(found: Diagnosis, row: Row) -> None:
    """Judgement, sentence, exit code, JSON and what lists show, all of one mind."""
    assert found.judgement is row.judgement, (found.sentence, found.notes)
    assert row.says in found.sentence
    document = json.loads(render(diagnosis_document(found, "train.py"), "json"))
    assert document["exit_code"] == found.exit_code == row.exit_code
    assert document["data"]["judgement"] == found.in_short()["judgement"] == row.judgement.value
    assert document["verdict"] == found.in_short()["sentence"] == found.sentence
    assert ("no fault found" in str(found.in_short()["verdict"])) == (row.judgement is SOUND)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", TRAINED)
def test_a_training_that_was_seen(name: str) -> None:
    row = TRAINED[name]
    check(diagnose_evidence(evidence_of(row.text, run=True), DiagnoseOptions()), row)


@pytest.mark.parametrize(
    ("ended", "says"),
    [
        (
            Outcome(OutcomeKind.KILLED, -9, 9),
            "steps seen. The program was killed by signal 9.",
        ),
        (
            Outcome(OutcomeKind.EXITED, 7),
            "steps seen. The program ended itself with exit code 7.",
        ),
        (
            Outcome(OutcomeKind.TIMEOUT, -15, note="8 s"),
            "steps seen. The program did not end within 8 s.",
        ),
    ],
)
def test_a_sound_training_is_judged_however_the_program_ended(
    sound: Evidence, ended: Outcome, says: str
) -> None:
    check(
        diagnose_evidence(replace(sound, outcome=ended), DiagnoseOptions()),
        Row(LEARNS, SOUND, says, 0),
    )


@pytest.mark.release
def test_a_training_that_ran_out_of_time_is_judged_by_what_was_seen(
    tmp_path: Path,
) -> None:
    endless = LEARNS.replace("range(8)", "range(10**6)")
    ready = endless.replace(
        "model.eval()",
        "open('seen', 'w').close() if epoch == 1 else None; model.eval()",
    )
    found = _watched(ready, tmp_path, until=tmp_path / "seen")
    check(found, Row(ready, SOUND, "The program did not end within", 0))


def test_a_program_that_ran_out_of_time_before_any_training_is_not_judged(
    tmp_path: Path,
) -> None:
    found = _watched(SLEEPS, tmp_path, until=None)
    says = (
        "Nothing could be judged: the program did not end within 1 s before any training step was "
        "seen."
    )
    check(found, Row(SLEEPS, UNJUDGED, says, 3))
    assert found.next_command == "reenact diagnose --max-time MORE_SECONDS train.py"


def _watched(text: str, folder: Path, until: Path | None) -> Diagnosis:
    """The program as a process of its own, ended by its time limit: soon, or when a file is
    there.
    """
    (folder / "train.py").write_text(text)
    program = read_program(("train.py",), folder)
    limit = 1.0 if until is None else 4.0
    while True:
        options = WatchOptions(folder / f"trace-{limit:g}", max_time=limit)
        ended = watch(program, options, stdout=subprocess.DEVNULL)
        if until is None or until.exists():
            break
        limit *= 4
    assert ended.outcome.kind is OutcomeKind.TIMEOUT
    return diagnose_evidence(
        Evidence(program, static_graph(program), ended.trace, ended.outcome),
        DiagnoseOptions(),
    )


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_reenact(), *words],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", UNTRAINED)
def test_a_program_without_a_training(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    row = UNTRAINED[name]
    (tmp_path / "train.py").write_text(row.text)
    ended = _command(tmp_path, "diagnose", "--output-format", "json", "train.py")
    document = json.loads(ended.stdout)
    assert ended.returncode == document["exit_code"] == row.exit_code, ended.stderr
    assert document["data"]["judgement"] == row.judgement.value
    assert row.says in document["verdict"]
    if row.judgement is UNJUDGED:
        assert document["verdict"].startswith("Nothing could be judged: ")
        # A program that ends itself would do so again under any other command.
        if "sys.exit" in row.text:
            assert document["data"]["next"] is None
        else:
            assert document["data"]["next"].startswith("reenact ")
    monkeypatch.chdir(tmp_path)
    guarded(reenact, ["runs", "list"])
    listed = capfd.readouterr().out
    assert "no fault" not in listed
    assert (row.judgement is UNJUDGED) == ("nothing could be judged" in listed)
    guarded(reenact, ["runs", "show", "last"])
    assert document["verdict"] in " ".join(capfd.readouterr().out.split())
    repaired = guarded(reenact, ["repair", "train.py"])
    complaint = capfd.readouterr().err
    assert (repaired, "Nothing could be judged" in complaint) == (3, True), complaint


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    for command in ("diagnose", "repair"):
        ended = _command(tmp_path, command, "--python", "/nonexistent/python", "train.py")
        assert ended.returncode == 3
        output = " ".join((ended.stdout + ended.stderr).split())
        assert (
            "Nothing could be judged: the interpreter /nonexistent/python could not be started"
            in output
        )
        assert command == "repair" or "reenact diagnose --python" in ended.stdout


@pytest.mark.parametrize(
    ("text", "static", "lint"),
    [
        ("def f(:\n", 3, 2),
        (100_000 * "(", 3, 2),
        ("print(1)\n", 0, 0),
        (LEARNS, 0, 0),
        (FORGETS, 1, 1),
    ],
)
def test_what_is_only_read(
    text: str,
    static: int,
    lint: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(text)
    for words, code in ((("diagnose", "--depth", "static"), static), (("lint",), lint)):
        capfd.readouterr()
        assert guarded(reenact, [*words, "--output-format", "json", "train.py"]) == code
        assert json.loads(capfd.readouterr().out)["exit_code"] == code
    assert guarded(reenact, ["diagnose", "--depth", "static", "train.py"]) == static
    last = capfd.readouterr().out.rstrip().splitlines()[-1]
    assert ("Nothing was run" in last) == (static == 0)


def test_a_folder_is_checked_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_broken.py").write_text("def f(:\n")
    (tmp_path / "b_sound.py").write_text(LEARNS)
    assert guarded(reenact, ["lint", "."]) == 2
    assert "1 file could not be parsed." in capfd.readouterr().out
    (tmp_path / "c_faulty.py").write_text(FORGETS)
    assert guarded(reenact, ["lint", "."]) == 1
    output = capfd.readouterr().out
    assert "PG001" in output
    assert "RE010" in output


@pytest.mark.parametrize("shown", ["broken-off", "short"])
def test_what_the_text_proves_is_stated_also_when_the_run_shows_little(
    sound: Evidence, shown: str
) -> None:
    trace = sound.trace
    assert trace is not None
    off = Event("probe-off", 1, 0, 0.0, {"sentence": "the probe met an error of its own"})
    cut = Columns(trace.steps.columns, trace.steps.rows[:2])
    little = replace(trace, steps=cut, events=(off,) if shown == "broken-off" else ())
    program = program_from_text(FORGETS)
    found = diagnose_evidence(Evidence(program, static_graph(program), little), DiagnoseOptions())
    assert "RE010" in {one.first.code for one in found.findings}


def test_a_broken_probe_judges_nothing(sound: Evidence) -> None:
    assert sound.trace is not None
    off = Event("probe-off", 40, 2, 0.0, {"sentence": "the probe met an error of its own"})
    found = diagnose_evidence(
        replace(sound, trace=replace(sound.trace, events=(off,))), DiagnoseOptions()
    )
    check(
        found,
        Row(
            LEARNS,
            UNJUDGED,
            "judged: the probe broke (the probe met an error of its own).",
            3,
        ),
    )


def test_verdicts_of_the_other_commands() -> None:
    assert {one.value: int(one.exit_code) for one in Decision} == {
        "repaired": 0,
        "improved": 0,
        "fixed": 0,
        "good-already": 0,
        "better-fault-remains": 1,
        "too-small": 1,
        "nothing-found": 1,
        "runs-now": 3,
        "not-significant": 3,
        "not-decided": 3,
    }
    assert {one.value: int(one.exit_code) for one in BugVerdict} == {
        "reproduced": 0,
        "not reproduced": 1,
        "shown, unconfirmed": 3,
        "the fix is not complete": 3,
        "cannot be decided here": 3,
        "inconclusive": 3,
    }
    assert {one.value: int(one.exit_code) for one in PaperVerdict} == {
        "reproduced": 0,
        "partly reproduced": 1,
        "not reproduced": 1,
        "inconclusive": 3,
    }


PAPER = Path(__file__).parents[2] / "scripts" / "kill_cases" / "paper"
MEASURED = r"{\"mse\": loss_on(model, sample_batch(99))}"
READ_ONLY = (
    "--without",
    "lineage",
    "--without",
    "scan",
    "--without",
    "atomicity",
    "--no-repair",
)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("returned", "code", "verdict"),
    [
        (MEASURED, 0, "Reproduced"),
        (MEASURED.replace("loss_on", "1 + loss_on"), 1, "Not reproduced"),
        (
            MEASURED.replace("loss_on", "0 * loss_on").replace("mse", "speed"),
            3,
            "Inconclusive",
        ),
    ],
    ids=["as the paper says", "far from it", "another number"],
)
def test_a_paper_whose_code_measures(
    tmp_path: Path, returned: str, code: int, verdict: str
) -> None:
    recording = (PAPER / "recording.jsonl").read_text()
    assert recording.count(MEASURED) == 1
    (tmp_path / "recording.jsonl").write_text(recording.replace(MEASURED, returned))
    model = ("--model", f"replay:{tmp_path / 'recording.jsonl'}")
    words = ("paper", str(PAPER / "paper.md"), *READ_ONLY, "--seeds", "2", *model)
    ended = _command(tmp_path, *words, "--output-format", "json")
    assert ended.returncode == code, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["exit_code"], document["verdict"].partition(":")[0]) == (
        code,
        verdict,
    )
    shown = _command(tmp_path, "runs", "show", "last")
    assert f"finished: {verdict.lower()}" in shown.stdout


def test_a_paper_without_time_is_not_decided(tmp_path: Path) -> None:
    model = ("--model", f"replay:{PAPER / 'recording.jsonl'}")
    ended = _command(
        tmp_path,
        "paper",
        str(PAPER / "paper.md"),
        *READ_ONLY,
        *model,
        "--max-time",
        "0.5",
    )
    assert ended.returncode == 3, ended.stderr
    assert "--max-time 0.5 s" in ended.stderr


@pytest.mark.parametrize("code", ExitCode)
def test_the_page_and_explain_agree(code: ExitCode, capfd: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "exit-codes.md").read_text()
    meaning = known_words()[str(int(code))].removeprefix("exit code. ")
    assert f"| {int(code)} | {meaning} |" in page
    assert guarded(reenact, ["explain", str(int(code))]) == 0
    assert meaning in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("lint", "empty"), "No Python file or notebook was found"),
        (("mutate", "broken.py"), "cannot be parsed"),
        (("diagnose", "empty"), "empty"),
        (("bug", "nothing.md", "--repo", ".", "--model", "replay:none.jsonl"), "empty"),
        (("paper", "nothing.md", "--model", "replay:none.jsonl"), "empty"),
    ],
)
def test_nothing_to_read_is_a_sentence(
    words: tuple[str, ...],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "nothing.md").write_text("")
    (tmp_path / "none.jsonl").write_text("")
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert guarded(reenact, list(words)) == 2
    assert says in capfd.readouterr().err


def test_excluding_every_file_is_the_users_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing was read, and the sentence says so; without the option the same folder is judged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import torch\n")
    assert guarded(reenact, ["lint", ".", "--exclude", "*.py"]) == 0
    assert "Every file is excluded: nothing was read." in capfd.readouterr().out
    assert guarded(reenact, ["lint", "."]) == 0
    assert "no findings in 1 file" in capfd.readouterr().out
