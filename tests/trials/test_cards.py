"""Trainings side by side on one card, with the description of a card that is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.executor import HEALTHY, program_in
from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.trials.cards import (
    Card,
    Packing,
    cards_here,
    may_use_cuda,
    out_of_memory,
    uses_several,
)
from reenact.trials.folder import injected
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

GIB = 1 << 30
FULL = Crash("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB", None, "", ())


def took(gib: float) -> Outcome:
    return Outcome(OutcomeKind.FINISHED, steps=1, card_bytes=int(gib * GIB))


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(program_in(tmp_path / "p", "print(1)"))


def test_the_first_has_a_card_for_itself_and_says_how_many_fit(trial: Trial) -> None:
    packing, stop = Packing([Card("0", 24 * GIB)]), Stop()
    with packing.seat(trial, stop) as first:
        assert first is not None
        assert first.alone
        late = Stop()
        late.ask()
        with packing.seat(trial, late) as second:
            assert second is None, "nobody knows yet whether another fits"
    assert not packing.learn(trial, took(2), first)
    assert packing.fits(trial) == 7
    seats = [packing.seat(trial, stop) for _ in range(7)]
    taken = [seat.__enter__() for seat in seats]
    assert all(seat is not None and not seat.alone for seat in taken)
    with packing.seat(trial, late) as eighth:
        assert eighth is None
    seats[0].__exit__(None, None, None)
    with packing.seat(trial, stop) as again:
        assert again is not None


def test_trainings_are_spread_over_cards_and_one_over_all_of_them_has_all(
    tmp_path: Path, trial: Trial
) -> None:
    packing, stop = Packing([Card("0", 24 * GIB), Card("GPU-1", 24 * GIB)]), Stop()
    holding = packing.seat(trial, stop)
    packing.learn(trial, took(2), holding.__enter__())
    with packing.seat(trial, stop) as second:
        assert second is not None
        assert second.card.name == "GPU-1"
    wide = Trial(program_in(tmp_path / "w", "model = torch.nn.DataParallel(model)"))
    assert uses_several(wide.program)
    late = Stop()
    late.ask()
    with packing.seat(wide, late) as none:
        assert none is None, "one sits on the first card"
    with Packing(packing.cards).seat(wide, stop) as every:
        assert every is not None
        assert (every.card.name, every.alone) == ("", True)


def test_a_program_that_touches_no_card_is_not_held_up(trial: Trial) -> None:
    packing = Packing([Card("0", 8 * GIB)])
    with packing.seat(trial, Stop()) as first:
        assert not packing.learn(trial, took(0), first)
    with packing.seat(trial, Stop()) as second:
        assert second is None


def test_out_of_memory_beside_others_gives_more_space_and_alone_it_counts(
    trial: Trial,
) -> None:
    packing, full = (
        Packing([Card("0", 24 * GIB)]),
        Outcome(OutcomeKind.CRASHED, crash=FULL),
    )
    assert out_of_memory(full)
    with packing.seat(trial, Stop()) as seat:
        packing.learn(trial, took(2), seat)
    before = packing.fits(trial)
    with packing.seat(trial, Stop()) as seat:
        assert packing.learn(trial, full, seat), "it is done again"
    assert before is not None
    assert packing.fits(trial) == before // 2
    with packing.seat(trial, Stop(), tries=2) as seat:
        assert seat is not None
        assert seat.alone
        assert not packing.learn(trial, full, seat)


def test_this_machine_is_described_without_starting_cuda() -> None:
    assert all(card.free > 0 for card in cards_here())
    assert injected("reenact_trials_cards").look("") == []
    assert not injected("reenact_trials_cards").cuda_began()


@pytest.mark.parametrize("before", [None, "0"])
def test_imports_ahead_of_a_fork_start_no_cuda(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "PYTORCH_NVML_BASED_CUDA_CHECK"
    if before is None:
        monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv(name, before)
    with injected("reenact_trials_cards").without_cuda():
        assert os.environ[name] == "1"
    assert os.environ.get(name) == before


def test_a_program_that_may_take_a_card_is_noticed(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            "model.to('cuda')",
            "model.cuda()",
            "import keras",
            "Trainer(accelerator='gpu')",
        )
    ):
        assert may_use_cuda(program_in(tmp_path / str(number), text)), text
    assert not may_use_cuda(program_in(tmp_path / "c", HEALTHY))


ON_A_CARD = """\
import os, sys, time
import torch
sys.modules["reenact_trials_cards"].peak = lambda: 3 << 30
assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"
here = {here!r}
me = os.path.join(here, str(os.getpid()))
open(me, "w").close()
time.sleep(0.2)
beside = len(os.listdir(here)) - 1
try:
    {crash}
    time.sleep(0.3)
    beside = max(beside, len(os.listdir(here)) - 1)
    with open({most!r}, "a") as file:
        print(beside, file=file)
