"""The score card of `python -m benchmarks forged`: forgeries believed, honest controls kept, a
row a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.forged.case import ForgedCase, Origin
from benchmarks.forged.case_run import ForgedResult
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share

COLUMNS = (
    "case",
    "trick",
    "knows the controls",
    "expected",
    "verdict",
    "exit code",
    "",
)

Pair = tuple[ForgedCase, ForgedResult]


def scorecard(
    cases: Sequence[ForgedCase], results: Sequence[ForgedResult], *, whole: bool
) -> Scorecard:
    """`whole`: every case was asked for. A part of them meets no goal, but may miss one."""
    pairs = list(zip(cases, results, strict=True))
    forged = [pair for pair in pairs if pair[0].is_forged]
    honest = [pair for pair in pairs if not pair[0].is_forged]
    believed = Share(sum(result.believed for _, result in forged), len(forged))
    kept = Share(sum(result.kept(case) for case, result in honest), len(honest))
    return Scorecard(
        name="forged",
        figures=f"{_count(believed)} forgeries believed, {_count(kept)} honest controls kept",
        goals=(
            Goal(
                "forgeries believed",
                "0",
                _count(believed),
                _met(believed.part == 0, forged, whole),
            ),
            Goal(
                "honest controls kept",
                "all",
                _count(kept),
                _met(kept.part == kept.whole, honest, whole),
            ),
        ),
        measured={
            "believed": believed.figure("forgeries believed"),
            **_by_kind(forged),
            "kept": kept.figure("honest controls that keep their verdict"),
        },
        tables=(
            Table("Forged programs of papers", COLUMNS, _rows(forged, "papers")),
            Table("Forged scripts of bugs", COLUMNS, _rows(forged, "bugs")),
            Table(
                "Honest controls",
                COLUMNS,
                _rows(honest, "papers") + _rows(honest, "bugs"),
            ),
            Table(
                "Why",
                ("case", "reason", "seconds"),
                tuple(_reason(result) for _, result in pairs),
            ),
        ),
        facts={"results": [asdict(result) for result in results]},
    )


def _met(held: bool, pairs: Sequence[Pair], whole: bool) -> bool | None:
    if not held:
        return False
    return True if whole and pairs else None


def _count(share: Share) -> str:
    return f"{share.part} of {share.whole}"


def _by_kind(forged: Sequence[Pair]) -> dict[str, Figure]:
    """Forgeries believed, by what they attack, who wrote them and what they know."""
    groups = {
        "papers": (
            "of papers",
            [pair for pair in forged if _kind(pair[0]) == "papers"],
        ),
        "bugs": ("of bugs", [pair for pair in forged if _kind(pair[0]) == "bugs"]),
        "review": (
            "of the review",
            [pair for pair in forged if pair[0].origin is Origin.REVIEW],
        ),
        "own": (
            "written for this benchmark",
            [pair for pair in forged if pair[0].origin is Origin.OWN],
        ),
        "knowing": (
            "that know the controls",
            [pair for pair in forged if pair[0].knows_controls],
        ),
    }
    return {
        name: Share(sum(result.believed for _, result in pairs), len(pairs)).figure(
            f"forgeries believed, {words}"
        )
        for name, (words, pairs) in groups.items()
    }


def _kind(case: ForgedCase) -> str:
    return case.folder.parent.name


def _rows(pairs: Sequence[Pair], kind: str) -> tuple[tuple[str, ...], ...]:
    return tuple(_row(case, result) for case, result in pairs if _kind(case) == kind)


def _row(case: ForgedCase, result: ForgedResult) -> tuple[str, ...]:
    if case.is_forged:
        mark = "BELIEVED" if result.believed else "not believed"
    else:
        mark = "kept" if result.kept(case) else "LOST"
    return (
        case.folder.name,
        case.trick,
        "yes" if case.knows_controls else "no",
        " or ".join(case.right),
        result.verdict,
        str(result.exit_code),
        mark,
    )


def _reason(result: ForgedResult) -> tuple[str, str, str]:
    return result.case, result.reason, f"{result.seconds:.0f}"
