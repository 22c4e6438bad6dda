"""A process that tells a pipeline on a disk that gets full, at many places, and then has space
again.

python short_of_space.py limit FOLDER      the file size limit of the process stands for the disk
python short_of_space.py tmpfs FOLDER      FOLDER is a small tmpfs, really full, then read-only
Prints one JSON object a line: what happened at each size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact.errors import StorageError
from reenact.journal import Journal, JournalReader, Kind

STEPS = 6


def tell(folder: Path, paid: Counter[int]) -> list[object]:
    def effect(number: int) -> object:
        paid[number] += 1
        return {
            "number": number,
            "raw": bytes([65 + number]) * 20_000,
            "text": "word " * 400,
        }

    with (
        Journal.open(folder) as journal,
        journal.run(pipeline="tale", request=1) as run,
    ):
        results = [
            run.step("ask", lambda n=n: effect(n), kind=Kind.LLM, inputs=n, attempt=n)
            for n in range(STEPS)
        ]
        run.edit("report", folder / "out", {"report.md": b"report " * 2000})
        run.finish({"steps": STEPS})
    return results


def one(folder: Path, short: object) -> dict[str, object]:
    """Tell it short of space, then with space; say how both went."""
    paid: Counter[int] = Counter()
    output = ""
    with short:  # type: ignore[attr-defined]
        try:
            tell(folder, paid)
        except StorageError as error:
            output = error.sentence
    paid_short = dict(paid)
    results = tell(folder, paid)
    with JournalReader.open(folder) as shelf:
        record = shelf.find("last")
        left = sorted(path.name for path in (folder / "tmp").glob("*"))
        left += sorted(path.name for path in (folder / "out").glob(".*"))
        return {
            "output": output,
            "paid": sum(paid_short.values()),
            "twice": sum(count - 1 for count in paid.values()),
            "right": [result["number"] for result in results] == list(range(STEPS)),  # type: ignore[index]
            "report": (folder / "out" / "report.md").stat().st_size,
            "status": record.status.value,
            "reused": record.reused,
            "problems": list(shelf.check().problems),
            "left": left,
        }


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def ballast(folder: Path, size: int) -> Iterator[None]:
    weight = folder.parent / "ballast"
    weight.write_bytes(b"\0" * size)
    try:
        yield
    finally:
        weight.unlink()


def main() -> None:
    way, folder = sys.argv[1], Path(sys.argv[2])
    if way == "limit":
        for size in (
            0,
            2_000,
            6_000,
            15_000,
            19_999,
            30_000,
            60_000,
            100_000,
            140_000,
            180_000,
        ):
            print(json.dumps(one(folder / str(size), file_limit(size))))
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(folder)], check=True)
    for free in (0, 40, 90, 140, 190, 240, 300, 360):
        print(json.dumps(one(folder / "j", ballast(folder / "j", (1200 - 8 - free) * 1024))))
        subprocess.run(["rm", "-rf", str(folder / "j")], check=True)
    tell(folder / "j", Counter())
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        tell(folder / "j", Counter())
    except StorageError as error:
        print(json.dumps({"output": error.sentence}))
    with JournalReader.open(folder / "j") as shelf:
        print(json.dumps({"looked": [run.status.value for run in shelf.runs()]}))


if __name__ == "__main__":
    main()
