"""What every executor of trials must do. A test inherits `ExecutorContract` and gives the fixture
`executor`.

The programs are trained for real: a few dozen steps of a net with forty weights.
"""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.executor import Executor
from reenact.trials.reading import read_kept
from reenact.trials.trial import Outcome, Trial, TrialLimits
from reenact.types import Stop
from waiting import wait_until

NET = """\
import torch
from torch import nn

torch.manual_seed(7)
x = torch.randn(64, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
"""
LOOP = """\
for epoch in range(3):
    for start in range(0, 64, 16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[start : start + 16]), y[start : start + 16])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} test loss {nn.functional.cross_entropy(model(x), y).item():.6f}")
"""
HEALTHY = NET + LOOP
WORKERS = """\
from torch.utils.data import DataLoader, TensorDataset
for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16, num_workers=2, shuffle=True):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(xb), yb).backward()
    optimizer.step()
"""
STEPS = 12


def program_in(folder: Path, text: str, *words: str) -> Program:
    """A program of one file in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(dedent(text), encoding="utf-8")
    return read_program(["train.py", *words], folder)


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file below a folder and a hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def patch_setting(program: Program, kind: Kind, value: float) -> Patch:
    """A patch that sets the first hyperparameter of a kind."""
    return Patch(
        (
            Set(
                next(param.id for param in hyperparameters_of(program) if param.kind is kind),
                value,
            ),
        )
    )


def wait_until_gone(pids: Sequence[int]) -> None:
    """Return when none of the processes runs any more."""
    wait_until(
        lambda: not any(_runs(pid) for pid in pids),
        f"the processes {list(pids)} to end",
    )


def wait_for_file(path: Path) -> str:
    """The text of a file that another process is about to write, its line end included."""
    wait_until(
        lambda: path.is_file() and path.read_text(encoding="utf-8").endswith("\n"),
        f"another process to write {path}",
    )
    return path.read_text(encoding="utf-8")


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class ExecutorContract:
    """The conformance suite of any executor."""

    @pytest.fixture
    def executor(self) -> Executor:
        raise pytest.UsageError("A subclass of ExecutorContract gives the fixture `executor`.")

    def one(
        self, executor: Executor, program: Program, limits: TrialLimits | None = None
    ) -> Outcome:
        (outcome,) = executor.run([Trial(program, limits=limits or TrialLimits(), seed=1)])
        return outcome

    def test_outcomes_come_in_the_order_of_the_trials_and_are_reported_in_our_thread(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        program = program_in(tmp_path / "p", HEALTHY)
        trials = [Trial(program, seed=seed) for seed in (3, 1, 3, 2)]
        reported: list[tuple[int, int]] = []
        found = executor.run(
            trials,
            on=lambda trial, _: reported.append((trial.seed, threading.get_ident())),
        )
        assert [outcome.trained for outcome in found] == [True] * 4, found
        assert found[0].metrics == found[2].metrics, "the same seed gives the same numbers"
        assert len({outcome.metrics["test_loss"] for outcome in found}) == 3, (
            "other seeds give others"
        )
        assert sorted(reported) == [(seed, threading.get_ident()) for seed in (1, 2, 3, 3)]

    def test_what_a_finished_training_reports(self, executor: Executor, tmp_path: Path) -> None:
        outcome = self.one(executor, program_in(tmp_path / "p", HEALTHY))
        assert (outcome.kind, outcome.steps, outcome.epochs) == (
            OutcomeKind.FINISHED,
            STEPS,
            3,
        ), outcome
        assert len(outcome.curve("test_loss")) == 3
        assert len(outcome.curve("step_loss")) == STEPS
        assert outcome.metrics["test_loss"] == outcome.curve("test_loss")[-1][1]
        assert outcome.cpu_seconds > 0
        assert outcome.seconds > 0
        assert outcome.trace is None

    def test_a_patch_is_applied_and_one_that_does_not_fit_is_an_outcome(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        program = program_in(tmp_path / "p", HEALTHY)
        other = program_in(tmp_path / "q", "print('nothing to set')")
        longer = patch_setting(program, Kind.EPOCHS, 5)
        patched, refused = executor.run([Trial(program, longer), Trial(other, longer)])
        assert (patched.kind, patched.epochs) == (OutcomeKind.FINISHED, 5), patched
        assert refused.kind is OutcomeKind.NOT_STARTED
        assert refused.note

    def test_a_crash_is_an_outcome_with_its_place(self, executor: Executor, tmp_path: Path) -> None:
        text = HEALTHY.replace("nn.Linear(8, 2)", "nn.Linear(9, 2)")
        outcome = self.one(executor, program_in(tmp_path / "p", text))
        assert outcome.kind is OutcomeKind.CRASHED, outcome
        assert outcome.crash is not None
        assert outcome.crash.type == "RuntimeError"
        assert str(outcome.crash.place).startswith("train.py:12:"), outcome.crash
        assert outcome.crash.frames[0].startswith(f"{tmp_path / 'p' / 'train.py'}:12 in")
        assert not outcome.trained

    @pytest.mark.parametrize(
        ("text", "limits", "kind", "steps"),
        [
            (f"{HEALTHY}import sys; sys.exit(3)", None, OutcomeKind.EXITED, STEPS),
            (f"{HEALTHY}import os; os._exit(3)", None, OutcomeKind.EXITED, None),
            (f"{HEALTHY}import sys; sys.exit()", None, OutcomeKind.FINISHED, STEPS),
            (f"{HEALTHY}input('name? ')", None, OutcomeKind.READS_STDIN, None),
            (f"{HEALTHY}open('nowhere.csv')", None, OutcomeKind.NEEDS_DATA, None),
            (
                f"{HEALTHY}import os; os.kill(os.getpid(), 11)",
                None,
                OutcomeKind.KILLED,
                None,
            ),
            (HEALTHY, TrialLimits(steps=5), OutcomeKind.STOPPED, 5),
            (NET + WORKERS, None, OutcomeKind.FINISHED, 4),
            (
                f"{HEALTHY}for _ in range(1000): print('x' * 10000)",
                None,
                OutcomeKind.FINISHED,
                STEPS,
            ),
        ],
    )
    def test_endings(
        self,
        executor: Executor,
        tmp_path: Path,
        text: str,
        limits: TrialLimits | None,
        kind: OutcomeKind,
        steps: int | None,
    ) -> None:
        outcome = self.one(executor, program_in(tmp_path / "p", text), limits)
        assert (outcome.kind, outcome.steps if steps else steps) == (kind, steps), outcome
        assert outcome.trained or kind not in (
            OutcomeKind.FINISHED,
            OutcomeKind.STOPPED,
        )

    def test_a_time_out_is_an_outcome_and_leaves_no_process(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        notes = tmp_path / "pids"
        waiting = f"""\
            import os, signal, subprocess, sys, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            below = subprocess.Popen(["sleep", "600"])
            apart = subprocess.Popen(["sleep", "600"], start_new_session=True)
            with open({str(notes)!r}, "w") as file:
                print(os.getpid(), below.pid, apart.pid, file=file)
            time.sleep(600)
        """
        outcome = self.one(executor, program_in(tmp_path / "p", waiting), TrialLimits(seconds=4))
        assert outcome.kind is OutcomeKind.TIMEOUT, outcome
        wait_until_gone([int(word) for word in notes.read_text(encoding="utf-8").split()])

    def test_a_stop_interrupts_what_runs_and_what_waits(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        notes, stop = tmp_path / "pid", Stop()
        waiting = f"""\
            import os, time
            with open({str(notes)!r}, "a") as file:
                print(os.getpid(), file=file)
            time.sleep(600)
        """
        program = program_in(tmp_path / "p", waiting)

        def ask() -> None:
            wait_for_file(notes)
            stop.ask()

        asking = threading.Thread(target=ask)
        asking.start()
        found = executor.run([Trial(program, seed=seed) for seed in range(12)], stop=stop)
        asking.join()
        assert {outcome.kind for outcome in found} == {OutcomeKind.INTERRUPTED}
        wait_until_gone([int(word) for word in notes.read_text(encoding="utf-8").split()])

    def test_data_resolves_and_nothing_of_the_users_changes(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        """Nobody resumes from another trial's checkpoint; the user's own is an input like any
        other.
        """
        folder = tmp_path / "p"
        (folder / "runs").mkdir(parents=True)
        (folder / "scale.txt").write_text("2.0\n", encoding="utf-8")
        (folder / "runs" / "epoch.txt").write_text("1", encoding="utf-8")
        text = NET + dedent("""\
            import pathlib
            here, runs = pathlib.Path(__file__).parent, pathlib.Path("runs")
            x = x * float(open("scale.txt").read()) * float((here / "scale.txt").read_text())
            assert not (runs / "model.pt").exists(), "somebody else's checkpoint"
            first = int((runs / "epoch.txt").read_text())
            (runs / "epoch.txt").write_text("3")
            assert (runs / "epoch.txt").read_text() == "3"
            torch.save(model.state_dict(), "runs/model.pt")
            pathlib.Path("train.py").write_text("gone")
        """)
        program = program_in(folder, text + LOOP.replace("range(3):", "range(first, 3):"))
        before = fingerprint(folder)
        found = executor.run([Trial(program, seed=seed) for seed in range(3)])
        assert [(outcome.kind, outcome.steps) for outcome in found] == [
            (OutcomeKind.FINISHED, 8)
        ] * 3, found
        assert fingerprint(folder) == before

    def test_a_trace_is_kept_when_asked_for(self, executor: Executor, tmp_path: Path) -> None:
        program_in(tmp_path / "p" / "code", HEALTHY)
        program = read_program(["code/train.py"], tmp_path / "p")
        trial = Trial(program, seed=1, preset="quick", keep_trace=True)
        (outcome,) = executor.run([trial])
        trace = read_kept(trial, outcome)
        assert trace.step_count == STEPS
        assert trace.graph is not None
        assert {str(layer.place.file) for layer in trace.graph.layers if layer.place} == {
            "train.py"
        }

    def test_what_the_listener_raises_ends_the_run(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        program = program_in(tmp_path / "p", HEALTHY)

        def refuse(trial: Trial, outcome: Outcome) -> None:
            raise KeyError(trial.seed, outcome.kind)

        with pytest.raises(KeyError):
            executor.run([Trial(program, seed=seed) for seed in range(3)], on=refuse)
        assert self.one(executor, program).trained

    def test_no_trial_is_no_work(self, executor: Executor) -> None:
        assert executor.run([]) == []
