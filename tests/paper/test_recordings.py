"""The shipped recordings answer what is asked today: a docstring of an answer is part of its
schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from benchmarks.papers.cases import load_cases
from reenact.codegen.edits import Edited
from reenact.llm.ask import Prompt, Request, Text
from reenact.paper.develop.questions import Analysis, Learnt, Plan, Written
from reenact.paper.fingerprint.fingerprint import Guide, Splits
from reenact.paper.lineage.code import FileChoices
from reenact.paper.lineage.trace import Choice, CitedSummary
from reenact.paper.measure.measure import Matches
from reenact.paper.review.claims import Reported
from reenact.paper.review.review import Summaries
from reenact.paper.verify.formula import Setups
from reenact.paper.verify.verify import Verdicts

ANSWERS: dict[str, type[BaseModel]] = {
    "review": Summaries,
    "claims": Reported,
    "choose": Choice,
    "summary": CitedSummary,
    "choose-files": FileChoices,
    "framework": Guide,
    "configuration": Guide,
    "paragraphs": Guide,
    "split": Splits,
    "begin": Learnt,
    "learn": Learnt,
    "write": Written,
    "analyse": Analysis,
    "fix": Edited,
    "refactor": Edited,
    "plan": Plan,
    "revise": Edited,
    "formulas": Setups,
    "verdicts": Verdicts,
    "match": Matches,
}
RECORDINGS = sorted(
    {path for case in load_cases() for path in case.folder.glob("recordings/*.jsonl")}
)


def wording(record: dict[str, Any]) -> str:
    """The hash that a replay compares, of the recorded words and the type of today."""
    name, _, version = record["prompt"].rpartition(" v")
    parts = tuple(Text(part, local=part.startswith("<<<machine ")) for part in record["parts"])
    prompt = Prompt(name, int(version), record["system"], parts)
    step = record["step"].rpartition("/")[2].partition("~")[0].removesuffix("-again")
    return Request(step=record["step"], prompt=prompt, answer=ANSWERS[step]).hash


@pytest.mark.parametrize("file", RECORDINGS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_answers_have_the_schema_that_was_recorded(file: Path) -> None:
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    # Of a figure the recording has a mark alone.
    words = [
        one for one in records if not any(part.startswith("[figure ") for part in one["parts"])
    ]
    assert words
    assert [one["step"] for one in words if wording(one) != one["hash"]] == []


def test_in_one_recorded_paper_a_failed_criterion_leads_to_an_edit_and_a_new_verdict() -> None:
    (file,) = (
        path
        for path in RECORDINGS
        if path.parents[1].name == "damped-octaves" and path.stem == "whole"
    )
    records = {
        one["step"]: one
        for one in map(json.loads, file.read_text(encoding="utf-8").splitlines()[1:])
    }
    place = "paper/develop/revision[0]"
    assert "fail: " in "".join(records[f"{place}/plan"]["parts"]).partition("<<<judged")[2]
    edits = records[f"{place}/revise"]["answer"]["value"]
    assert edits["swaps"] or edits["lines"] or edits["files"]
    before, after = (
        records[f"{under}/verify/judge[0]/verdicts"]["parts"][0]
        for under in ("paper/develop", place)
    )
    assert edits["swaps"][0]["replace"].splitlines()[0] not in before
    assert edits["swaps"][0]["replace"].splitlines()[0] in after, "the judge reads the edited code"
    assert "paper/develop/revision[1]/plan" not in records, "then all hold"
