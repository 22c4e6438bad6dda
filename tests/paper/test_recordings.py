"""The shipped recordings answer what is asked today: a docstring of an answer is part of its schema."""

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
    "review": Summaries, "claims": Reported, "choose": Choice, "summary": CitedSummary,
    "choose-files": FileChoices, "framework": Guide, "configuration": Guide, "paragraphs": Guide,
    "split": Splits, "begin": Learnt, "learn": Learnt, "write": Written, "analyse": Analysis, "mend": Edited,
    "refactor": Edited, "plan": Plan, "revise": Edited, "formulas": Setups, "verdicts": Verdicts,
    "match": Matches,
}  # fmt: skip
RECORDINGS = sorted({path for case in load_cases() for path in case.folder.glob("recordings/*.jsonl")})


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
    words = [one for one in records if not any(part.startswith("[figure ") for part in one["parts"])]
    assert words
    assert [one["step"] for one in words if wording(one) != one["hash"]] == []
