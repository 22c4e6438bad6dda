"""A process that writes steps as fast as it can and says which are acknowledged, until it is
killed.

python hot_writer.py FOLDER ACKNOWLEDGED
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reenact.journal import Journal, Kind


def main() -> None:
    output = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with (
        Journal.open(Path(sys.argv[1])) as journal,
        journal.run(pipeline="tale", request=1) as run,
    ):
        for number in range(100_000):
            value = run.step(
                "n",
                lambda n=number: {"n": n},
                kind=Kind.NOTE,
                inputs=number,
                attempt=number,
            )
            os.write(output, f"{value['n']}\n".encode())


if __name__ == "__main__":
    main()
