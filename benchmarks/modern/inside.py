"""One program, diagnosed as a user asks for it: task on stdin, JSON on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any


def main() -> None:
    task = json.load(sys.stdin)
    import reenact

    found = reenact.diagnose(
        task["words"],
        depth=task["depth"],
        max_time=task["seconds"],
        workers=task["workers"],
        runs_dir=task["runs"],
    )
    named = [_named(one.suspect, one.confidence) for one in found.findings]
    seen = [_named(one, one.confidence) for one in found.symptoms]
    said = {
        "judgement": str(found.judgement),
        "sentence": found.sentence,
        "findings": named,
        "doubts": [_named(one.suspect, one.confidence) for one in found.low_confidence],
        "symptoms": seen,
        "seconds": found.spent.seconds,
        "notes": list(found.notes),
    }
    sys.stdout.write(json.dumps(said) + "\n")


def _named(suspect: Any, confidence: float) -> dict[str, Any]:
    places = [suspect.place, *(witness.place for witness in suspect.witnesses)]
    return {
        "codes": [witness.code for witness in suspect.witnesses],
        "places": sorted(_places(places)),
        "confidence": round(confidence, 3),
        "saw": suspect.first.saw,
    }


def _places(places: Iterable[Any]) -> set[tuple[str, int, int]]:
    return {
        (place.file.name, place.line, max(place.line, place.end_line))
        for place in places
        if place is not None
    }


if __name__ == "__main__":
    main()
