"""`reenact runs`: what it prints, and what a script can read from it."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.cli.runs import started_before
from reenact.journal import Cost, Journal, Kind, Run
from warm import warm_reenact


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(project: Path) -> list[str]:
    """Three runs: finished, reusing, and stopped after a failure. Newest first."""
    with Journal.open(project / ".reenact") as journal:
        for _ in range(2):
            with journal.run(
                pipeline="paper", request={"id": 1}, argv=["config"], what="A paper"
            ) as run:
                run.under("read").step(
                    "ask",
                    lambda: "yes",
                    kind=Kind.LLM,
                    cost=lambda _: Cost(Decimal("0.25"), 100, 7),
                    shared=True,
                )
                run.finish({"verdict": "reproduced"})
        with (
            pytest.raises(ZeroDivisionError),
            journal.run(pipeline="bug", request={}, argv=["config"]) as run,
        ):
            run.under("debug", attempt=2).step(
                "run", lambda: 1 / 0, kind=Kind.BOX, inputs=b"\xff\x1b[2J"
            )
        return [run.id for run in journal.runs()]


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = guarded(reenact, ["runs", *words])
    output = capsys.readouterr()
    return code, output.out, output.err


def data(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code, out, err = call(capsys, *words, "--output-format", "json")
    assert code == 0, err
    document = json.loads(out)
    assert document["schema_version"] == 3
    return document["data"]


def test_an_empty_project_has_no_runs_and_no_journal_is_made(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "list")
    assert (code, "No runs recorded here yet." in out) == (0, True)
    assert data(capsys, "list") == {"total": 0, "runs": []}
    for words in (
        ["show", "last"],
        ["query", "SELECT 1"],
        ["check"],
        ["export", "last", "f"],
    ):
        code, _, err = call(capsys, *words)
        assert code == 2
        assert "No run has been recorded here" in err
    assert list(project.iterdir()) == []


def test_the_list_tells_how_runs_stand(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newest, second, first = record(project)
    _, out, _ = call(capsys, "list")
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith("  2")}
    assert list(lines) == [newest, second, first]
    assert "failed" in lines[newest]
    assert "ZeroDivision" in lines[newest]
    assert "reproduced" in lines[first]
    assert "$0.2500" in lines[first]
    assert "$" not in lines[second]
    found = data(
        capsys,
        "list",
        "--command",
        "paper",
        "--status",
        "finished",
        "--search",
        "a pap",
        "--limit",
        "1",
    )
    assert found["total"] == 2
    [run] = found["runs"]
    assert (run["id"], run["status"], run["verdict"], run["exit_code"]) == (
        second,
        "finished",
        {"verdict": "reproduced"},
        0,
    )
    assert run["steps"] == {"all": 2, "done": 1, "reused": 1, "failed": 0}


def test_a_run_is_shown_as_a_tree(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newest, second, first = record(project)
    _, out, _ = call(capsys, "show", "last")
    tree = [
        line.rstrip()
        for line in out.splitlines()
        if line.lstrip().startswith(("bug/", "debug[2]/", "run "))
    ]
    assert tree[:2] == ["  bug/", "    debug[2]/"]
    assert tree[2].startswith("      run ")
    assert "box    failed" in tree[2]
    assert "ZeroDivisionError: division by zero" in out
    _, out, _ = call(capsys, "show", second.split("-")[1])
    assert f"reused from {first}" in out
    shown = data(capsys, "show", newest)
    assert [step["path"] for step in shown["steps"]] == ["bug/debug[2]/run"]
    _, out, _ = call(capsys, "show", first, "--step", "paper/read/ask")
    assert "Result\n  yes" in out
    assert data(capsys, "show", newest, "--step", "bug/debug[2]/run")["inputs"] == "\\xff\x1b[2J"
    _, out, _ = call(capsys, "show", newest, "--step", "bug/debug[2]/run")
    assert "\x1b" not in out
    code, _, err = call(capsys, "show", newest, "--step", "nowhere")
    assert (code, "no step 'nowhere'" in err) == (2, True)


def test_an_unknown_run_is_a_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(project)
    for words in (
        ["show", "ooo"],
        ["resume", "ooo"],
        ["export", "ooo", "f"],
        ["remove", "ooo", "--yes"],
    ):
        code, _, err = call(capsys, *words)
        assert code == 2
        assert "next: reenact runs list" in err


def test_a_query_answers_and_refuses(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(project)
    answer = data(
        capsys,
        "query",
        "SELECT pipeline, count(*) AS n FROM runs GROUP BY pipeline ORDER BY pipeline",
    )
    assert answer == {
        "columns": ["pipeline", "n"],
        "rows": [["bug", 1], ["paper", 2]],
        "cut": False,
    }
    _, out, _ = call(capsys, "query", "SELECT id FROM runs", "--limit", "2")
    assert "2 rows; there are more" in out
    code, _, err = call(capsys, "query", "DELETE FROM run_rows")
    assert (code, "Only one SELECT is answered" in err) == (2, True)
    assert len(data(capsys, "list")["runs"]) == 3


def test_a_run_moves_to_another_project(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record(project)[-1]
    assert call(capsys, "export", "1", "one.run")[0] == 0
    assert "there already" in call(capsys, "export", "1", "one.run")[2]
    other = project / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert f"Run {first} is here now." in call(capsys, "import", "../one.run")[1]
    assert f"Run {first} was here already." in call(capsys, "import", "../one.run")[1]
    assert data(capsys, "list")["runs"][0]["imported"] is True
    (project / "bad.run").write_bytes(b"nonsense")
    code, _, err = call(capsys, "import", "../bad.run")
    assert (code, "not a run that can be imported" in err) == (2, True)


def test_removing_asks_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = record(project)
    code, _, err = call(capsys, "remove", ids[0])
    assert (code, "cannot be undone" in err) == (2, True)
    assert call(capsys, "remove", ids[0], "--yes")[0] == 0
    assert [run["id"] for run in data(capsys, "list")["runs"]] == ids[1:]


def test_a_run_is_renamed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = record(project)
    assert "is called 'the baseline' now" in call(capsys, "rename", ids[0], "the baseline")[1]
    assert data(capsys, "list", "--search", "baseline")["runs"][0]["id"] == ids[0]


def test_a_check_finds_what_was_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(project)
    assert call(capsys, "check")[0] == 0
    with Journal.open(project / ".reenact") as journal:
        journal._database.connection.execute("UPDATE step_rows SET result = '\"no\"' WHERE run = 1")
    code, out, _ = call(capsys, "check")
    assert (code, "1 problem" in out) == (1, True)
    code, _, err = call(capsys, "show", "1", "--step", "paper/read/ask")
    assert (code, "damaged" in err) == (2, True)


def resumed(*words: str) -> subprocess.CompletedProcess[str]:
    command = [warm_reenact(), "runs", "resume", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_resume_gives_the_recorded_command_again(project: Path) -> None:
    with Journal.open(project / ".reenact") as journal:
        with journal.run(
            pipeline="tale",
            request=1,
            argv=["config", "--output-format", "json", "--fresh"],
        ):
            pass
        with journal.run(pipeline="tale", request=2) as run:
            run.finish(None)
        with journal.run(pipeline="tale", request=3):
            pass
    done = resumed("1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kind"] == "config"
    assert "reenact config --output-format json" in done.stderr
    assert "started from Python" in resumed("3").stderr


def test_resume_of_a_finished_or_imported_run_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, _, first = record(project)
    code, _, err = call(capsys, "resume", first)
    assert (code, "is finished" in err) == (2, True)
    call(capsys, "export", newest, "bug.run")
    monkeypatch.setenv("REENACT_RUNS_DIR", "elsewhere")
    call(capsys, "import", "bug.run")
    code, _, err = call(capsys, "resume", newest)
    assert (code, "was imported" in err, "reenact config" in err) == (2, True, True)
    assert "--trust-journal" in err
    assert resumed(newest, "--trust-journal").returncode == 0
    assert resumed(newest, "--yes").returncode == 0


def test_a_command_that_came_with_a_folder_is_shown_and_not_run(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "ran"
    (project / "note.md").write_text("# A paper\n\nWe train a model.\n")
    with Journal.open(project / ".reenact") as journal:
        words = [
            "fingerprint",
            "note.md",
            "--model",
            f"command:touch {marker}",
            "--max-time",
            "20",
        ]
        with journal.run(pipeline="fingerprint", request=1, argv=words) as run:
            pass
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))
    refused = resumed("last")
    assert refused.returncode == 2
    assert f"command:touch {marker}" in refused.stderr
    assert f"reenact runs resume {run.record.id} --trust-journal" in refused.stderr
    assert not marker.exists()
    resumed("last", "--trust-journal")
    assert marker.exists()


def test_a_corrupt_journal_is_a_sentence_and_stays_as_it_is(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".reenact").mkdir()
    content = b"this was a journal once" * 1000
    (project / ".reenact" / "journal.db").write_bytes(content)
    for words in (
        ["list"],
        ["show", "last"],
        ["import", ".reenact/journal.db"],
        ["query", "SELECT 1"],
        ["check"],
    ):
        code, _, err = call(capsys, *words)
        assert code == 2, words
        assert "is damaged" in err
        assert "Traceback" not in err
    assert (project / ".reenact" / "journal.db").read_bytes() == content


def test_runs_differ_by_arguments_folder_and_name(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    (project / "other").mkdir()
    with Journal.open(project / ".reenact") as journal:
        for folder, rate in (("other", "0.1"), (".", "0.2")):
            monkeypatch.chdir(project / folder)
            request = {"words": ["train.py", "--lr", rate]}
            with journal.run(pipeline="diagnose", request=request, what="train.py") as run:
                run.finish({"verdict": "1 finding", "metric": f"val_loss {rate}"})
        journal.rename(journal.find("last"), "baseline")
    _, out, _ = call(capsys, "list")
    head, last, first = out.splitlines()[2:5]
    assert head.split() == [
        "run",
        "started",
        "command",
        "folder",
        "verdict",
        "metric",
        "time",
    ]
    assert "baseline: diagnose train.py --lr 0.2 " in last
    assert str(project / "other") not in last
    assert " diagnose train.py --lr 0.1 " in first
    assert "other" in first
    assert "val_loss 0.1" in first


def test_clean_removes_what_is_older_and_asks_first(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(project)
    assert call(capsys, "clean", "--older", "1h")[1].endswith("0 runs to remove.\n")
    assert call(capsys, "clean", "--older", "0h", "--dry-run")[1].endswith("3 runs to remove.\n")
    code, _, err = call(capsys, "clean", "--older", "0h")
    assert (code, "Add --yes" in err) == (2, True)
    assert data(capsys, "list")["total"] == 3
    code, out, _ = call(capsys, "clean", "--older", "0h", "--yes")
    assert (code, "3 runs removed." in out) == (0, True)
    assert data(capsys, "list")["total"] == 0


@pytest.mark.parametrize("age", ["30", "d", "-1d", "1.5d", "3m", ""])
def test_an_age_has_a_unit(project: Path, capsys: pytest.CaptureFixture[str], age: str) -> None:
    code, _, err = call(capsys, "clean", "--older", age)
    assert (code, "such as 12h, 30d, 2w" in err) == (2, True)


def test_a_run_of_unknown_time_is_not_old() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    old = Run.__new__(Run)
    object.__setattr__(old, "started_at", "2026-01-01T23:59:59+00:00")
    assert started_before(old, now)
    object.__setattr__(old, "started_at", "2026-01-02T00:00:00+00:00")
    assert not started_before(old, now)
    object.__setattr__(old, "started_at", "")
    assert not started_before(old, now)


def test_diff_shows_what_two_runs_do_not_share(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest, second, first = record(project)
    assert guarded(reenact, ["diff", first, newest, "--output-format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)["data"]["Facts"]
    pipelines = next(one for one in facts if one["name"] == "pipeline")
    assert (pipelines[first], pipelines[newest]) == ("paper", "bug")
    assert guarded(reenact, ["diff", first, second]) == 0
    assert "pipeline  paper" in capsys.readouterr().out


def test_diff_of_a_run_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(project)
    assert guarded(reenact, ["diff", "last", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
