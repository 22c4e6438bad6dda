"""Watching for a diagnosis: a wish to stop reaches the watched run and the experiments beside it."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from reenact.diagnosis.observe import observe
from reenact.diagnosis.options import TrainingOptions
from reenact.diagnosis.pipeline import DiagnoseServices
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import read_program
from reenact.types import Stop

WAITS = """\
import pathlib, time

pathlib.Path(f"here-{time.time_ns()}").touch()
while True:
    time.sleep(0.05)
"""


def test_both_processes_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    stop, over = Stop(), threading.Event()

    def ask_once_both_run() -> None:
        while len(list(tmp_path.glob("here-*"))) < 2 and not over.wait(0.05):
            pass
        stop.ask()

    asker = threading.Thread(target=ask_once_both_run)
    asker.start()
    program = read_program(("waits.py",), tmp_path)
    services = DiagnoseServices(Journal.in_memory(), tmp_path, stop=stop, stdout=subprocess.DEVNULL)
    seen, tried = observe(program, TrainingOptions(), services, tmp_path / "trace")
    over.set()
    asker.join()
    assert seen.outcome.kind is OutcomeKind.INTERRUPTED
    assert tried.missing == ("no experiments: before the first step, the program was interrupted.",)
