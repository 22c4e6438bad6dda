"""Looks at a generated project from inside the box.

    python -m reenact_inside.driver  <  {"mode": "batch" | "method", "word": ..., "steps": 40, "seconds": 9}

Leaves `result-WORD.json`: problems with file and line, and facts. What the project prints counts for nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .batch import sampled
from .method import Method
from .report import Report


def main() -> None:
    task = json.load(sys.stdin)
    report = Report()
    batch = sampled(report)
    if not report.problems and task["mode"] == "method":
        Method(report, int(task["steps"]), float(task["seconds"])).look(batch)
    made = {
        "word": task["word"],
        "problems": report.problems,
        "facts": report.facts,
        "stand_in": report.stand_in,
    }
    Path(f"result-{task['word']}.json").write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
