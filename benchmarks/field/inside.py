"""What runs beside a foreign program in the box: diagnosis and repair as a user asks for them, as JSON.

`python3 field_inside.py`, in the folder of the program; the task is read from stdin.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ANSWER = "field_answer.json"


def main() -> None:
    task = json.load(sys.stdin)
    import reenact

    words = (task["program"], *task["arguments"])
    common = {"max_time": task["seconds"], "workers": task["workers"], "runs_dir": task["runs"]}
    said = answer(reenact.diagnose(*words, depth=task["depth"], **common))
    Path(ANSWER).write_text(json.dumps(said), encoding="utf-8")
    if task["repair"]:
        fixed = reenact.repair(*words, **common)
        said |= {"repair": str(fixed.decision), "repair_says": fixed.sentence}
        said["trainings"] += fixed.cost.trainings
        Path(ANSWER).write_text(json.dumps(said), encoding="utf-8")


def answer(found: Any) -> dict[str, Any]:
    """What a diagnosis says, as far as it is scored."""
    return {
        "judgement": str(found.judgement),
        "sentence": found.sentence,
        "findings": [_named(one.suspect, one.confidence, str(one.status)) for one in found.findings],
        "doubts": [_named(one.suspect, one.confidence, str(one.status)) for one in found.low_confidence],
        "symptoms": [_named(one, one.confidence, "seen") for one in found.symptoms],
        "trainings": found.spent.trainings,
        "seconds": found.spent.seconds,
        "notes": list(found.notes),
    }


def _named(suspect: Any, confidence: float, status: str) -> dict[str, Any]:
    places = [suspect.place, *(witness.place for witness in suspect.witnesses)]
    return {
        "fault": str(suspect.fault) if suspect.fault is not None else None,
        "codes": [witness.code for witness in suspect.witnesses],
        "lines": sorted(_lines(places)),
        "layer": suspect.layer,
        "confidence": round(confidence, 3),
        "status": status,
        "saw": suspect.first.saw,
    }


def _lines(places: Iterable[Any]) -> set[tuple[int, int]]:
    return {(place.line, max(place.line, place.end_line)) for place in places if place is not None}


if __name__ == "__main__":
    main()
