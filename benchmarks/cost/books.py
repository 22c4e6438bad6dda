"""`python -m benchmarks cost --books`: what the books of a training add to it, kept and not kept in one run.

Each kind of training is watched in pairs, once with books and once without, in turns; a ratio is that of the
training loop alone, by processor time on a CPU, by the clock on a GPU. Both must print the same loss.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.several import several
from benchmarks.watching.runs import STEADY
from reenact.errors import Inconclusive, Stopped
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch
from reenact.program.program import read_program
from reenact.types import JsonValue, Stop, Tell

PROGRAM = Path(__file__).parents[1] / "cases" / "cost" / "minute.py"
REPEATS = 3
PRESET = "normal"
"""That of a diagnosis."""
MOST_SECONDS = 1200.0
COMPILED = 60
"""Steps after which a model was compiled, in all modes that it is called in."""
_TRAINED = re.compile(r"^trained in (\d+\.\d+) s, (\d+\.\d+) s of CPU$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kind:
    """A training of about a minute."""

    name: str
    steps: int
    most: float
    """What the books may add, as a share of it."""
    on_gpu: bool = False


KINDS = (
    Kind("mlp", 50_000, 0.05),
    Kind("cnn", 5_500, 0.05),
    Kind("gpt", 2_100, 0.05),
    Kind("compiled-gpt", 2_200, 0.03, on_gpu=True),
)


@dataclass(frozen=True, slots=True)
class Trained:
    """One training that came to its end."""

    seconds: float
    """Of the training loop: processor time, or by the clock on a GPU."""
    loss: str
    """As it was printed."""
    books: float
    """Seconds that keeping them took, by their own clock."""


@dataclass(frozen=True, slots=True)
class BookPair:
    """The same training with books and without."""

    kind: Kind
    kept: Trained
    without: Trained

    @property
    def ratio(self) -> float:
        return self.kept.seconds / self.without.seconds

    @property
    def is_same(self) -> bool:
        """Whether both printed the same loss, digit by digit."""
        return self.kept.loss == self.without.loss


@dataclass(frozen=True, slots=True)
class Turn:
    """A pair to be trained."""

    kind: Kind
    books_first: bool
    """In turns, so that neither is always the one that finds a warm cache."""


def measure_books(
    *,
    tell: Tell,
    stop: Stop,
    kinds: Sequence[Kind] = KINDS,
    repeats: int = REPEATS,
    jobs: int = 1,
) -> Scorecard:
    """Every kind that can be trained here, in pairs."""
    here = [kind for kind in kinds if not kind.on_gpu or _has_gpu()]
    turns = {
        f"{kind.name} {repeat + 1}": Turn(kind, books_first=bool(repeat % 2))
        for repeat in range(repeats)
        for kind in here
    }
    what = "bench cost --books"
    done = several(turns, _pair, what=what, jobs=jobs, tell=tell, stop=stop)
    pairs = {name: pair for one in done for name, pair in one.items()}
    return books_card(kinds, [pairs[name] for name in turns])


def _pair(turn: Turn, stop: Stop) -> BookPair:
    if turn.kind.on_gpu:
        # What a compiler makes of a watched model is kept: the first of two trainings would pay for both.
        for books in (True, False):
            train(replace(turn.kind, steps=COMPILED), books=books, stop=stop)
    order = (True, False) if turn.books_first else (False, True)
    trained = {books: train(turn.kind, books=books, stop=stop) for books in order}
    return BookPair(turn.kind, trained[True], trained[False])


def train(kind: Kind, *, books: bool, stop: Stop) -> Trained:
    """One training under the probe."""
    with tempfile.TemporaryDirectory(prefix="reenact-bench-books-") as at:
        options = WatchOptions(
            Path(at) / "trace",
            PRESET,
            max_time=MOST_SECONDS,
            python=sys.executable,
            books=books,
            environment=STEADY,
        )
        printed = Path(at) / "printed"
        with printed.open("wb") as output:
            seen = watch(
                read_program([str(PROGRAM), kind.name, str(kind.steps)]),
                options,
                stdout=output.fileno(),
                stop=stop,
            )
        if stop.asked:
            raise Stopped("Stopped within a training; nothing of it is kept.")
        text = printed.read_text(encoding="utf-8", errors="replace")
    took = _TRAINED.search(text)
    if took is None or seen.trace is None:
        raise Inconclusive(f"{kind.name} did not train: {text[-300:]}{seen.outcome.sentence}")
    kept = seen.trace.books
    return Trained(
        float(took[1] if kind.on_gpu else took[2]),
        text[took.end() :].strip(),
        kept.spent if kept is not None else 0.0,
    )


def books_card(kinds: Sequence[Kind], pairs: Sequence[BookPair]) -> Scorecard:
    """A goal, a figure and a row a kind."""
    by_kind = {kind: [pair for pair in pairs if pair.kind == kind] for kind in kinds}
    figures = {kind.name: _figure(kind, mine) for kind, mine in by_kind.items()}
    worst = max((one.value or 0.0 for one in figures.values()), default=0.0)
    same = [pair.is_same for pair in pairs]
    goals = [_goal(kind, figures[kind.name]) for kind in kinds]
    goals.append(
        Goal(
            "the same loss with books and without",
            "all pairs",
            f"{sum(same)} of {len(same)}",
            all(same) if same else None,
        )
    )
    return Scorecard(
        "cost-books",
        f"books add at most {worst:.3f} to a training of a minute",
        tuple(goals),
        (_table(pairs),),
        [_facts(pair) for pair in pairs],
        measured=figures,
    )


def _goal(kind: Kind, figure: Figure) -> Goal:
    wanted = f"at most {kind.most:g} more"
    if figure.value is None:
        return Goal(f"books of {kind.name}", wanted, "no GPU here", None)
    reached = f"{figure.value:.3f}"
    return Goal(f"books of {kind.name}", wanted, reached, figure.value <= kind.most)


def _figure(kind: Kind, pairs: Sequence[BookPair]) -> Figure:
    more = [pair.ratio - 1 for pair in pairs]
    name = f"what books add to {kind.name}, median; interval: all its pairs"
    if not more:
        return Figure(name, None)
    return Figure(name, median(more), min(more), max(more), digits=3)


def _table(pairs: Sequence[BookPair]) -> Table:
    rows = tuple(
        (
            pair.kind.name,
            f"{pair.without.seconds:.2f}",
            f"{pair.kept.seconds:.2f}",
            f"{pair.ratio - 1:.3f}",
            f"{pair.kept.books:.2f}",
            "yes" if pair.is_same else "no",
        )
        for pair in pairs
    )
    columns = ("training", "without, s", "with books, s", "more", "own clock, s", "same loss")
    return Table("What the books of a training add to it", columns, rows)


def _facts(pair: BookPair) -> JsonValue:
    return {
        "kind": pair.kind.name,
        "steps": pair.kind.steps,
        "without_s": pair.without.seconds,
        "kept_s": pair.kept.seconds,
        "books_s": pair.kept.books,
        "same": pair.is_same,
    }


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())
