"""The measuring code on tiny programs. No test asserts a time: goals are judged from given
figures.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.watching.card import scorecard
from benchmarks.watching.measure import CASES, measure
from benchmarks.watching.measured import BOUNDS, Measured, Pair
from benchmarks.watching.promises import Promises, kept
from benchmarks.watching.runs import NAIVE, Case, Training, train_alone
from reenact.errors import Inconclusive, InputError, Stopped
from reenact.probe.trace import Columns, Event, Trace, no_rows
from reenact.program.graph import Layer, ModelGraph, TaskType
from reenact.types import Progress, Stop

pytestmark = pytest.mark.slow

TINY = """
import time
import torch
torch.manual_seed(0)
x, y = torch.randn(60, 4), torch.randint(0, 2, (60,))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
wall, cpu = time.perf_counter(), time.process_time()
for step in range(60):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x[step:step + 8]), y[step:step + 8])
    loss.backward()
    optimizer.step()
    if step == 51:
        break
print(f"loss {loss.item():.8f}")
print(f"trained in {time.perf_counter() - wall:.4f} s, {time.process_time() - cpu + 0.001:.4f} s of CPU")
"""
LOAD = ((0.5, 0.5, 0.5), (0.6, 0.5, 0.5))
WHOLE = Promises(steps=100, sampled=22, later_share=0.025, probe_seconds=0.1, broken=())


def _case(folder: Path, text: str, framework: str = "torch") -> Case:
    (folder / "tiny.py").write_text(text)
    return Case("tiny", folder / "tiny.py", framework)


def _measured(
    quick: float, normal: float, promises: Promises = WHOLE, printed: str = "same"
) -> Measured:
    found = Measured(CASES[0])
    for preset, ratio in (("quick", quick), ("normal", normal)):
        found.pairs[preset] = [
            Pair(Training(10.0, 9.0, "same"), Training(10.0 * ratio, 9.0, printed))
        ] * 7
        found.promises[preset] = [promises]
    return found


def test_measures_a_tiny_program(tmp_path: Path) -> None:
    progress_seen: list[Progress] = []
    card = measure(
        tell=progress_seen.append,
        stop=Stop(),
        repeats=1,
        naive_repeats=1,
        cases=[_case(tmp_path, TINY)],
    )
    assert [progress.note for progress in progress_seen] == [
        "tiny, quick",
        "tiny, normal",
        "tiny, naive",
    ]
    table, by_cpu = card.tables
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["program"] == "tiny"
    assert row["sampled"] == f"{(20 + 1) / 52:.1%}"
    assert all(
        float(row[column]) > 0 for column in ("unobserved s", "quick", "normal", "naive dump")
    )
    assert len(by_cpu.rows) == 1
    assert isinstance(card.facts, dict)
    facts = card.facts["programs"][0]
    assert facts["presets"]["quick"]["sampled"] == [21]
    assert facts["presets"]["normal"]["steps"] == [52]
    assert len(facts["naive_pairs"]) == 1
    # One pair is a try: nothing can be met by it, at most missed.
    assert all(goal.met is not True for goal in card.goals)
    assert (card.goals[2].met is False) == bool(facts["broken"])


def test_goals_are_judged_from_the_figures() -> None:
    results = [_measured(1.04, 1.14), _measured(1.05, 1.15)]
    card = scorecard(results, wanted=2, repeats=7, load=LOAD)
    assert [goal.met for goal in card.goals] == [True, True, True]
    assert card.exit_code == 0
    assert "quick 1.050" in card.figures


def test_on_a_machine_with_other_work_cpu_time_is_judged() -> None:
    busy = Measured(CASES[0])
    for preset in BOUNDS:
        busy.pairs[preset] = [Pair(Training(20.0, 10.0, "same"), Training(26.0, 10.4, "same"))] * 7
        busy.promises[preset] = [WHOLE]
    card = scorecard([busy], wanted=1, repeats=7, load=LOAD)
    assert [goal.met for goal in card.goals] == [True, True, True]
    assert "by CPU time in 1, the machine had other work" in card.goals[0].reached
    quiet = Measured(CASES[0])
    for preset in BOUNDS:
        # The watched training waits and the other does not: that is the probe's doing.
        quiet.pairs[preset] = [Pair(Training(10.0, 9.9, "same"), Training(20.0, 10.0, "same"))] * 7
        quiet.promises[preset] = [WHOLE]
    assert [goal.met for goal in scorecard([quiet], wanted=1, repeats=7, load=LOAD).goals[:2]] == [
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("results", "met"),
    [
        ([_measured(1.06, 1.10)], [False, True, True]),
        ([_measured(1.01, 1.16)], [True, False, True]),
        ([_measured(1.01, 1.10, printed="other")], [True, True, False]),
        (
            [_measured(1.01, 1.10, Promises(100, 10, 0.01, 0.1, ("steps have no loss",)))],
            [True, True, False],
        ),
    ],
    ids=["quick too slow", "normal too slow", "training changed", "promise broken"],
)
def test_each_goal_can_be_missed(results: list[Measured], met: list[bool]) -> None:
    card = scorecard(results, wanted=1, repeats=7, load=LOAD)
    assert [goal.met for goal in card.goals] == met
    assert card.exit_code == 1


@pytest.mark.parametrize(("wanted", "repeats"), [(2, 7), (1, 6)])
def test_part_of_the_measurement_meets_nothing(wanted: int, repeats: int) -> None:
    card = scorecard([_measured(1.0, 1.0)], wanted=wanted, repeats=repeats, load=LOAD)
    assert [goal.met for goal in card.goals] == [None, None, None]
    assert card.exit_code == 3


def test_trace_that_stops_early_is_a_broken_promise() -> None:
    found = _measured(1.0, 1.0)
    found.promises["normal"] = [
        Promises(steps=30, sampled=30, later_share=1.0, probe_seconds=0.1, broken=())
    ]
    assert found.broken == ("torch mlp: not every trace holds every step",)


def test_nothing_measured_is_inconclusive() -> None:
    assert scorecard([], wanted=6, repeats=7, load=LOAD).exit_code == 3


def _trace(
    steps: int,
    sampled: list[int],
    *,
    layers: list[int] | None = None,
    lost: int = -1,
    off: str = "",
    complete: bool = True,
) -> Trace:
    looked = sampled if layers is None else layers
    table = np.array(
        [[step, 1.0 if step != lost else np.nan, step in sampled] for step in range(steps)]
    )
    layer = Layer("0", "Linear", None, (), None, None, {}, ())
    graph = ModelGraph("torch", "Net", (layer,), None, None, (), TaskType.UNKNOWN, None, 0, 0)
    return Trace(
        steps=Columns(("step", "loss", "sampled"), table),
        layers=Columns(("step", "phase"), np.array([[step, 0.0] for step in looked]))
        if looked
        else no_rows(("step",)),
        parameters=Columns(("step", "grad_present"), np.array([[step, 1.0] for step in sampled])),
        layer_names=(),
        parameter_facts=(),
        metrics=(),
        events=(Event("probe-off", 1, 0, 0.1, {"sentence": off}),) if off else (),
        graph=graph,
        data=(),
        overlaps=(),
        crash=None,
        complete=complete,
        seconds=1.0,
        probe_seconds=0.01,
        missing=(),
    )


def test_promises_of_a_whole_trace() -> None:
    found = kept(_trace(120, [*range(20), 20, 70]))
    assert found.broken == ()
    assert (found.steps, found.sampled, found.later_share) == (120, 22, 0.02)


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (
            _trace(120, [*range(1, 20), 20, 70]),
            "of the first 20 steps 1 were not sampled",
        ),
        (_trace(120, [*range(20), 70]), "1.00% of the later steps were sampled"),
        (_trace(120, [*range(20), 20, 70], lost=5), "1 steps have no loss"),
        (
            _trace(120, [*range(20), 20, 70], layers=[*range(19)]),
            "3 sampled steps have no row of a layer",
        ),
        (
            _trace(120, [*range(20), 20, 70], off="the probe met an error"),
            "the probe met an error",
        ),
        (_trace(120, [*range(20), 20, 70], complete=False), "the trace has no ending"),
        (None, "there is no trace"),
    ],
)
def test_each_promise_can_be_broken(trace: Trace | None, sentence: str) -> None:
    assert kept(trace).broken == (sentence,)


def test_program_that_fails_is_reported_with_its_last_words(tmp_path: Path) -> None:
    case = _case(tmp_path, "print('so far')\nraise SystemExit(3)")
    with pytest.raises(Inconclusive, match=r"tiny ended with 3 .*so far"):
        train_alone(case, stop=Stop())


def test_stop_ends_the_running_program(tmp_path: Path) -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        train_alone(_case(tmp_path, "import time\ntime.sleep(600)"), stop=stop)


def test_unknown_program_is_refused() -> None:
    with pytest.raises(InputError, match="known: torch mlp"):
        measure(tell=lambda progress: None, stop=Stop(), programs=["tensorflow"])


def test_there_are_six_programs_that_know_nothing_of_the_probe() -> None:
    assert len({case.name for case in CASES}) == 6
    for case in CASES:
        text = case.script.read_text()
        assert "reenact" not in text
        assert text.count("trained in") == 1
    assert BOUNDS == {"quick": 1.05, "normal": 1.15}


KERAS = """
import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(2)])
model.compile("sgd", "mse")
model.fit(np.zeros((24, 4)), np.zeros((24, 2)), batch_size=8, epochs=1, verbose=0)
"""


@pytest.mark.parametrize(
    ("framework", "text", "arrays"), [("torch", TINY, 4 + 8), ("keras", KERAS, 2 + 4)]
)
def test_naive_dump_writes_every_layer_and_weight(
    tmp_path: Path, framework: str, text: str, arrays: int
) -> None:
    """Outputs and weights of the layers; for torch also the output of the whole model, and the
    gradients.
    """
    case, folder = _case(tmp_path, text, framework), tmp_path / "dumps"
    folder.mkdir()
    subprocess.run(
        [sys.executable, str(NAIVE), framework, str(folder), str(case.script)],
        check=True,
    )
    with np.load(folder / "batch-0.npz") as dump:
        assert len(dump.files) == arrays
