"""Ctrl-C: the first ends the training and judges what was seen, the second leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reenact.sandbox.processes import end_below
from terminals import run_on_terminal
from waiting import wait_until

ENDLESS = """
import os, time
from pathlib import Path
import torch
from torch import nn

torch.manual_seed(0)
with Path(os.environ["STARTS"]).open("a") as file:
    file.write("started\\n")
x = torch.randn(240, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range({epochs}):
    for rows in torch.randperm(240).split(40):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        {zero}
        loss.backward()
        optimizer.step()
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    print("epoch", epoch, "loss", loss.item(), "accuracy", accuracy, flush=True)
    time.sleep({pause})
"""
SOUND = ENDLESS.format(epochs=100_000, zero="optimizer.zero_grad()", pause=0.02)
FORGOTTEN = ENDLESS.format(epochs=100_000, zero="pass", pause=0.02)
REPEATED = ENDLESS.format(epochs=6, zero="pass", pause=0.05)
IGNORES = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("started", "w").close()
while True:
    time.sleep(0.05)
"""


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    environment = {
        **os.environ,
        "STARTS": str(folder / "starts.log"),
        "OMP_NUM_THREADS": "1",
    }
    environment["REENACT_CACHE_DIR"] = str(folder / "cache")
    with (folder / "stderr").open("w") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "reenact", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
    try:
        yield child
    finally:
        if child.poll() is None:
            end_below(child.pid)
            child.kill()
        child.wait()


def chunks(folder: Path) -> set[Path]:
    return set(folder.glob("**/chunk-*.npz"))


def starts(folder: Path) -> int:
    log = folder / "starts.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def stopped_after_steps(folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command that got Ctrl-C after steps of a training were
    seen.
    """
    before = chunks(folder)
    with started(folder, *words) as child:
        wait_until(
            lambda: len(chunks(folder) - before) > 1 or child.poll() is not None,
            "steps of the training",
        )
        assert child.poll() is None, (folder / "stderr").read_text()
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
    return child.returncode, output, (folder / "stderr").read_text()


@pytest.mark.release
def test_the_first_judges_what_was_seen_and_the_same_command_starts_afresh(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text(FORGOTTEN)
    for _ in range(2):
        before = starts(tmp_path)
        code, output, complaint = stopped_after_steps(tmp_path, "diagnose", "train.py")
        assert code == 1, complaint
        assert "RE010" in output
        assert re.search(r"in the \d+ steps? seen, stopped by you\.", output)
        assert "what was seen so far is judged" in complaint
        assert "Continue with" not in complaint
        assert starts(tmp_path) > before


@pytest.mark.release
def test_a_sound_training_is_judged_sound_as_far_as_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SOUND)
    code, output, complaint = stopped_after_steps(tmp_path, "diagnose", "train.py")
    assert code == 0, output + complaint
    assert re.search(
        r"No fault found at depth quick in the \d+ steps? seen, stopped by you\.",
        output,
    )


def test_the_second_leaves_at_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(IGNORES)
    with started(tmp_path, "diagnose", "train.py") as child:
        wait_until((tmp_path / "started").exists, "the program")
        child.send_signal(signal.SIGINT)
        wait_until(lambda: "is judged" in (tmp_path / "stderr").read_text(), "the first answer")
        child.send_signal(signal.SIGINT)
        child.communicate()
    assert child.returncode == 130
    assert "Traceback" not in (tmp_path / "stderr").read_text()


@pytest.mark.release
def test_a_repair_reports_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(REPEATED)
    words = (
        "repair",
        "--workers",
        "1",
        "--budget",
        "400t",
        "--strategy",
        "random",
        "train.py",
    )
    with started(tmp_path, *words) as child:
        # The watched run, the experiments next to it, and changed programs.
        wait_until(lambda: starts(tmp_path) > 5 or child.poll() is not None, "changed programs")
        assert child.poll() is None, (tmp_path / "stderr").read_text()
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
    assert child.returncode == 3, output + (tmp_path / "stderr").read_text()
    assert "stopped by you before a change was verified" in " ".join(output.split())


@pytest.mark.release
@pytest.mark.parametrize("command", ["bug", "paper"])
def test_what_asks_a_model_ends_without_a_verdict_and_continues(
    tmp_path: Path, command: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text("import math\n")
    (tmp_path / "report.md").write_text("# It fails\n\nValueError is raised by train.py.\n")
    words = {
        "bug": ("bug", "--model", "relay:asked", "--repo", "project", "report.md"),
        "paper": ("paper", "--model", "relay:asked", "--out", "made", "report.md"),
    }[command]
    asked = tmp_path / "asked"
    with started(tmp_path, *words) as child:
        wait_until(
            lambda: (asked.exists() and any(asked.iterdir())) or child.poll() is not None,
            "a question",
        )
        assert child.poll() is None, (tmp_path / "stderr").read_text()
        child.send_signal(signal.SIGINT)
        child.communicate()
    complaint = (tmp_path / "stderr").read_text()
    assert child.returncode == 3, complaint
    assert "Stopped by you." in complaint
    assert "it continues where it stopped" in complaint
    assert "Traceback" not in complaint


@pytest.mark.release
def test_a_trace_is_judged_while_it_grows(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORGOTTEN)
    with started(tmp_path, "watch", "--out", "run", "train.py") as child:
        wait_until(
            lambda: len(chunks(tmp_path)) > 1 or child.poll() is not None,
            "steps of the training",
        )
        judged = subprocess.run(
            [sys.executable, "-m", "reenact", "diagnose", "--trace", "run", "train.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        child.communicate()
    assert judged.returncode == 1, judged.stderr
    assert "RE010" in judged.stdout
    assert re.search(r"Judged from the \d+ steps? in run; nothing was run\.", judged.stdout)


def test_what_was_not_watched_cannot_be_judged(tmp_path: Path) -> None:
    judged = subprocess.run(
        [sys.executable, "-m", "reenact", "diagnose", "--trace", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 2
    assert "reenact watch --out run PROGRAM" in judged.stderr


@pytest.mark.release
def test_on_a_terminal_the_lines_of_the_program_stay_whole_until_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(FORGOTTEN)
    monkeypatch.chdir(tmp_path)
    pressed = False

    def press_when_seen(terminal: int, so_far: bytes, _: subprocess.Popen[bytes]) -> None:
        nonlocal pressed
        if not pressed and b" left" in so_far:
            pressed = True
            os.write(terminal, b"\x03")

    ran = run_on_terminal(
        [sys.executable, "-m", "reenact", "diagnose", "train.py"],
        columns=80,
        environment={
            "STARTS": str(tmp_path / "starts.log"),
            "REENACT_CACHE_DIR": str(tmp_path / "cache"),
        },
        on_piece=press_when_seen,
    )
    rows = ran.replay().all_rows
    assert ran.exit_code == 1, rows
    assert any("stopped by you" in row for row in rows)
    assert not any(row.endswith(" left") for row in rows)
    # The terminal shows the key wherever the cursor is just then.
    printed = [row.replace("^C", "") for row in rows]
    whole = re.compile(r"epoch (\d+) loss \S+ accuracy \S+$")
    epochs = [int(line[1]) for line in map(whole.match, printed) if line is not None]
    assert epochs == list(range(len(epochs)))
    assert len(epochs) > 1
