"""`python -m benchmarks.blind.inside DEPTH ANSWER TRANSCRIPT WORD...`: diagnose a program in its
folder; writes what is shown as JSON, and its watched run leaves its transcript.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.blind.warm.steady import VARIABLE
from benchmarks.dataset.inside import diagnosed

SECONDS = 300.0


def main() -> None:
    depth, answer, transcript, *words = sys.argv[1:]
    os.environ[VARIABLE] = transcript
    import reenact
    from reenact.diagnosis import observe

    # On a busy machine the experiments get to their end all the same.
    observe.LEAST_WAIT = observe.EXPERIMENT_WALL = SECONDS

    run = reenact.RunOptions(runs_dir=".reenact")
    training = reenact.TrainingOptions(workers=1)
    found = reenact.diagnose(words, depth=depth, max_time=SECONDS, training=training, run=run)
    content = {
        **diagnosed(found),
        "shown": [_shown(one) for one in found.findings],
        "doubted": [_shown(one) for one in found.low_confidence],
    }
    Path(answer).write_text(json.dumps(content), encoding="utf-8")


def _shown(finding: Any) -> tuple[str, str, str, int]:
    """The fault, the detector that names it, and where."""
    from reenact.faults.registry import all_detectors

    code = finding.code
    fault = next((one.fault.code for one in all_detectors() if one.code == code), code)
    place = finding.place
    return (fault, code, str(place.file) if place else "", place.line if place else 0)


if __name__ == "__main__":
    main()
