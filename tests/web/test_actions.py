"""Start, stop and resume run the command line itself, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import click
import pytest
from starlette.testclient import TestClient

from reenact.errors import InputError
from reenact.jobs import Jobs, stop_run
from reenact.journal import Journal, JournalReader
from reenact.report.document import Diagnostic, Level, Section
from reenact.types import Place
from reenact.web.run_page import editable
from reenact.web.state import AppState, CommandForm
from waiting import LONGEST_S

WORKER = """
import sys, time
from pathlib import Path
from reenact.cli.calling import stopping_gently
from reenact.errors import Stopped
from reenact.journal import Journal
with Journal.open(Path(sys.argv[1])) as journal, stopping_gently() as stop:
    with journal.run(pipeline="bug", request={}, argv=("reenact", "runs", "list"), what="waits") as run:
        print(run.record.id, flush=True)
        if stop.wait(60):
            raise Stopped("as asked")
"""


@pytest.fixture
def state(tmp_path: Path, make_state: Callable[[Path], AppState]) -> Iterator[AppState]:
    state = make_state(tmp_path / "runs")
    yield state
    for job in state.jobs.all():
        if state.jobs.is_alive(job):
            os.kill(job.pid, signal.SIGKILL)


@pytest.fixture
def client(state: AppState, enter: Callable[[AppState], TestClient]) -> TestClient:
    return enter(state)


def ended(state: AppState) -> str:
    """What the last command printed, once it has ended."""
    job = state.jobs.all()[-1]
    while state.jobs.is_alive(job):
        time.sleep(0.05)
    return state.jobs.output(job)


def test_a_form_starts_its_command_and_shows_what_it_prints(
    state: AppState, client: TestClient
) -> None:
    fields = {
        "csrf": state.key.csrf,
        "verb": "runs",
        "argument": "list",
        "--status": "",
        "--search": "",
    }
    page = client.post("/new", data=fields)
    assert page.url.path == f"/started/{state.jobs.all()[0].id}"
    assert "reenact runs list" in page.text
    assert "No runs recorded here yet" in ended(state)
    after = client.get(page.url.path).text
    assert "It ended well" in after
    assert "No runs recorded here yet" in after


def test_what_a_form_lacks_is_stated_beside_the_form(state: AppState, client: TestClient) -> None:
    answer = client.post("/new", data={"csrf": state.key.csrf, "verb": "runs", "argument": 'a "b'})
    assert answer.status_code == 400
    assert "quotation mark" in answer.text
    assert state.jobs.all() == []
    unknown = client.post("/new", data={"csrf": state.key.csrf, "verb": "rm", "argument": "x"})
    assert unknown.status_code == 404


def a_form(argument: str, *options: click.Option) -> CommandForm:
    command = click.Command("diagnose", params=[*options, click.Argument([argument])])
    return CommandForm("diagnose", command, "")


def test_options_become_words_and_nothing_becomes_another_option() -> None:
    form = a_form(
        "program",
        click.Option(["--budget"]),
        click.Option(["--fresh"], is_flag=True),
        click.Option(["--select"], multiple=True),
    )
    given = {
        "argument": "train.py --lr 1",
        "--budget": "--apply",
        "--fresh": "yes",
        "--select": "UM005 'a b'",
    }
    assert form.words(given) == [
        "diagnose",
        "--budget=--apply",
        "--fresh",
        "--select=UM005",
        "--select=a b",
        "train.py",
        "--lr",
        "1",
    ]
    with pytest.raises(InputError, match="PROGRAM is missing"):
        form.words({})
    with pytest.raises(InputError, match="--repo is missing"):
        a_form("report", click.Option(["--repo"], required=True)).words({"argument": "x"})


def test_a_run_of_another_process_is_stopped_and_then_resumed(
    tmp_path: Path, state: AppState, client: TestClient
) -> None:
    folder = tmp_path / "runs"
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert worker.stdout is not None
        run = worker.stdout.readline().strip()
        page = client.post(f"/runs/{run}/stop", data={"csrf": state.key.csrf})
        assert "Asked to stop" in page.text
        assert worker.wait(timeout=LONGEST_S) != 0
    finally:
        worker.kill()
    page = client.get(f"/runs/{run}")
    assert "Stopped: as asked" in page.text
    assert f'action="/runs/{run}/resume"' in page.text
    resumed = client.post(f"/runs/{run}/resume", data={"csrf": state.key.csrf})
    assert f"reenact runs resume {run}" in resumed.text
    assert run in ended(state)
    assert f'href="/runs/{run}"' in client.get(resumed.url.path).text


def test_a_run_that_somebody_else_recorded_is_not_resumed(
    tmp_path: Path, state: AppState, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Journal.open(state.runs_dir) as journal,
        journal.run(pipeline="diagnose", request={}, argv=["config"]) as run,
    ):
        pass
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))
    page = client.get(f"/runs/{run.record.id}")
    assert page.status_code == 200
    refused = client.post(f"/runs/{run.record.id}/resume", data={"csrf": state.key.csrf})
    assert "was not recorded by this user on this machine" in refused.text
    assert "--trust-journal" in refused.text
    assert state.jobs.all() == []


def test_a_run_that_nobody_works_on_is_left_alone(runs_dir: Path, ids: dict[str, str]) -> None:
    with JournalReader.open(runs_dir) as shelf:
        assert "No one works on this" in stop_run(shelf.find(ids["bug"]), shelf)


def test_a_run_of_this_very_process_is_not_shot(tmp_path: Path) -> None:
    with (
        Journal.open(tmp_path) as journal,
        journal.run(pipeline="bug", request={}) as run,
    ):
        assert "elsewhere" in stop_run(run.record, journal)


def test_a_command_is_stopped_before_it_has_a_run(state: AppState, client: TestClient) -> None:
    job = state.jobs.start(("relay", str(state.runs_dir), "--help"))
    ended(state)
    page = client.post(f"/started/{job.id}/stop", data={"csrf": state.key.csrf})
    assert page.url.path == f"/started/{job.id}"
    assert client.get("/started/nobody").status_code == 404


def test_a_command_of_an_earlier_server_is_still_shown(state: AppState, client: TestClient) -> None:
    job = Jobs(state.runs_dir).start(("relay", "--help"))
    ended(state)
    page = client.get(f"/started/{job.id}").text
    assert "It has ended." in page
    assert "reenact relay --help" in page


def test_a_diagnosis_leads_to_its_repair_and_a_repair_is_applied(
    state: AppState, client: TestClient, repaired: tuple[str, str], tmp_path: Path
) -> None:
    diagnosis, repair = repaired
    page = client.get(f"/runs/{diagnosis}").text
    assert "/new?verb=repair&amp;argument=train.py+--lr+3" in page
    assert "/apply" not in page
    form = client.get("/new", params={"verb": "repair", "argument": "train.py --lr 3"}).text
    assert 'value="train.py --lr 3"' in form
    assert '<option value="train.py --lr 3">' in form
    assert f"/runs/{repair}/apply" in client.get(f"/runs/{repair}").text
    assert client.post(f"/runs/{repair}/apply", data={"csrf": "no"}).is_error
    assert "lr=0.5" in (tmp_path / "train.py").read_text()
    answer = client.post(f"/runs/{repair}/apply", data={"csrf": state.key.csrf})
    assert "Written; what stood there before" in answer.text
    assert "lr=0.125" in (tmp_path / "train.py").read_text()
    # Applied, the program is another one.
    assert f"/runs/{repair}/apply" not in client.get(f"/runs/{repair}").text


def test_the_list_shows_arguments_metric_and_curve_and_a_run_is_removed(
    state: AppState, client: TestClient, repaired: tuple[str, str]
) -> None:
    diagnosis, _ = repaired
    page = client.get("/").text
    assert "train.py --lr 3" in page
    assert "accuracy 0.1" in page
    assert "█▁" in page
    assert ">Cost</a>" not in page
    client.post(f"/runs/{diagnosis}/remove", data={"csrf": state.key.csrf})
    assert diagnosis not in client.get("/").text


def test_a_run_is_renamed_and_found_by_its_name(
    state: AppState, client: TestClient, repaired: tuple[str, str]
) -> None:
    diagnosis, repair = repaired
    assert client.post(f"/runs/{diagnosis}/rename", data={"csrf": "no", "name": "x"}).is_error
    page = client.post(
        f"/runs/{diagnosis}/rename",
        data={"csrf": state.key.csrf, "name": "the <b>base"},
    ).text
    assert "<h1>diagnose the &lt;b&gt;base</h1>" in page
    assert f'href="/runs/{repair}"' in page, "it is still a run of the same program"
    found = client.get("/?q=the+%3Cb%3Ebase").text
    assert diagnosis in found
    assert repair not in found
    assert "<code>train.py --lr 3</code>" in found, "the program stands below the name"
    assert client.post(
        f"/runs/{diagnosis}/rename", data={"csrf": state.key.csrf, "name": " "}
    ).is_error


def test_a_program_is_opened_in_the_editor_that_the_settings_name(
    client: TestClient,
    repaired: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    diagnosis, _ = repaired
    assert f'href="vscode://file{tmp_path}/train.py:1:1"' in client.get(f"/runs/{diagnosis}").text
    monkeypatch.setenv("REENACT_EDITOR", "idea://open?file={path}&line={line}")
    assert (
        f"idea://open?file={tmp_path}/train.py&amp;line=1" in client.get(f"/runs/{diagnosis}").text
    )
    monkeypatch.setenv("REENACT_EDITOR", "")
    assert "Open in editor" not in client.get(f"/runs/{diagnosis}").text
    monkeypatch.undo()
    (tmp_path / "train.py").unlink()
    assert "Open in editor" not in client.get(f"/runs/{diagnosis}").text


def test_a_finding_is_opened_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "my train.py").touch()
    place = Place(PurePosixPath("my train.py"), 7, 3)
    found = Diagnostic("UM005", "learning-rate-high", Level.WARNING, "", place)
    cell = replace(found, cell="study.ipynb cell 1 line 2")
    gone = replace(found, place=Place(PurePosixPath("gone.py"), 7, 3))
    with Journal.in_memory() as journal:
        request = {"working": str(tmp_path), "words": ["my train.py"]}
        with journal.run(pipeline="diagnose", request=request) as run:
            record = run.record
    (section,) = editable([Section("Findings", [found, cell, gone])], record)
    links = [one.editor for one in section.blocks if isinstance(one, Diagnostic)]
    assert links == [f"vscode://file{tmp_path}/my%20train.py:7:4", "", ""]
    (imported,) = editable([section], replace(record, imported=1))
    assert [one.editor for one in imported.blocks if isinstance(one, Diagnostic)] == [""] * 3


def test_labels_of_a_form_are_words(client: TestClient) -> None:
    page = client.get("/new").text
    assert "<label>Status <select" in page
    assert "<label>Search <input" in page
