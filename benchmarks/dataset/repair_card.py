"""The score card of `trainings --repair`: better on fresh seeds, and as good as the author's
fix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from benchmarks.dataset.layout_foreign import LEAST
from benchmarks.dataset.lock import digest_of_all
from benchmarks.dataset.repaired_truly import Came, came_to
from benchmarks.dataset.result import TrainingRepair
from benchmarks.dataset.splits import Split
from benchmarks.dataset.training import Training
from benchmarks.dataset.truth import judge_of
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share

BETTER = 0.6
AS_GOOD = 0.5
LEAST_PAIRS = 10
"""Pairs below which the goal beside the authors' fixes is not judged."""
Pair = tuple[Training, TrainingRepair]


def repair_scorecard(
    split: Split,
    trainings: Sequence[Training],
    results: Sequence[TrainingRepair],
    *,
    whole: bool,
) -> Scorecard:
    """Everything that was measured; goals are judged where a whole split was."""
    label = split.label
    pairs = tuple(zip(trainings, results, strict=True))
    trains = [pair for pair in pairs if pair[1].trains]
    refused = [pair for pair in pairs if pair[1].decision and not pair[1].trains]
    compared = [pair for pair in trains if pair[1].as_good is not None]
    better = Share(sum(result.better for _, result in trains), len(trains))
    as_good = Share(sum(bool(result.as_good) for _, result in compared), len(compared))
    goals = (
        Goal(
            f"{label}: significantly better after a repair, of programs that train",
            f">= {BETTER}",
            str(better),
            better.value >= BETTER if whole and better.whole >= LEAST else None,
        ),
        Goal(
            f"{label}: at least as good as the author's fix",
            f">= {AS_GOOD}",
            str(as_good),
            as_good.value >= AS_GOOD if whole and as_good.whole >= LEAST_PAIRS else None,
        ),
    )
    return Scorecard(
        name=f"{split.title}-repair",
        figures=(
            f"{label}: significantly better {better}, at least as good as the author's fix "
            f"{as_good}"
        ),
        goals=goals,
        tables=(
            _figures(label, better, as_good, pairs),
            _came(label, pairs),
            _done(
                f"{label}: significantly better",
                [pair for pair in trains if pair[1].better],
            ),
            _done(f"{label}: not better", [pair for pair in trains if not pair[1].better]),
            _authors(f"{label}: beside the author's fix, over the same seeds", compared),
            Table(
                f"{label}: no training could be compared",
                ("program", "truth", "what the repair says"),
                tuple(
                    (training.shown, _truth(training), result.sentence)
                    for training, result in refused
                ),
            ),
            Table(
                f"{label}: could not be run",
                ("program", "why"),
                tuple(
                    (training.shown, result.could_not_run)
                    for training, result in pairs
                    if result.could_not_run
                ),
            ),
        ),
        facts={label: [asdict(result) for result in results]},
        measured={
            **_measured(pairs),
            "better": better.figure("significantly better after a repair, of programs that train"),
            "as_good": as_good.figure("at least as good as the author's fix"),
        },
        cases=digest_of_all([training.id for training in trainings]),
    )


def _measured(pairs: Sequence[Pair]) -> dict[str, Figure]:
    answered = [result for _, result in pairs if result.decision]
    shares = {one: Share(sum(came_to(r) is one for r in answered), len(answered)) for one in Came}
    return {
        one.name.lower(): share.figure(f"{one.value}, of all with an answer")
        for one, share in shares.items()
    }


def _came(label: str, pairs: Sequence[Pair]) -> Table:
    """Of all that had an answer, together: what was called repaired, rightly or not, and the rest."""
    answered = [pair for pair in pairs if pair[1].decision]
    rows = []
    for one in Came:
        names = [training.shown for training, result in answered if came_to(result) is one]
        rows.append((one.value, str(Share(len(names), len(answered))), ", ".join(names)))
    return Table(f"{label}: what repairs came to", ("", "of all", "programs"), tuple(rows))


def _figures(label: str, better: Share, as_good: Share, pairs: Sequence[Pair]) -> Table:
    with_fix = [
        training for training, _ in pairs if training.foreign is not None and training.foreign.fixed
    ]
    rows = (
        ("significantly better, of programs that train", str(better)),
        ("at least as good as the author's fix", str(as_good)),
        ("programs with an author's fix", str(len(with_fix))),
        ("trainings", str(sum(result.trainings for _, result in pairs))),
        ("hours", f"{sum(result.seconds for _, result in pairs) / 3600:.1f}"),
    )
    return Table(
        f"{label}: figures, with their 95 % intervals (Wilson)",
        ("figure", "value"),
        rows,
    )


def _done(title: str, pairs: Sequence[Pair]) -> Table:
    return Table(
        title,
        ("program", "truth", "decision", "in a sentence", "s"),
        tuple(
            (
                training.shown,
                _truth(training),
                result.decision,
                result.sentence,
                f"{result.seconds:.0f}",
            )
            for training, result in pairs
        ),
    )


def _authors(title: str, pairs: Sequence[Pair]) -> Table:
    return Table(
        title,
        (
            "program",
            "metric, larger is better",
            "before",
            "repaired",
            "author's fix",
            "as good",
        ),
        tuple(
            (
                training.shown,
                result.metric,
                *(_middle(values) for values in (result.before, result.after, result.author)),
                "yes" if result.as_good else "no",
            )
            for training, result in pairs
        ),
    )


def _middle(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    failed = (
        f" ({len(values) - len(known)} of {len(values)} failed)" if len(known) < len(values) else ""
    )
    return f"{median(known):.4g}{failed}" if known else "failed"


def _truth(training: Training) -> str:
    return judge_of(training).truth(training)
