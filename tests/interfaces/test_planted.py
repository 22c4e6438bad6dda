"""Modules in the current folder are not imported by anything of ours that runs no program of
the user.
"""

from __future__ import annotations

import http.cookiejar
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pytest

from reenact.jobs import Job, Jobs
from reenact.journal import Journal
from waiting import LONGEST_S

REENACT = Path(sys.executable).with_name("reenact")
SESSION = """
import reenact
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
assert shell.run_cell("%load_ext reenact").success
from reenact.program.program import read_program
assert read_program(["train.py"]).entry
"""


class Planted(Protocol):
    folder: Path

    @property
    def imported(self) -> list[str]: ...


def reenact(planted: Planted, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return run([str(REENACT), *words], planted, **environ)


def run(argv: Sequence[str], planted: Planted, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=planted.folder,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def test_the_planted_modules_are_found_by_a_python_that_looks_there(
    planted: Planted,
) -> None:
    run([sys.executable, "-m", "timeit", "-n", "1", "import torch, yaml"], planted)
    assert {"torch", "yaml"} <= set(planted.imported)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "words",
    [
        ("lint", "."),
        ("params", "train.py"),
        ("rules", "RE010"),
        ("explain", "RE010"),
        ("read", "--trust-code", "paper.md"),
        ("runs", "list"),
        ("config",),
        ("doctor",),
        ("diagnose", "--depth", "static", "train.py"),
    ],
    ids=" ".join,
)
def test_a_reading_command_imports_nothing_from_the_folder(
    planted: Planted, words: tuple[str, ...]
) -> None:
    ended = reenact(planted, *words)
    assert ended.returncode in (0, 1), ended.stderr
    assert planted.imported == []


def test_a_run_is_resumed_without_the_folder_on_the_path(planted: Planted) -> None:
    with (
        Journal.open(planted.folder / ".reenact") as journal,
        journal.run(pipeline="diagnose", request={}, argv=("params", "train.py"), what="t") as run_,
    ):
        named = run_.record.id
    ended = reenact(planted, "runs", "resume", named, "--trust-journal")
    assert "Continuing" in ended.stderr, ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert planted.imported == []


def test_a_relative_entry_of_the_users_path_ends_with_our_first_line(
    planted: Planted,
) -> None:
    ended = reenact(planted, "params", "train.py", PYTHONPATH=f".{os.pathsep}")
    assert ended.returncode == 0, ended.stderr
    assert set(planted.imported) <= {"sitecustomize", "usercustomize"}, "Python's own, before us"


def ended(jobs: Jobs, job: Job) -> int | None:
    """The exit code of a job, once it has ended."""
    while jobs.is_alive(job):
        time.sleep(0.05)
    return jobs.exit_code(job)


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", ["", ".", "/nonexistent:", ":/nonexistent"])
def test_a_command_that_the_page_starts_imports_nothing_from_the_folder(
    planted: Planted, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", path)
    jobs = Jobs(planted.folder / ".reenact", planted.folder)
    job = jobs.start(("params", "train.py"))
    assert ended(jobs, job) == 0, jobs.output(job)
    assert planted.imported == []


def test_a_program_of_the_user_gets_its_own_path_back(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    (planted.folder / "shows.py").write_text("import os\nprint('path', os.environ['PYTHONPATH'])\n")
    monkeypatch.setenv("PYTHONPATH", ".")
    jobs = Jobs(planted.folder / ".reenact", planted.folder)
    job = jobs.start(("watch", "--out", "trace", "shows.py"))
    ended(jobs, job)
    shown = [line for line in jobs.output(job).splitlines() if "path " in line]
    assert shown, jobs.output(job)
    assert shown[0].split(os.pathsep)[-1] == "."


@pytest.mark.release
def test_the_pages_import_nothing_from_the_folder(planted: Planted) -> None:
    server = subprocess.Popen(
        [REENACT, "view"],
        cwd=planted.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        with urllib.request.build_opener(jar).open(address, timeout=60) as page:
            assert page.status == 200
    finally:
        server.terminate()
        server.wait(timeout=LONGEST_S)
    assert planted.imported == []


def test_python_and_a_notebook_import_nothing_from_the_folder(
    planted: Planted, tmp_path: Path
) -> None:
    script = tmp_path / "session.py"
    script.write_text(SESSION)
    ended = run([sys.executable, str(script)], planted)
    assert ended.returncode == 0, ended.stderr
    assert planted.imported == []


def test_the_demo_starts_its_commands_without_the_folder_on_the_path(
    planted: Planted,
) -> None:
    from reenact.cli.demo import run as shown

    assert shown(("params", "train.py"), planted.folder).returncode == 0
    assert planted.imported == []


def test_no_process_of_ours_is_started_in_another_way() -> None:
    """`-m` with our interpreter stands in one file, but for an installer that runs in an empty
    folder.
    """
    source = Path(__file__).parents[2] / "src" / "reenact"
    skipped = (
        "bench/cases",
        "probe/inject",
        "trials/inject",
        "testing/",
        "sandbox/environments/",
    )
    found = [
        str(file.relative_to(source))
        for file in source.rglob("*.py")
        if not str(file.relative_to(source)).startswith(skipped)
        and 'sys.executable, "-m"' in file.read_text()
    ]
    assert found == []
