"""Nothing is trained twice, and nothing that says nothing is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.outcome_cache import Cached, FolderStore, MemoryStore, Store
from reenact.errors import StorageError
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import program_from_text
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial, TrialLimits
from reenact.types import Stop

PROGRAM = program_from_text("print('any')")


def finished(trial: Trial) -> Outcome:
    return Outcome(OutcomeKind.FINISHED, 2, metrics={"accuracy": trial.seed / 10})


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else FolderStore(tmp_path / "kept")


def test_what_is_known_is_not_run_and_equal_trials_run_once(store: Store) -> None:
    executor = ScriptedExecutor(finished)
    seen: list[tuple[int, float]] = []
    with Cached(executor, store) as cached:
        for _ in range(2):
            found = cached.run(
                [Trial(PROGRAM, seed=seed) for seed in (3, 1, 3)],
                on=lambda trial, outcome: seen.append((trial.seed, outcome.metrics["accuracy"])),
            )
            assert [outcome.metrics["accuracy"] for outcome in found] == [0.3, 0.1, 0.3]
    assert [trial.seed for trial in executor.ran] == [3, 1]
    assert sorted(seen) == sorted([(3, 0.3), (1, 0.1), (3, 0.3)] * 2)


@pytest.mark.parametrize(
    "kind", [OutcomeKind.INTERRUPTED, OutcomeKind.KILLED, OutcomeKind.NOT_STARTED]
)
def test_accidents_are_not_kept(store: Store, kind: OutcomeKind) -> None:
    executor = ScriptedExecutor(lambda _: Outcome(kind))
    cached = Cached(executor, store)
    cached.run([Trial(PROGRAM)])
    cached.run([Trial(PROGRAM)])
    assert len(executor.ran) == 2


@pytest.mark.parametrize(
    "kind", [OutcomeKind.CRASHED, OutcomeKind.TIMEOUT, OutcomeKind.NO_TRAINING]
)
def test_failures_of_the_training_itself_are_kept(store: Store, kind: OutcomeKind) -> None:
    executor = ScriptedExecutor(lambda _: Outcome(kind))
    cached = Cached(executor, store)
    assert cached.run([Trial(PROGRAM)]) == cached.run([Trial(PROGRAM)])
    assert len(executor.ran) == 1


def test_a_stop_reaches_the_executor(store: Store) -> None:
    stop = Stop()
    stop.ask()
    (outcome,) = Cached(ScriptedExecutor(finished), store).run([Trial(PROGRAM)], stop=stop)
    assert outcome.kind is OutcomeKind.INTERRUPTED


def test_a_wanted_trace_that_is_gone_is_made_again(tmp_path: Path, store: Store) -> None:
    trace = tmp_path / "trace"

    def traced(trial: Trial) -> Outcome:
        if trial.keep_trace:
            trace.mkdir(exist_ok=True)
        return Outcome(OutcomeKind.FINISHED, 1, trace=trace if trial.keep_trace else None)

    executor = ScriptedExecutor(traced)
    cached = Cached(executor, store)
    wanted = Trial(PROGRAM, keep_trace=True)
    for trials in (
        [Trial(PROGRAM)],
        [Trial(PROGRAM), wanted],
        [wanted],
        [Trial(PROGRAM)],
    ):
        found = cached.run(trials)
    assert len(executor.ran) == 2
    assert found[0].trace == trace
    trace.rmdir()
    cached.run([wanted])
    assert len(executor.ran) == 3


def test_a_damaged_file_is_written_again(tmp_path: Path) -> None:
    executor = ScriptedExecutor(finished)
    cached = Cached(executor, FolderStore(tmp_path))
    trial = Trial(PROGRAM)
    cached.run([trial])
    (tmp_path / f"{trial.key}.json").write_text('{"kind": "fini')
    cached.run([trial])
    cached.run([trial])
    assert len(executor.ran) == 2


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="could not be kept"):
        Cached(ScriptedExecutor(finished), FolderStore(tmp_path / "file" / "below")).run(
            [Trial(PROGRAM)]
        )


def test_how_long_a_training_may_take_is_no_part_of_what_it_is(store: Store) -> None:
    executor = ScriptedExecutor(finished)
    cached = Cached(executor, store)
    for seconds in (None, 60.0, 61.5):
        cached.run([Trial(PROGRAM, limits=TrialLimits(seconds=seconds))])
    assert len(executor.ran) == 1


def test_what_took_too_long_is_tried_again_with_much_more_patience(
    store: Store,
) -> None:
    executor = ScriptedExecutor(lambda _: Outcome(OutcomeKind.TIMEOUT, seconds=60.0))
    cached = Cached(executor, store)
    for seconds in (60.0, 61.5, 600.0):
        cached.run([Trial(PROGRAM, limits=TrialLimits(seconds=seconds))])
    assert [trial.limits.seconds for trial in executor.ran] == [60.0, 600.0]
