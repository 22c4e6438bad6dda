"""`python -m benchmarks web`: how long pages take as the journal grows. They should not notice."""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.identity import code_identity
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from reenact.journal.codec import dumped
from reenact.journal.database import Database
from reenact.journal.records import SUM, Kind, Run, State, Status, Step, digest, hashed
from reenact.journal.rows import put_row
from reenact.types import JsonValue, Progress, Stop, Tell
from reenact.web.serve import serving

RUNS = (1, 100, 10_000)
STEPS = (1_000, 50_000)
REPEATS = 9
WANTED_S = 1.0
FLAT = 3.0
"""The largest journal may take so many times as long as the smallest that fills a page."""
FULL = 50
"""Runs or steps that fill a page: with fewer there is less to show."""
KINDS = (Kind.TRIAL, Kind.TRIAL, Kind.BOX, Kind.LLM)
LIST_PAGES = {
    "list": "/",
    "search": "/?q=train",
    "filter": "/?status=finished",
    "one run": "/runs/1",
}
RUN_PAGES = {
    "run": "/runs/1",
    "first steps": "/runs/1/steps",
    "last steps": "/runs/1/steps?after={near}",
    "questions": "/runs/1/steps?kind=llm",
    "a step": "/runs/1/steps/{last}",
}
AT = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Timed:
    """One page in one journal."""

    page: str
    size: int
    seconds: float


def measure(
    *, tell: Tell, stop: Stop, runs: Sequence[int] = RUNS, steps: Sequence[int] = STEPS
) -> Scorecard:
    """Make journals of these sizes, serve each, and take the time of its pages."""
    listed: list[Timed] = []
    long: list[Timed] = []
    for at, count in enumerate(runs):
        tell(Progress("bench web", at, len(runs) + len(steps), f"a journal of {count} runs"))
        if not stop.asked:
            listed += _timed(count, [2] * count, LIST_PAGES)
    for at, count in enumerate(steps, start=len(runs)):
        tell(Progress("bench web", at, len(runs) + len(steps), f"a run of {count} steps"))
        if not stop.asked:
            long += _timed(count, [count], RUN_PAGES)
    return _card(listed, long)


def _timed(size: int, steps: Sequence[int], pages: Mapping[str, str]) -> list[Timed]:
    with tempfile.TemporaryDirectory(prefix="reenact-bench-web-") as folder:
        write_journal(Path(folder), steps)
        with serving(Path(folder)) as address:
            get = Reader(address).seconds
            return [
                Timed(
                    name,
                    size,
                    median(
                        get(path.format(last=steps[-1], near=max(0, steps[-1] - 100)))
                        for _ in range(REPEATS)
                    ),
                )
                for name, path in pages.items()
            ]


class Reader:
    """A browser that only fetches."""

    def __init__(self, address: str) -> None:
        """Enters with the token of the address."""
        parts = urlsplit(address)
        self._host = parts.netloc
        answer, _ = self._get(f"{parts.path}?{parts.query}", {})
        self._headers = {"Cookie": str(answer.getheader("set-cookie")).partition(";")[0]}

    def seconds(self, path: str) -> float:
        """How long a page takes; raises OSError for one that is not there."""
        begun = time.perf_counter()
        answer, _ = self._get(path, self._headers)
        taken = time.perf_counter() - begun
        if answer.status != http.client.OK:
            raise OSError(f"The page {path} answers {answer.status}.")
        return taken

    def _get(self, path: str, headers: dict[str, str]) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()


def write_journal(folder: Path, steps: Sequence[int]) -> None:
    """A journal with one finished run for each number, of that many steps, in one transaction."""
    database = Database(folder / "journal.db")
    with database.transaction() as connection:
        number = 1
        for seq, count in enumerate(steps, start=1):
            made = [_step(number + at, seq, at + 1) for at in range(count)]
            put_row(connection, _run(seq, made))
            for step in made:
                put_row(connection, step, inputs="null", result=RESULT)
            number += count
    database.close()


