"""The recording that answers every question of a case: what a model would say that wrote the
forgery.

A recording is matched by step, so the answers fit whatever the prompts are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.forged.case import BASES, BugCase, PaperCase
from reenact.llm.recording import HEAD

CLAIM = "@CLAIM@"
"""Stands for the claimed number in the paper and the answers of a base."""
DATA_FILES = ("config.py", "data.py")
METHOD_FILES = ("model.py",)
SECOND_SAMPLE = "~1"
"""Ends the name of a step that asks for a second opinion."""
USAGE = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "estimated": True}
RESTRUCTURED = {
    "title": "A bug of acme",
    "observed": "It fails as the report says.",
    "expected": "It works.",
    "steps": ["Do what the report does."],
}
PLAN = {
    "idea": "Do what the report does.",
    "steps": ["Hand in numbers and ask for the result."],
    "closing": "The symptom of the report shows.",
}


def paper_text(case: PaperCase) -> str:
    """The paper with the number that the case has it claim."""
    text = (BASES / case.base / "paper.md").read_text(encoding="utf-8")
    return text.replace(CLAIM, case.claim)


def paper_answers(case: PaperCase) -> dict[str, Any]:
    """Step to answer: those of the base, and the files of the program, each in the stage it
    belongs to.
    """
    text = (BASES / case.base / "answers.json").read_text(encoding="utf-8")
    answers: dict[str, Any] = json.loads(
        text.replace(f'"{CLAIM}"', case.claim).replace(CLAIM, case.claim)
    )
    program = case.program()
    later = [name for name in program if name not in (*DATA_FILES, *METHOD_FILES)]
    stages = {"data": DATA_FILES, "method": METHOD_FILES, "experiment": tuple(later)}
    for stage, names in stages.items():
        files = [{"path": name, "text": program[name]} for name in names]
        answers[f"paper/develop/{stage}/write"] = {"files": files, "assumptions": []}
    return answers


def bug_answers(case: BugCase) -> dict[str, Any]:
    """Step to answer: the symptom that the report states, and the script."""
    return {
        "bug/restructure": RESTRUCTURED,
        "bug/symptom": json.loads(case.symptom_file.read_text(encoding="utf-8")),
        "bug/context[0]/plan": PLAN,
        "bug/context[0]/attempt[0]/script": {"script": case.script},
    }


def write_recording(answers: Mapping[str, Any], file: Path) -> None:
    """A file for `--model replay:FILE`."""
    lines = [HEAD.decode()]
    for step, value in answers.items():
        record = {
            "step": step,
            "sample": 1 if step.endswith(SECOND_SAMPLE) else 0,
            "hash": "",
            "prompt": step,
            "answer": {
                "value": value,
                "usage": USAGE,
                "cost": None,
                "model": "scripted",
                "source": "model",
                "attempts": 1,
                "wording": "same",
            },
        }
        lines.append(json.dumps(record) + "\n")
    file.write_text("".join(lines), encoding="utf-8")
