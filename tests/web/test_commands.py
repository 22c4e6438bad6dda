"""The verbs: view describes the commands it may start, report writes a file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from benchmarks.web.measure import Reader, write_journal
from reenact.cli.runs import report
from reenact.cli.serving import _folder, forms, view
from reenact.errors import InputError, StorageError
from reenact.web.serve import _bound
from waiting import LONGEST_S


def test_the_page_may_start_the_pipelines_with_the_options_of_the_command_line() -> None:
    made = {form.verb: form for form in forms()}
    assert {"diagnose", "repair", "bug", "alternatives"} <= set(made)
    diagnose = made["diagnose"]
    flags = diagnose.fields
    assert "--output-format" not in flags
    assert isinstance(flags["--depth"].type, click.Choice)
    assert flags["--fresh"].is_flag
    assert flags["--select"].multiple
    assert list(diagnose.first) == ["--depth", "--budget", "--max-time"]
    assert {"--max-cost", "--max-tokens"} <= set(flags)
    assert made["bug"].fields["--repo"].required
    assert diagnose.argument == "PROGRAM"


def test_a_report_is_written_and_its_size_is_reported(
    runs_dir: Path, ids: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_RUNS_DIR", str(runs_dir))
    file = tmp_path / "report.html"
    done = CliRunner().invoke(report, [ids["repair"], "--html", str(file)], standalone_mode=False)
    assert done.exception is None
    assert f"Run {ids['repair']} is in {file}" in done.output
    assert "repair is done" in file.read_text("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_report_that_does_not_fit_on_the_disk_names_its_file(
    runs_dir: Path, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_RUNS_DIR", str(runs_dir))
    done = CliRunner().invoke(report, [ids["repair"], "--html", "/dev/full"], standalone_mode=False)
    assert isinstance(done.exception, StorageError)
    assert done.exception.sentence == "/dev/full cannot be used: the disk is full."


def test_a_report_of_no_run_says_where_runs_are(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_RUNS_DIR", str(runs_dir))
    done = CliRunner().invoke(report, ["nothing", "--html", "x.html"], standalone_mode=False)
    assert isinstance(done.exception, InputError)
    assert done.exception.next_step == "reenact runs list"


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with _bound(0) as taken, pytest.raises(InputError, match="The port cannot be used"):
        _bound(taken.getsockname()[1]).close()


def test_the_page_is_served_until_ctrl_c_which_is_no_error(runs_dir: Path) -> None:
    command = [sys.executable, "-m", "reenact", "view", "--runs", str(runs_dir)]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        address = served.stdout.readline().split()[-1]
        reader = Reader(address)
        assert reader.seconds("/") > 0
        served.send_signal(signal.SIGINT)
        _, output = served.communicate(timeout=LONGEST_S)
    finally:
        served.kill()
    assert served.returncode == 0
    assert "Traceback" not in output


def test_the_folder_of_a_project_means_the_runs_in_it(tmp_path: Path) -> None:
    write_journal(tmp_path / ".reenact", [1])
    assert _folder(tmp_path) == tmp_path / ".reenact"
    assert _folder(tmp_path / ".reenact") == tmp_path / ".reenact"
    with pytest.raises(InputError, match="no folder of runs"):
        _folder(tmp_path / "none")


def test_the_help_names_what_the_address_does() -> None:
    output = CliRunner().invoke(view, ["--help"]).output
    assert "opens the page once" in output
