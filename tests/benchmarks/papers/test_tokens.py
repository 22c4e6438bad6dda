"""The table of tokens by step adds up to what was asked and answered."""

from __future__ import annotations

from click.testing import CliRunner

from benchmarks.papers.cases import load_cases
from benchmarks.papers.tokens import COLUMNS, KINDS, by_step, main
from reenact.llm.recording import read_recording

CASES = {one.id: one for one in load_cases()}


def test_the_parts_add_up_and_the_paper_is_kept_apart_from_the_code() -> None:
    records = read_recording(CASES["damped-octaves"].folder / "recordings" / "whole.jsonl")
    found = by_step(records)
    whole = found[""]
    assert whole["questions"] == len(records)
    asked = sum(len(record["system"]) + sum(map(len, record["parts"])) for record in records)
    assert sum(whole[kind] for kind in (*KINDS, "ours")) == asked
    assert whole["all"] == asked + whole["answers"]
    for name in COLUMNS:
        assert whole[name] == sum(counted[name] for step, counted in found.items() if step)
    assert found["review"]["code"] == 0
    assert found["review"]["paper"] > 0
    judging = found["develop/verify/judge/verdicts"]
    assert judging["questions"] == 2
    assert judging["code"] > judging["criteria"] > judging["paper"] == 0


def test_the_command_prints_a_table_for_each_shipped_recording() -> None:
    ran = CliRunner().invoke(main, [])
    assert ran.exit_code == 0
    for name in ("damped-octaves, whole", "earned-trust, whole"):
        assert name in ran.output
    assert ran.output.count("| sum |") == 2
