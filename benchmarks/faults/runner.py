"""`python -m benchmarks.faults.runner PROGRAM SEED...`: train a benchmark program once a seed.

Prints one line of JSON a training. The metric is the number at the end of what the program prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import time
from pathlib import Path


def train(program: Path, seed: int) -> dict[str, float]:
    """One training with this seed for every source of chance."""
    import keras

    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    printed = io.StringIO()
    begun = time.process_time()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(program), run_name="__main__")
    seconds = time.process_time() - begun
    return {"metric": last_number(printed.getvalue()), "cpu_seconds": round(seconds, 3)}


def last_number(text: str) -> float:
    """The number behind the last colon."""
    return float(text.strip().rpartition(":")[2])


def main(arguments: list[str]) -> None:
    program = Path(arguments[0])
    sys.path.insert(0, str(program.parent))
    for seed in arguments[1:]:
        sys.stdout.write(json.dumps(train(program, int(seed))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
