"""The process pool fulfils the contract; and what only it can be asked: dying servers, orphans,
launches.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from contracts.executor import (
    HEALTHY,
    STEPS,
    ExecutorContract,
    program_in,
    wait_for_file,
    wait_until_gone,
)
from reenact.errors import InputError
from reenact.probe import injected as probe_injected
from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch
from reenact.program.program import read_program
from reenact.trials.executor import Executor
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial, TrialLimits


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[ProcessPool]:
    """A pool whose servers may die: they have imported nothing that would have to be imported
    again.
    """
    with ProcessPool(2, python=sys.executable, scratch=tmp_path / "scratch") as found:
        yield found


class TestPool(ExecutorContract):
    @pytest.fixture
    def executor(self, pool: ProcessPool) -> Executor:
        return pool


def test_a_pool_has_workers() -> None:
    with pytest.raises(InputError, match="workers=0"):
        ProcessPool(0)


def test_only_an_edit_of_our_own_runs_outside_of_the_sandbox(
    pool: ProcessPool, tmp_path: Path
) -> None:
    program = program_in(tmp_path / "p", "raise SystemExit(7)\n")
    for by_template in (False, True):
        edit = Rewrite("train.py", "SystemExit(7)", "SystemExit(8)", by_template=by_template)
        (outcome,) = pool.run([Trial(program, Patch((edit,)))])
        started = outcome.kind is not OutcomeKind.NOT_STARTED
        assert started is by_template, outcome


def test_nothing_stays_in_the_scratch_folder_and_no_server_after_the_end(
    mortal: ProcessPool, tmp_path: Path
) -> None:
    mortal.run([Trial(program_in(tmp_path / "p", "print('no training')"))])
    assert list((tmp_path / "scratch").glob("*/server.log"))
    assert not list((tmp_path / "scratch").glob("*/trial-*"))
    servers = mortal.servers
    mortal.close()
    mortal.close()
    wait_until_gone(servers)
    assert len(servers) == 1


def test_an_interpreter_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with ProcessPool(1, python=str(tmp_path / "python"), scratch=tmp_path / "s") as nothing:
        with pytest.raises(InputError, match="could not be started"):
            nothing.run([Trial(program_in(tmp_path / "p", "print(1)"))])
        assert nothing.servers == ()


def test_a_server_that_is_killed_is_replaced_and_its_trial_tried_again(
    mortal: ProcessPool, tmp_path: Path
) -> None:
    notes = tmp_path / "pids"
    text = f"""\
        import os, time
        first = not os.path.exists({str(notes)!r})
        with open({str(notes)!r}, "a") as file:
            print(os.getppid(), os.getpid(), file=file)
        if first:
            time.sleep(600)
    """
    program = program_in(tmp_path / "p", text)
    killed: list[int] = []

    def kill() -> None:
        server, trial = map(int, wait_for_file(notes).split())
        os.kill(server, signal.SIGKILL)
        killed.extend((server, trial))

    killing = threading.Thread(target=kill)
    killing.start()
    (outcome,) = mortal.run([Trial(program)])
    killing.join()
    assert outcome.kind is OutcomeKind.NO_TRAINING, outcome
    wait_until_gone(killed)
    assert killed[0] not in mortal.servers


def test_a_trial_that_always_kills_its_server_is_an_outcome(
    mortal: ProcessPool, tmp_path: Path
) -> None:
    text = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)\n"
    bad, good = (
        program_in(tmp_path / "p", text),
        program_in(tmp_path / "q", "print('fine')"),
    )
    found = mortal.run([Trial(bad), Trial(good)])
    assert [outcome.kind for outcome in found] == [
        OutcomeKind.KILLED,
        OutcomeKind.NO_TRAINING,
    ], found


def test_a_server_that_still_imports_does_not_survive_our_own_death(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "pid"
    slow = (
        f"import os, time\nopen({str(notes)!r}, "
        f"'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    )
    (tmp_path / "slow_library.py").write_text(slow)
    ours = f"""\
        import json, os, subprocess, sys, time
        from reenact.trials.pool import SERVER
        env = os.environ | {{"PYTHONPATH": {str(tmp_path)!r}}}
        server = [sys.executable, str(SERVER)]
        server = subprocess.Popen(server, stdin=subprocess.PIPE, env=env, start_new_session=True)
        job = {{"inject": {str(probe_injected.FOLDER)!r}, "imports": ["slow_library"]}}
        server.stdin.write(json.dumps(job).encode() + b"\\n")
        server.stdin.flush()
        time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", dedent(ours)]) as parent:
        server = int(wait_for_file(notes))
        parent.kill()
    wait_until_gone([server])


