"""The detector's opinion of a base program as it is, and of the same with a fault that it must
know.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.detector.plan import PRESET, base_programs
from reenact.diagnosis.learned.features import features
from reenact.diagnosis.learned.findings import learned_findings, load
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.probe.read import read_trace
from reenact.probe.trace import Root
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.static_graph import hyperparameters_of, static_graph
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("warm_python")]

SEED = 77
"""None of those that it has learned from."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Evidence]:
    """One base program watched as it is, and with a learning rate of nothing."""
    program = next(one for one in base_programs() if one.entry.stem == "torch_blobs")
    rate = next(param for param in hyperparameters_of(program) if param.kind is Kind.LEARNING_RATE)
    patches = (Patch(), Patch((Set(rate.id, 1e-7),)))
    trials = [Trial(program, patch, SEED, preset=PRESET, keep_trace=True) for patch in patches]
    found = []
    with ProcessPool(1, scratch=tmp_path_factory.mktemp("scratch")) as pool:
        for trial, outcome in zip(trials, pool.run(trials), strict=True):
            assert outcome.trace is not None, outcome.note
            trace = read_trace(outcome.trace, root=Root(program.folder))
            found.append(Evidence(trial.patched, static_graph(trial.patched), trace))
    return found


def test_a_healthy_program_is_left_in_peace(seen: list[Evidence]) -> None:
    assert learned_findings(seen[0]) == ()


def test_a_learning_rate_of_nothing_is_named(seen: list[Evidence]) -> None:
    first = learned_findings(seen[1])[0]
    assert first.fault is FaultType.HLR
    assert (first.code, first.name, first.first.family) == (
        "LD001",
        "learned-learning-rate",
        "learned",
    )
    assert 0.5 <= first.confidence <= 0.95
    assert first.place is not None
    assert seen[1].program is not None
    assert "lr=1e-07" in seen[1].program.line(first.place)
    assert isinstance(first, Finding)
    assert first.suggestions[0].old == 1e-7
    fixed = first.suggestions[0].patch.apply(seen[1].program)
    assert "lr=1e-07" not in fixed.script()


def test_the_shipped_model_knows_every_feature_of_a_live_run(
    seen: list[Evidence],
) -> None:
    assert set(load().names) == set(features(seen[0]))


def test_without_a_trace_there_is_no_opinion() -> None:
    assert learned_findings(Evidence()) == ()


def test_the_bases_are_many_and_of_both_frameworks() -> None:
    names = [Path(one.entry).stem for one in base_programs()]
    assert len(names) >= 8
    assert {name.partition("_")[0] for name in names} == {"torch", "keras"}
