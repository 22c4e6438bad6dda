"""`python -m benchmarks bugs` as a user meets it: recorded, not recorded, wrong usage; a case
replayed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bugs.cases import chosen_cases, load_cases
from benchmarks.bugs.measure import measure
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.variant import WHOLE
from benchmarks.command import bench
from reenact.bug.options import BugOptions
from reenact.cli.edge import guarded
from reenact.journal import Journal
from reenact.llm.recording import read_recording
from reenact.llm.scripted import Scripted
from reenact.sandbox.choose import choose
from reenact.types import ExitCode

pytestmark = pytest.mark.release

OPTIONS = BugOptions(
    seeds=1, contexts=1, attempts=1, wall_s=120.0, minimise=False, environment="here"
)
RECORDED = [case for case in load_cases() if (case.folder / WHOLE.recording).is_file()]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The command line in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path / "cache"))

    def command(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = guarded(bench, ["bugs", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def test_recorded_case_is_run_and_the_other_is_named(
    library: Path, answering: Any, run: Command, tmp_path: Path
) -> None:
    runner = BenchRunner(Journal.in_memory(), choose(trust_code=True), options=OPTIONS)
    first = load_cases(library)[:1]
    measure(first, replace(runner, model=Scripted(answering()), record=True))
    words = (str(library), "--seeds", "1", "--no-minimise", "--trust-code")
    code, out, err = run(*words, "--out", str(tmp_path / "result"))
    assert code == ExitCode.INCONCLUSIVE, err
    assert "bugs: 1 of 1 cases with their true verdict, 0 false claims, 1 not recorded" in out
    result = json.loads((tmp_path / "result" / "bugs.json").read_text())
    assert "early-mean" in json.dumps(result)
    assert run(*words, "--case", "early-mean")[0] == ExitCode.INCONCLUSIVE, (
        "no claim could be false"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere",), "There is no folder of bug cases at nowhere"),
        (("--case", "nobody"), "There is no bug case 'nobody'"),
        (("--record",), "Only the answers of a model can be recorded"),
        (("--without", "luck"), "luck"),
        (("--model", "oracle:me"), "There is no model 'oracle:me'"),
    ],
)
def test_wrong_usage_is_a_sentence(words: tuple[str, ...], sentence: str, run: Command) -> None:
    code, _, err = run(*words)
    assert code == ExitCode.ERROR, err
    assert sentence in err


def test_recordings_tell_nothing_of_the_machine_or_the_truth() -> None:
    assert RECORDED
    for case in RECORDED:
        text = (case.folder / WHOLE.recording).read_text()
        hidden = (
            case.id,
            case.title,
            case.buggy,
            case.fixed or case.buggy,
            "oracle.py",
            str(Path.home()),
        )
        assert not [one for one in hidden if one in text], case.id
        answers: dict[tuple[str, int, str], object] = {}
        for record in read_recording(case.folder / WHOLE.recording):
            given = record["answer"]["value"] if "answer" in record else record["error"]
            assert (
                answers.setdefault((record["step"], record["sample"], record["hash"]), given)
                == given
            )
        assert answers


def test_shipped_recordings_reach_the_true_verdicts_by_running() -> None:
    """A crash, a silent bug, and a report of a bug that is not there."""
    options = BugOptions(seeds=2, environment="here")
    runner = BenchRunner(Journal.in_memory(), choose(trust_code=True), options=options)
    names = ["abacusnet-five-classes", "abacusnet-first-class", "abacusnet-load"]
    card = measure(chosen_cases(None, names), runner)
    assert card.exit_code is ExitCode.OK, card.tables[-1].rows
