"""The score card over one part of the drawn cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from benchmarks.dataset.lock import digest_of_all
from benchmarks.dataset.part import FIXES, FREE, Case, MeasuredPart
from benchmarks.dataset.readings import shown_findings
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share

FREE_NAMED, FIXES_NAMED, CALLED_SOUND, ALARMS = 0.65, 0.5, 0.25, 0.05


def part_scorecard(measured: MeasuredPart, *, whole: bool) -> Scorecard:
    """Goals are judged where the whole part was run and read."""
    return Scorecard(
        name=f"trainings-part-{measured.name.lower()}",
        figures=(
            f"free faults named {measured.named(FREE)}, fixes of strangers "
            f"{measured.named(FIXES)}, false alarms on sound programs {measured.alarms(measured.sound)}"
        ),
        goals=tuple(_goals(measured, whole=whole)),
        tables=tuple(_tables(measured)),
        measured=_figures(measured),
        facts={measured.name: [asdict(case.result) for case in measured.cases]},
        cases=digest_of_all([case.training.id for case in measured.cases]),
    )


def _figures(measured: MeasuredPart) -> dict[str, Figure]:
    twins = measured.of(FREE, sound=True)
    hours = sum(case.result.seconds for case in measured.cases) / 3600
    return {
        "free": measured.named(FREE).figure("free faults of which the cause is named"),
        "fixes": measured.named(FIXES).figure("fixes of strangers of which the cause is named"),
        "trained": measured.named_in_trained.figure("faulty, did not crash, the cause is named"),
        "called_sound": measured.called_sound.figure("faulty, did not crash, no fault found"),
        "alarms": measured.alarms(measured.sound).figure("false alarms on sound programs"),
        "twins": measured.alarms(twins).figure("false alarms on sound twins of free faults"),
        "true": measured.true_findings.figure("first two findings that are true"),
        "findings": Figure("findings a faulty program", measured.findings_each, digits=1),
        "hours": Figure("hours", hours, digits=1),
    }


def _goals(measured: MeasuredPart, *, whole: bool) -> Iterator[Goal]:
    judged = whole and not measured.unread and not measured.missing
    free, fixes, silent = measured.named(FREE), measured.named(FIXES), measured.called_sound
    yield _at_least("free faults named", FREE_NAMED, free, judged=judged)
    yield _at_least("fixes of strangers named", FIXES_NAMED, fixes, judged=judged)
    yield Goal(
        "no fault found in a faulty program that did not crash",
        f"<= {CALLED_SOUND}",
        str(silent),
        silent.value <= CALLED_SOUND if judged else None,
    )
    alarms = measured.alarms(measured.sound)
    high = alarms.interval[1]
    # So few sound programs cannot show it; more than the limit is a miss at any number.
    short = None if alarms.whole and alarms.interval[0] <= ALARMS < high else high <= ALARMS
    yield Goal(
        "false alarms on sound programs, upper limit",
        f"<= {ALARMS:.0%} over all parts",
        str(alarms),
        short if judged else None,
    )


def _at_least(name: str, least: float, share: Share, *, judged: bool) -> Goal:
    return Goal(name, f">= {least}", str(share), share.value >= least if judged else None)


def _tables(measured: MeasuredPart) -> Iterator[Table]:
    named = [case for case in measured.faulty if case.true_findings]
    missed = [case for case in measured.faulty if not case.true_findings and not case.unread]
    yield Table(
        "the cause is among the first two findings",
        ("program", "truth", "findings"),
        tuple(_row(case) for case in named),
    )
    yield Table(
        "missed", ("program", "truth", "reported instead"), tuple(_row(case) for case in missed)
    )
    yield Table(
        "not read yet by two readers",
        ("program", "truth", "findings"),
        tuple(_row(case) for case in measured.unread),
    )
    alarms = (
        case for case in measured.cases if case.training.sound and case.measured and case.is_alarm
    )
    yield Table(
        "false alarms on sound programs",
        ("program", "what it does", "of what"),
        tuple(_row(case) for case in alarms),
    )
    yield Table(
        "could not be run",
        ("program", "why"),
        tuple((case.training.shown, case.result.could_not_run) for case in measured.missing),
    )


def _row(case: Case) -> tuple[str, str, str]:
    said = "; ".join(f"{one.codes[0]}: {one.saw}" for one in shown_findings(case.result))
    reported = said or case.result.sentence or case.result.could_not_run
    return case.training.shown, case.training.what, reported
