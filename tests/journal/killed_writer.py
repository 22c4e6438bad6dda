"""A process that tells half a pipeline and dies, leaving the journal as a kill leaves it.

python killed_writer.py FOLDER [checkpoint]
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from reenact.journal import Journal, Kind

CALLS = 6
"""Steps done before the end."""


def result_of(number: int) -> object:
    """What step `number` gives."""
    return {
        "number": number,
        "text": f"answer {number} " * 20,
        "raw": bytes([number]) * 3000,
    }


def main() -> None:
    folder, checkpoint = Path(sys.argv[1]), "checkpoint" in sys.argv[2:]
    journal = Journal.open(folder)
    with journal.run(pipeline="tale", request="whole", what="finished before") as run:
        for number in range(3):
            run.step(
                "ask",
                lambda number=number: result_of(number),
                kind=Kind.LLM,
                inputs=number,
                attempt=number,
                shared=True,
            )
        run.finish({"answers": 3})
    run = journal.run(pipeline="tale", request="half", what="cut in the middle", fresh=True)
    for number in range(CALLS):
        run.step(
            "ask",
            lambda number=number: result_of(number),
            kind=Kind.LLM,
            inputs=number,
            attempt=number,
            shared=True,
        )
    if checkpoint:
        journal._database.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