finally:
    os.unlink(me)
"""


@pytest.mark.parametrize(
    ("crash", "most"),
    [
        pytest.param("pass", 2, marks=pytest.mark.slow),
        ("if beside >= 2: raise torch.cuda.OutOfMemoryError('CUDA out of memory')", 1),
    ],
)
@pytest.mark.usefixtures("warm_python")
def test_the_pool_packs_a_card_and_falls_back(tmp_path: Path, crash: str, most: int) -> None:
    (tmp_path / "here").mkdir()
    text = ON_A_CARD.format(here=str(tmp_path / "here"), most=str(tmp_path / "most"), crash=crash)
    program = program_in(tmp_path / "p", text)
    # Three of 3 GiB and their contexts fit; in the second case their card is smaller than it says.
    with ProcessPool(5, cards=[Card("0", 14 * GIB)]) as pool:
        found = pool.run([Trial(program, seed=seed) for seed in range(8)])
    assert [one.kind for one in found] == [OutcomeKind.NO_TRAINING] * 8, found
    beside = [int(line) for line in (tmp_path / "most").read_text(encoding="utf-8").split()]
    assert len(beside) == 8
    assert max(beside) <= 2
    assert min(beside) == 0, "the first was alone"
    assert {one.card_bytes for one in found} == {3 * GIB}
    # The last one to end: before it, some may have seen a third come that ran out of memory.
    assert beside[-1] <= most


@pytest.mark.usefixtures("warm_python")
def test_what_runs_out_of_memory_alone_has_failed(tmp_path: Path) -> None:
    text = "import torch\nraise torch.cuda.OutOfMemoryError('CUDA out of memory')"
    with ProcessPool(2, cards=[Card("0", 8 * GIB)]) as pool:
        (outcome,) = pool.run([Trial(program_in(tmp_path / "p", text))])
    assert outcome.kind is OutcomeKind.CRASHED
    assert out_of_memory(outcome)


def test_where_an_import_starts_cuda_trials_are_fresh_interpreters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_interpreter: str
) -> None:
    (tmp_path / "lib" / "torchmetrics").mkdir(parents=True)
    begins = "import torch\ntorch.cuda.is_initialized = lambda: True\n"
    (tmp_path / "lib" / "torchmetrics" / "__init__.py").write_text(begins, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    text = f"""\
        import sys, torchmetrics
        open({str(tmp_path / "note")!r}, "w").write(str("reenact_trials_child" in sys.modules))
    """
    program = program_in(tmp_path / "p", text)
    with ProcessPool(1, python=warm_interpreter, scratch=tmp_path / "s") as pool:
        (outcome,) = pool.run([Trial(program)])
        (log,) = (tmp_path / "s").glob("*/server.log")
        assert "CUDA was started by an import" in log.read_text(encoding="utf-8")
    assert outcome.crash is None, outcome
    assert (tmp_path / "note").read_text(encoding="utf-8") == "False"
