"""What runs next to a training: diagnosis or repair as a user asks for it, as JSON.

`python inside.py`, in a box somewhere above the program; the task is read from stdin and names the
folder.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

LONGEST = 600.0
"""Seconds for one training of an author's fix."""


def main() -> None:
    task = json.load(sys.stdin)
    answer = Path(task["answer"]).absolute()
    import reenact

    common: dict[str, Any] = {
        "max_time": task["seconds"],
        "training": reenact.TrainingOptions(workers=task["workers"]),
        "run": reenact.RunOptions(runs_dir=".reenact"),
    }
    model = f"replay:{Path(task['recording']).absolute()}" if task["recording"] else task["model"]
    if model:
        common["model"] = model
    os.chdir(task["folder"])
    if task["task"] == "repair":
        _repair(task, common, answer)
    else:
        _write(
            answer,
            diagnosed(reenact.diagnose(task["words"], depth=task["depth"], **common)),
        )


def _write(answer: Path, content: dict[str, Any]) -> None:
    answer.write_text(json.dumps(content), encoding="utf-8")


def _repair(task: dict[str, Any], common: dict[str, Any], answer: Path) -> None:
    import reenact
    from reenact.errors import ReenactError

    try:
        fixed = reenact.repair(
            task["words"], budget=task["budget"] or None, seeds=task["seeds"], **common
        )
    except ReenactError as error:
        _write(
            answer,
            {
                "decision": "not-trained",
                "sentence": f"{error.sentence} {error.next_step}".strip(),
            },
        )
        return
    content = repaired(fixed)
    _write(answer, content)
    if task["fixed"] and fixed.verdicts:
        words = [task["fixed"], *task["words"][1:]]
        _write(answer, content | trained(words, fixed, task["workers"]))


def repaired(fixed: Any) -> dict[str, Any]:
    """What a repair says, as far as it is scored."""
    last = fixed.verdict
    return {
        "decision": str(fixed.decision),
        "sentence": fixed.sentence,
        "metric": fixed.judging.judge.name,
        "before": _finite(last.comparison.before) if last else [],
        "after": _finite(last.comparison.after) if last else [],
        "diff": fixed.diff,
        "notes": list(fixed.notes),
        "trainings": fixed.cost.trainings + fixed.cost.verifying,
        "seconds": fixed.cost.seconds,
    }


def trained(words: Sequence[str], fixed: Any, workers: int) -> dict[str, Any]:
    """The author's fix over the seeds that judged the repair, by the same metric on the same
    data.
    """
    from statistics import median

    from reenact.program.program import read_program
    from reenact.trials.pool import ProcessPool
    from reenact.trials.trainer import material
    from reenact.trials.trial import Trial, TrialLimits
    from reenact.types import Stop

    judging, last = fixed.judging, fixed.verdict
    program = read_program(words)
    limits = TrialLimits(seconds=LONGEST)
    trials = [
        Trial(program, seed=seed, limits=limits, part=judging.judge_part) for seed in last.seeds
    ]
    with ProcessPool(workers) as pool:
        scores = [judging.judge.score(outcome) for outcome in pool.run(trials, stop=Stop())]
    bounded = judging.judge.larger_is_better and "r2" not in judging.judge.name
    ahead = material(median(last.comparison.after), median(scores), bounded=bounded)
    as_good = fixed.decision.helps and not ahead if math.isfinite(median(scores)) else None
    return {"author": _finite(scores), "as_good": as_good}


def _finite(values: Iterable[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def diagnosed(found: Any) -> dict[str, Any]:
    """What a diagnosis says, as far as it is scored."""
    return {
        "judgement": str(found.judgement),
        "sentence": found.sentence,
        "findings": [_named(one, str(one.status)) for one in found.findings],
        "doubts": [_named(one, str(one.status)) for one in found.low_confidence],
        "symptoms": [_named(one, "seen") for one in found.symptoms],
        "trainings": found.spent.trainings,
        "seconds": found.spent.seconds,
        "notes": list(found.notes),
    }


def _named(finding: Any, status: str) -> dict[str, Any]:
    places = [finding.place, *(witness.place for witness in finding.witnesses)]
    return {
        "codes": [witness.code for witness in finding.witnesses],
        "places": sorted(_places(places)),
        "confidence": round(finding.confidence, 3),
        "saw": finding.first.saw,
        "fault": str(finding.fault) if finding.fault is not None else None,
        "layer": finding.layer,
        "status": status,
        "fix": str(finding.fix.tried) if finding.fix is not None else "",
        "dropped": [one.reason for one in finding.dropped_fixes],
    }


def _places(places: Iterable[Any]) -> set[tuple[str, int, int]]:
    return {
        (place.file.name, place.line, max(place.line, place.end_line))
        for place in places
        if place is not None
    }


if __name__ == "__main__":
    main()
