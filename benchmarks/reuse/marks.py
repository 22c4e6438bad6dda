"""`python marks.py FOLDER WORD...`: watch one program twice; writes the marks of both runs as JSON.

Trainings of a finished run are reused exactly when the marks are equal. It runs by whichever
reenact PYTHONPATH names, also by one that knew other marks, and needs nothing of this folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 30
"""Optimizer steps after which a watched run is ended: by then a program has looked at what it
trains on.
"""
SECONDS = 240.0


def main() -> None:
    folder, words = Path(sys.argv[1]), tuple(sys.argv[2:])
    if words[0] == "--mark":
        sys.stdout.write(json.dumps(_mark(folder, words[1:])) + "\n")
        return
    # A mark of its own in each process says that nothing is reused.
    runs = [
        subprocess.run(  # noqa: S603 - this file, again
            [sys.executable, __file__, str(folder), "--mark", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        for _ in range(2)
    ]
    marks = [json.loads(run.stdout.splitlines()[-1]) if run.stdout else {} for run in runs]
    sys.stdout.write(json.dumps(marks) + "\n")


def _mark(folder: Path, words: tuple[str, ...]) -> dict[str, object]:
    from reenact.probe import surroundings as around
    from reenact.probe.options import WatchOptions
    from reenact.probe.watch import watch
    from reenact.program.program import read_program

    try:
        from reenact.probe.opened import read_opened
    except ImportError:
        # Until marks were taken from system calls, this module had both.
        read_opened = vars(around)["read_opened"]
    program = read_program(words, folder)
    with tempfile.TemporaryDirectory(prefix="reenact-reuse-") as place:
        trace = Path(place) / "traces" / "1"
        options = WatchOptions(trace, "bare", note_opened=True, stop_after=STEPS, max_time=SECONDS)
        watched = watch(program, options, stdout=subprocess.DEVNULL)
        own = [program.folder.resolve() / file.path for file in program.files]
        opened = read_opened(trace, own, aside=Path(place))
    return {
        "mark": around.training_mark(program, "", opened),
        "blind": list(opened.blind),
        "files": {f"{getattr(file, 'kind', '')} {file.path}": file.sha256 for file in opened.files},
        "ended": str(watched.outcome.kind),
    }


if __name__ == "__main__":
    main()
