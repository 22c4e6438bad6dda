"""A result comes back from the journal as what it was; what an earlier version stored stays as
it is.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.bug.reproduction import Reproduction
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.errors import JournalError
from reenact.journal import Journal, JournalReader
from reenact.repairs.alternatives import NeutralityGraph
from reenact.repairs.verdict import Repair
from reenact.report.recorded import Stored, result_data
from reenact.result import Result

TYPES: dict[str, type[Result]] = {
    "diagnose": Diagnosis,
    "repair": Repair,
    "bug": Reproduction,
    "alternatives": NeutralityGraph,
}


@pytest.mark.parametrize("pipeline", TYPES)
def test_a_result_comes_back_typed(runs_dir: Path, ids: dict[str, str], pipeline: str) -> None:
    with JournalReader.open(runs_dir) as shelf:
        stored = Stored(shelf, shelf.find(ids[pipeline]), runs_dir)
        found = stored.result(TYPES[pipeline])
        assert isinstance(found, TYPES[pipeline])
        assert found.to_dict() == result_data(stored)
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_diagnosis_keeps_its_conclusion_without_program_and_trace(
    runs_dir: Path, ids: dict[str, str]
) -> None:
    with JournalReader.open(runs_dir) as shelf:
        found = Stored(shelf, shelf.find(ids["diagnose"]), runs_dir).result(Diagnosis)
    assert found.evidence.program is None
    assert found.sentence == "1 finding, 1 proven, 1 confirmed by training."
    assert found.findings[0].tried is not None


def test_what_an_earlier_version_stored_is_given_as_it_stands_and_refused_as_a_result(
    tmp_path: Path,
) -> None:
    old = {
        "strategy": "guided",
        "decision": "repaired",
        "sentence": "Repaired by 1 change.",
        "verdicts": [],
    }
    with (
        Journal.open(tmp_path) as journal,
        journal.run(pipeline="repair", request={}) as run,
    ):
        run.note("result", old)
        run.finish({"decision": "repaired"})
    with JournalReader.open(tmp_path) as shelf:
        stored = Stored(shelf, shelf.find(run.record.id), tmp_path)
        assert result_data(stored) == old
        with pytest.raises(JournalError, match="has not the form that this version shows"):
            stored.result(Repair)