def test_nobody_survives_our_own_death(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    text = f"""\
        import os, subprocess, time
        below = subprocess.Popen(["sleep", "600"])
        with open({str(notes)!r}, "w") as file:
            print(os.getppid(), os.getpid(), below.pid, file=file)
        time.sleep(600)
    """
    program_in(tmp_path / "p", text)
    ours = f"""\
        from pathlib import Path
        from reenact.program.program import read_program
        from reenact.trials.pool import ProcessPool
        from reenact.trials.trial import Trial
        program = read_program(["train.py"], Path({str(tmp_path / "p")!r}))
        ProcessPool(1, scratch=Path({str(tmp_path / "s")!r})).run([Trial(program)])
    """
    with subprocess.Popen([sys.executable, "-c", dedent(ours)]) as parent:
        pids = [int(word) for word in wait_for_file(notes).split()]
        parent.kill()
    wait_until_gone(pids)


@pytest.mark.release
def test_modules_notebooks_and_launchers(pool: ProcessPool, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "steps.py").write_text("epochs = 3\n")
    loop = HEALTHY.replace("range(3)", "range(epochs)")
    (folder / "pkg" / "__main__.py").write_text("from .steps import epochs\n" + loop)
    cell = (
        '{"cell_type": "code", "source": %s, "metadata": {}, "outputs": [], "execution_count": '
        "null}"
    )
    cells = ",".join(cell % _quoted(text) for text in ("%matplotlib inline\n", HEALTHY))
    (folder / "study.ipynb").write_text(
        f'{{"cells": [{cells}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    )
    (folder / "plain.py").write_text(HEALTHY)
    lines = (
        ["-m", "pkg"],
        ["study.ipynb"],
        ["env", "SOME=1", sys.executable, "plain.py"],
    )
    found = pool.run([Trial(read_program(line, folder), seed=1) for line in lines])
    assert [(outcome.kind, outcome.steps) for outcome in found] == [
        (OutcomeKind.FINISHED, STEPS)
    ] * 3, found
    assert len({outcome.metrics["test_loss"] for outcome in found}) == 1, (
        "forked or not, the same numbers"
    )


def _quoted(text: str) -> str:
    import json

    return json.dumps(text)


KERAS = """\
import numpy as np
{imports}

x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = (x.sum(1) > 0).astype("float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(x, y, batch_size=16, epochs=2, validation_split=0.25, verbose=0)
"""


def test_keras_new_and_old(pool: ProcessPool, tmp_path: Path) -> None:
    new = program_in(tmp_path / "new", KERAS.format(imports="import keras"))
    old = program_in(tmp_path / "old", KERAS.format(imports="from tensorflow import keras"))
    found = pool.run([Trial(new, seed=1), Trial(old, seed=1), Trial(new, seed=2)])
    assert [(outcome.kind, outcome.steps, outcome.epochs) for outcome in found] == [
        (OutcomeKind.FINISHED, 6, 2)
    ] * 3, found
    assert found[0].metrics["val_mae"] == found[1].metrics["val_mae"]
    assert found[0].metrics["val_loss"] != found[2].metrics["val_loss"]
    assert found[0].sources["val_loss"] == "keras"


def test_a_local_module_with_the_name_of_a_library_wins_as_it_would(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "scipy.py").write_text("size = 3\n")
    program = program_in(folder, "import scipy\nassert scipy.size == 3\n")
    with ProcessPool(1, python=sys.executable, scratch=tmp_path / "scratch") as cold:
        (outcome,) = cold.run([Trial(program, limits=TrialLimits(seconds=300))])
    assert outcome.kind is OutcomeKind.NO_TRAINING, outcome


@pytest.mark.parametrize("forks", [True, False])
def test_a_trial_reads_the_answers_that_it_is_given(
    pool: ProcessPool, tmp_path: Path, *, forks: bool
) -> None:
    asks = HEALTHY.replace("range(3)", "range(int(input()))")
    # A local module with a name that the server has imported already.
    (tmp_path / "p").mkdir()
    if not forks:
        (tmp_path / "p" / "numpy.py").touch()
        asks = f"try:\n    import numpy\nexcept ImportError:\n    pass\n{asks}"
    program = program_in(tmp_path / "p", asks)
    answered, alone = pool.run([Trial(program, stdin=b"2\n"), Trial(program)])
    assert answered.kind is OutcomeKind.FINISHED
    assert answered.steps == 8
    assert alone.kind is OutcomeKind.READS_STDIN
