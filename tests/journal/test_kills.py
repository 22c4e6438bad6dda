"""Killed in the hottest moment, what was acknowledged is there; what was half written is not."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from reenact.journal import Journal, Kind, State

HERE = Path(__file__).parent


def test_nothing_acknowledged_is_lost_over_many_kills(folder: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    acknowledged: set[int] = set()
    for kill in range(5):
        output = tmp_path / f"output{kill}"
        writer = subprocess.Popen(
            [sys.executable, str(HERE / "hot_writer.py"), str(folder), str(output)]
        )
        while not output.exists() or output.stat().st_size < 100:
            assert writer.poll() is None
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.1))
        writer.kill()
        assert writer.wait() == -signal.SIGKILL
        acknowledged |= {int(line) for line in output.read_text().split()}
        with Journal.open(folder) as journal:
            [run] = journal.runs()
            steps = journal.steps(run)
            done = {journal.result(step)["n"]: step for step in steps if step.state is State.DONE}
            assert acknowledged <= set(done)
            assert len(done) <= len(acknowledged) + kill + 1
            assert {step.tries for step in done.values()} <= set(range(1, kill + 2))
            assert run.executions == kill + 1


def test_a_transaction_cut_anywhere_is_there_or_is_not(folder: Path, in_ram: Path) -> None:
    """C7: the log is cut within the transaction that writes a result."""
    sizes = []
    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="tale", request=1) as run,
    ):
        for number in range(3):
            run.step(
                "n",
                lambda n=number: {"n": n},
                kind=Kind.NOTE,
                inputs=number,
                attempt=number,
            )
            sizes.append((folder / "journal.db-wal").stat().st_size)
        whole = in_ram / "whole"
        shutil.copytree(folder, whole)
    (whole / "journal.db-shm").unlink()
    log = (whole / "journal.db-wal").read_bytes()
    outcomes = set()
    for cut in [*range(sizes[1], sizes[2], 173), sizes[2]]:
        scratch = in_ram / "scratch"
        shutil.copytree(whole, scratch)
        (scratch / "journal.db-wal").write_bytes(log[:cut])
        with Journal.open(scratch) as journal:
            [run_row] = journal.runs()
            states = [(step.state, journal.result(step)) for step in journal.steps(run_row)]
            assert states[:2] == [(State.DONE, {"n": 0}), (State.DONE, {"n": 1})]
            outcomes.add(str([(state.value, result) for state, result in states[2:]]))
        shutil.rmtree(scratch)
    assert outcomes == {"[]", "[('begun', None)]", "[('done', {'n': 2})]"}
