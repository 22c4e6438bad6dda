"""A fault with trainings by a script: what is shared, what a second run finds, how a failure is
measured.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from benchmarks.children import environment
from benchmarks.faults.case import Scale
from benchmarks.faults.cases import catalogue, fault_case
from benchmarks.outcome_cache import Cached, FolderStore
from benchmarks.repairs import runs
from benchmarks.repairs.figures import Fault
from benchmarks.repairs.outcomes import outcomes_folder
from benchmarks.repairs.runs import Plan, Running, repaired_by_all
from benchmarks.warm import Lent
from reenact.errors import InputError
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import program_from_text
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Part, Trial
from reenact.types import Stop
from waiting import wait_until

pytestmark = pytest.mark.slow

PLAN = Plan(repeats=2, workers=1)


def trained(trial: Trial) -> Outcome:
    """D1 as it is: the output's activation decides, seeds hardly matter."""
    cured = 'Activation("sigmoid")' in trial.patched.entry_file.text
    value = (0.95 if cured else 0.5) + trial.seed % 7 / 1000
    names = ("accuracy", "val_accuracy", "test_accuracy")
    return Outcome(
        OutcomeKind.FINISHED,
        steps=9,
        metrics=dict.fromkeys(names, value),
        sources={
            "accuracy": "keras",
            "val_accuracy": "keras",
            "test_accuracy": "keras",
        },
        halved=int(trial.part is not Part.WHOLE),
        cpu_seconds=1.0,
        seconds=1.0,
    )


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Fault, ScriptedExecutor, Running]:
    folder = tmp_path_factory.mktemp("fault")
    wanted = Running(fault_case("D1"), Scale.LITE, PLAN, folder / "outcomes")
    executor = ScriptedExecutor(trained)
    trainer = Cached(Lent(executor), FolderStore(wanted.outcomes))
    return every_strategy(wanted, folder / "scratch", trainer), executor, wanted


def every_strategy(wanted: Running, scratch: Path, trainer: Cached) -> Fault:
    steps = {
        name: step
        for strategy in (None, *wanted.plan.wanted)
        for name, step in runs.steps_of(replace(wanted, strategy=strategy))
    }
    found = {
        name: repaired_by_all(step, scratch / name.replace(":", "-"), trainer, Stop())
        for name, step in steps.items()
    }
    (whole,) = runs.merged(found)
    return whole


def test_every_strategy_budget_and_repeat_is_run(
    measured: tuple[Fault, ScriptedExecutor, Running],
) -> None:
    fault, _, _ = measured
    ways = {(run.strategy, run.budget, run.repeat) for run in fault.runs}
    assert ways == {
        (way, budget, nth) for way in PLAN.strategies for budget in PLAN.budgets for nth in range(2)
    }
    guided = [run for run in fault.runs if run.strategy == "guided"]
    assert all(run.decision == "repaired" and run.jaccard == 1.0 for run in guided)
    assert fault.reference.fixed > fault.reference.faulty


def test_no_training_is_done_twice(
    measured: tuple[Fault, ScriptedExecutor, Running],
) -> None:
    """The faulty program over the first seed of every run, and the first half of the larger budget,
    are shared; the other seeds that judge a run are its own.
    """
    fault, executor, _ = measured
    done = [trial.content for trial in executor.ran]
    assert len(done) == len(set(done))
    judged = [trial for trial in executor.ran if not trial.patch and trial.part is Part.JUDGE]
    seeds = {trial.seed for trial in judged}
    assert {1001, 2001, 3001, 4001, 5001, 6001} <= seeds
    assert seeds >= {1002, 1003, 1004, 1005, 1006, 2002, 2003, 2004, 2005, 2006}
    assert len(done) < sum(run.trainings for run in fault.runs) + 2 * PLAN.seeds * len(fault.runs)


def test_a_second_run_finds_every_outcome_on_disk(
    tmp_path: Path, measured: tuple[Fault, ScriptedExecutor, Running]
) -> None:
    """As after a kill: another folder for the programs, the same outcomes, the same figures."""
    fault, _, wanted = measured
    again = ScriptedExecutor(trained)
    found = every_strategy(wanted, tmp_path, Cached(again, FolderStore(wanted.outcomes)))
    assert again.ran == []
    assert found == fault


def test_cheap_faults_come_first() -> None:
    order = [case.id for case in sorted(catalogue(), key=runs.dearness) if case.study]
    assert order[0] == "D6"
    assert (
        order.index("D8")
        < order.index("R1")
        < order.index("C1")
        < order.index("D9")
        < order.index("R2")
    )


def test_a_strategy_says_its_space_and_its_repeats() -> None:
    plan = Plan(strategies=("guided", "random:own@4", "hebo@12"), repeats=10)
    assert [(one.label, one.name, one.space, one.repeats) for one in plan.wanted] == [
        ("guided", "guided", "study", 10),
        ("random:own", "random", "own", 4),
        ("hebo", "hebo", "study", 12),
    ]
    assert plan.references == 12
    for wrong in ("random:mine", "hebo@0", "hebo@-1"):
        with pytest.raises(InputError, match="Received: " + wrong):
            _ = Plan(strategies=(wrong,)).wanted


def test_repeats_of_a_fault_that_takes_long_are_shared_out(tmp_path: Path) -> None:
    plan = Plan(strategies=("random:own@12",))

    def steps(name: str) -> dict[str, tuple[int, ...]]:
        one = Running(fault_case(name), Scale.LITE, plan, tmp_path, plan.wanted[0])
        return {step: running.repeats for step, running in runs.steps_of(one)}

    assert steps("D1") == {"D1-random:own-0": tuple(range(12))}
    assert steps("D9") == {
        "D9-random:own-0": (0, 1, 2, 3, 4),
        "D9-random:own-5": (5, 6, 7, 8, 9),
        "D9-random:own-10": (10, 11),
    }


def test_who_borrows_an_executor_does_not_close_it() -> None:
    class Closed(ScriptedExecutor):
        closed = False

        def close(self) -> None:
            self.closed = True

    lender = Closed(trained)
    with Lent(lender) as lent:
        lent.run([Trial(program_from_text("print(1)"), seed=seed) for seed in range(3)])
    assert not lender.closed
    assert (lent.trainings, lent.cpu_seconds) == (3, 3.0)


PARENT = """import multiprocessing, time
from benchmarks.warm import end_with_parent


def child(measured):
    end_with_parent()
    measured.put(1)
    time.sleep(600)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    measured = context.Queue()
    started = context.Process(target=child, args=(measured,))
    started.start()
    measured.get()
    print(started.pid, flush=True)
    time.sleep(600)
"""


def working(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_run_of_a_fault_ends_with_the_process_that_started_it(
    tmp_path: Path,
) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=environment()
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not working(child), "the run of the fault to end")


def test_outcomes_of_another_reenact_are_removed(tmp_path: Path) -> None:
    (tmp_path / "0123").mkdir()
    mine = outcomes_folder(tmp_path)
    mine.mkdir()
    assert outcomes_folder(tmp_path) == mine
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]


def test_seconds_are_those_of_the_trainings(
    measured: tuple[Fault, ScriptedExecutor, Running],
) -> None:
    """Of which each takes one second here."""
    fault, _, _ = measured
    seconds = [run.seconds for run in fault.runs]
    assert seconds == pytest.approx([run.trainings for run in fault.runs])
    assert min(seconds) > 0
