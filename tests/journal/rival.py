"""A process that works on the same run as others.

python rival.py FOLDER hold         takes the run, says so, holds it until its input ends, then
                                    finishes it
python rival.py FOLDER fork         the same, with a child that outlives it
python rival.py FOLDER race         does the run's steps if it may, appending a line a paid effect
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from reenact.errors import RunLocked
from reenact.journal import Journal, Kind


def main() -> None:
    folder, way = Path(sys.argv[1]), sys.argv[2]
    with Journal.open(folder) as journal:
        if way == "race":
            race(journal, folder / "paid")
            return
        with journal.run(pipeline="tale", request=1) as run:
            run.step("first", lambda: 1, kind=Kind.LLM)
            if way == "fork" and os.fork() == 0:
                time.sleep(600)
                os._exit(0)
            print("holds", flush=True)
            sys.stdin.read()
            run.finish({"by": os.getpid()})


def race(journal: Journal, paid: Path) -> None:
    def effect(number: int) -> int:
        with paid.open("a") as ledger:
            ledger.write(f"{number}\n")
        time.sleep(0.01)
        return number

    try:
        with journal.run(pipeline="tale", request=1) as run:
            for number in range(10):
                run.step(
                    "ask",
                    lambda n=number: effect(n),
                    kind=Kind.LLM,
                    inputs=number,
                    attempt=number,
                )
            run.finish(None)
        print("worked")
    except RunLocked as error:
        print(f"refused {error.sentence}")


if __name__ == "__main__":
    main()