RESULT = dumped({"loss": 0.25, "metrics": {"accuracy": 0.9, "val_accuracy": 0.85}})


def _run(seq: int, steps: Sequence[Step]) -> Run:
    return Run(
        seq=seq,
        id=f"260101-{seq:06d}",
        pipeline=("diagnose", "repair", "bug")[seq % 3],
        what=f"train_{seq}.py",
        request_hash=f"{seq:040x}",
        turn=seq,
        status=Status.FINISHED,
        exit_code=0,
        verdict=dumped({"verdict": "no fault found", "findings": 0}),
        started_at=AT,
        ended_at=AT,
        steps=len(steps),
        steps_sum=sum(step.check_sum for step in steps) % SUM,
        done=len(steps),
    ).sealed(None)


def _step(number: int, run: int, nr: int) -> Step:
    path = f"repair/trials/t{nr}"
    return Step(
        number=number,
        run=run,
        nr=nr,
        path=path,
        kind=KINDS[nr % len(KINDS)],
        version=1,
        key=hashed([path, 1, {"run": run}]),
        state=State.DONE,
        started_at=AT,
        ended_at=AT,
        duration_s=0.5,
        inputs_digest=digest("null"),
        result_digest=digest(RESULT),
    ).sealed(None)


def _card(listed: Sequence[Timed], long: Sequence[Timed]) -> Scorecard:
    slowest = max((one.seconds for one in (*listed, *long)), default=None)
    tables = (
        _table("Pages by number of runs", "runs", listed),
        _table("Pages by steps", "steps", long),
    )
    ratios = [*_ratios(listed), *_ratios(long)]
    uneven = [name for name, ratio in ratios if ratio >= FLAT]
    worst = max((ratio for _, ratio in ratios), default=None)
    goals = (
        Goal(
            "every page",
            f"under {WANTED_S:g} s",
            "-" if slowest is None else f"{slowest:.3f} s",
            None if slowest is None else slowest < WANTED_S,
        ),
        Goal(
            "flat",
            f"largest journal under {FLAT:g} times the smallest that fills a page",
            "-"
            if worst is None
            else f"at most {worst:.1f} times{'; ' + ', '.join(uneven) if uneven else ''}",
            None if worst is None else not uneven,
        ),
    )
    figures = (
        "nothing measured"
        if slowest is None
        else f"slowest page {1000 * slowest:.0f} ms, ratio {worst:.1f}"
    )
    facts: JsonValue = [
        {"page": one.page, "size": one.size, "seconds": round(one.seconds, 5)}
        for one in (*listed, *long)
    ]
    measured = {
        "slowest": Figure("slowest page, s", slowest, digits=3),
        "ratio": Figure(
            "largest journal against the smallest that fills a page, times",
            worst,
            digits=1,
        ),
    }
    # The journals are made here: what makes them says which they are.
    made_by = code_identity("benchmarks/web")
    return Scorecard("web", figures, goals, tables, facts, measured=measured, cases=made_by)


def _ratios(timed: Sequence[Timed]) -> list[tuple[str, float]]:
    """Of each page: the largest journal against the smallest that fills a page."""
    found = []
    for name in dict.fromkeys(one.page for one in timed):
        same = [one for one in timed if one.page == name]
        base = next((one for one in same if one.size >= FULL), same[0])
        found.append((name, same[-1].seconds / base.seconds))
    return found


def _table(title: str, what: str, timed: Sequence[Timed]) -> Table:
    sizes = list(dict.fromkeys(one.size for one in timed))
    rows = tuple(
        (
            name,
            *(f"{1000 * one.seconds:.1f} ms" for one in timed if one.page == name),
            f"{ratio:.1f}",
        )
        for name, ratio in _ratios(timed)
    )
    return Table(title, ("page", *(f"{size:,} {what}" for size in sizes), "ratio"), rows)
