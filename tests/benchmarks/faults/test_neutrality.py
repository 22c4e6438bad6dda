"""Other repairs as ground truths, and the column they give."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.children import ROOT
from benchmarks.faults.case import Scale, Side
from benchmarks.faults.case_result import PIPELINE, CaseResult
from benchmarks.faults.cases import fault_case, published_means, source_text
from benchmarks.faults.neutrality import in_words, numbers, truths, walk_all
from benchmarks.faults.scores import parse_truth
from benchmarks.faults.verdict import scorecard
from reenact.diagnosis.options import Depth
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.types import Stop

D9 = program_from_text(source_text(fault_case("D9"), Side.BUGGY, Scale.LITE))


def test_layers_are_counted_as_in_the_study() -> None:
    layers = numbers(D9)
    planted = {fault.layer for fault in fault_case("D9").faults if fault.layer is not None}
    assert planted == {layers["conv2d"], layers["conv2d_1"]}


def test_a_repair_becomes_one_entry_a_type_with_all_its_layers() -> None:
    turned = [
        Set(param.id, "relu" if param.kind is Kind.ACTIVATION else 0.01)
        for param in hyperparameters_of(D9)
        if (param.kind is Kind.ACTIVATION and param.id.layer.startswith("conv2d"))
        or param.kind is Kind.LEARNING_RATE
    ]
    assert in_words(Patch(tuple(turned)), numbers(D9)) == "ACH(0,2), HLR"


def test_walks_of_another_scale_are_left_out() -> None:
    walks = {
        "D7": {"scale": "lite", "alternatives": ["OCH", "HLR, OCH"]},
        "D6": {"scale": "full", "alternatives": ["HLR"]},
    }
    assert truths(walks, Scale.LITE) == {"D7": (parse_truth("OCH"), parse_truth("HLR, OCH"))}


def test_no_walk_leaves_no_file(tmp_path: Path) -> None:
    assert walk_all([], Scale.LITE, "10", tmp_path / "own.json", stop=Stop()) == {}
    assert not (tmp_path / "own.json").exists()


def test_the_shipped_walks_are_ground_truths_of_known_faults() -> None:

    source = ROOT / "benchmarks" / "cases" / "faults" / "own.json"
    walks = json.loads(source.read_text(encoding="utf-8"))
    assert walks
    for case, walk in walks.items():
        assert fault_case(case).written
        assert all(parse_truth(text) for text in walk["alternatives"])


def test_the_card_has_no_column_for_a_fault_of_which_none_was_found() -> None:
    case = fault_case("D7")
    results = [
        CaseResult(
            case.id,
            side,
            {PIPELINE: [["OCH", None]] if side is Side.BUGGY else []},
            dict.fromkeys(("plain", "quick", "pipeline"), 1.0),
        )  # type: ignore[dict-item]
        for side in Side
    ]
    card = scorecard(results, [case], {}, Scale.LITE, Depth.NORMAL, published_means())
    assert card.tables
    assert not [table for table in card.tables if "neutrality" in table.title]
