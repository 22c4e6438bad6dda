"""Parts of the page of a paper.

Its text next to the code: a sentence leads to its lines, a line leads to its sentence. How its full
runs trained: a plot a metric, a thin line a seed, the paper's number across it. The curves are what
the runs say of themselves; they are looked at, and decide nothing.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean

from reenact.intake.papers.paper import Paragraph
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.measure.courses import Course, courses
from reenact.paper.measure.gap import Comparison
from reenact.paper.measure.runs import FullRun
from reenact.paper.reproduction import Reproduction
from reenact.probe.trace import metric_name
from reenact.report.document import Beside, Passage, Picture, Reading, Source, Squiggle
from reenact.report.line_plot import Curve, Level, line_plot
from reenact.report.svg import number

MOST_PLOTS = 6
MOST_DESCRIBED = 8
"""Curves of a plot that are put into words."""
SHARE = 1.5
"""What is larger is not a share between 0 and 1."""


def side_by_side(found: Reproduction) -> Beside:
    """The paper on the left, the code on the right."""
    criteria = found.fingerprint.criteria
    files = found.development.project.files
    judged = {one.criterion: one for one in found.judged}
    numbers = {name: at for at, name in enumerate(files)}
    about = defaultdict[str, list[Criterion]](list)
    for one in criteria:
        for place in one.places:
            about[place].append(one)
    paragraphs: list[Sequence[Passage] | str] = []
    page = 0
    for section in found.paper.sections:
        paragraphs.append(f"{section.id} {section.title}")
        for block in section.blocks:
            if block.page > page:
                page = block.page
                source = found.paper.source
                # A link where the paper has an address: a page that is mailed must not name
                # folders.
                href = ""
                if source.startswith(("https://", "http://")):
                    href = f"{source}#page={page}"
                note = "Open the PDF there" if href else ""
                paragraphs.append(
                    [
                        Passage(
                            f"page-{page}",
                            f"Page {page} of the PDF",
                            href,
                            note,
                        )
                    ]
                )
            pieces = block.sentences if isinstance(block, Paragraph) else [block]
            paragraphs.append(
                [
                    _passage(
                        one.id,
                        text=one.text,
                        about=about[one.id],
                        judged=judged,
                        files=numbers,
                    )
                    for one in pieces
                ]
            )
    if not found.paper.sections:
        quotes = {first_place(one): one.quote for one in reversed(criteria)}
        for place, quote in reversed(quotes.items()):
            paragraphs.append(
                [
                    _passage(
                        place,
                        text=quote,
                        about=about[place],
                        judged=judged,
                        files=numbers,
                    )
                ]
            )
    title = "The paper" if found.paper.sections else "Words of the paper that criteria rest on"
    code = [
        Source(
            name,
            text,
            _squiggles(name, text, criteria, judged),
            anchor=f"code-{at}",
        )
        for at, (name, text) in enumerate(files.items())
    ]
    return Beside(
        [[Reading(title, paragraphs)], code],
        tall=True,
    )


def first_place(one: Criterion) -> str:
    """Where in the paper a criterion is."""
    if one.places:
        return one.places[0]
    return one.id


def _passage(
    place: str,
    text: str,
    about: Sequence[Criterion],
    judged: Mapping[str, Judged],
    files: Mapping[str, int],
) -> Passage:
    """A place of the paper, which leads to the code that a criterion about it rests on."""
    verdicts = [judged[criterion.id] for criterion in about if criterion.id in judged]
    line = next(
        (line for one in verdicts for line in one.lines if line.file in files),
        None,
    )
    if line is not None:
        href = f"#code-{files[line.file]}-L{line.line}"
    else:
        href = f"#criterion-{about[0].id}" if about else ""
    note = "; ".join(f"{criterion.id}: {criterion.fact}" for criterion in about)
    return Passage(
        f"p-{place}",
        text=text,
        href=href,
        note=note,
        tone=_tone_of([one.value for one in verdicts]),
    )


def _tone_of(values: Sequence[Value]) -> str:
    """One criterion that fails colours the passage, else one that passes."""
    if Value.FAIL in values:
        return "error"
    return "good" if Value.PASS in values else ""


def _squiggles(
    name: str,
    text: str,
    criteria: Sequence[Criterion],
    judged: Mapping[str, Judged],
) -> list[Squiggle]:
    """Lines that a verdict rests on, each leading to its sentence."""
    lines = text.split("\n")
    squiggles: dict[int, Squiggle] = {}
    for one in criteria:
        for line in judged[one.id].lines if one.id in judged else ():
            if line.file != name or not 0 < line.line <= len(lines):
                continue
            whole = lines[line.line - 1]
            value = judged[one.id].value
            start = len(whole) - len(whole.lstrip())
            end = len(whole)
            note = f"{one.id} {value.value}"
            href = f"#p-{first_place(one)}"
            if (before := squiggles.get(line.line)) is not None:
                note = f"{before.note}, {note}"
                href = before.href
            tone = "good" if value is Value.PASS else ""
            squiggles[line.line] = Squiggle(
                line.line,
                start=start,
                end=end,
                note=note,
                href=href,
                tone=tone,
            )
    return list(squiggles.values())


def training_plots(
    runs: Sequence[FullRun], compared: Sequence[Comparison]
) -> tuple[list[Picture], str]:
    """The loss first, then what the paper has a number of, then others; and what there is no
    room for.
    """
    by_metric = groupby(
        courses(runs),
        key=lambda one: (one.metric, one.axis),
    )
    made = [_plot(list(group), runs, compared) for _, group in by_metric]
    made.sort(
        key=lambda one: (
            one[1].title != "Loss",
            not one[0],
        )
    )
    more = len(made) - MOST_PLOTS
    rest = f"The runs logged {more} more values, which are not drawn." if more > 0 else ""
    return [picture for _, picture in made[:MOST_PLOTS]], rest


def _plot(
    group: Sequence[Course], runs: Sequence[FullRun], compared: Sequence[Comparison]
) -> tuple[bool, Picture]:
    """The plot of a metric, and whether the paper has a number of it."""
    lines = []
    for one in group:
        for seed, curve in zip(one.seeds, one.curves, strict=True):
            name = f"{curve.label}, seed {seed}" if curve.label else f"seed {seed}"
            values = [math.nan if value is None else value for value in curve.values]
            lines.append(
                Curve(
                    name,
                    curve.at,
                    values,
                    group=one.name,
                )
            )
    levels = [level for one in group for level in _levels(one, runs, compared)]
    metric = group[0].metric.replace("_", " ")
    described = [_words(one) for one in group[:MOST_DESCRIBED]]
    if len(group) > MOST_DESCRIBED:
        described.append(f"And {len(group) - MOST_DESCRIBED} more.")
    for level in levels:
        described.append(f"The paper's number for {level.group}: {level.label}.")
    title = metric[:1].upper() + metric[1:]
    drawn = line_plot(
        title,
        lines,
        below=group[0].axis,
        levels=levels,
        words="\n".join(described),
    )
    return bool(levels), drawn


def _words(one: Course) -> str:
    ends = "no number at all"
    if one.ends is not None:
        ends = " to ".join(map(number, one.ends))
    seeds = f", {one.counted}" if one.label else ""
    odd = f", of which {one.broken} with values that are not numbers" if one.broken else ""
    return f"{one.name}: {ends} at {one.until}{seeds}{odd}."


def _levels(
    one: Course, runs: Sequence[FullRun], compared: Sequence[Comparison]
) -> Iterator[Level]:
    """Claims whose metric the course follows, in the unit of its curves."""
    for row in compared:
        own = [run.metrics[row.metric] for run in runs if run.ok and row.metric in run.metrics]
        if not own or not row.measured or _parts(row.metric) != _parts(f"{one.metric} {one.label}"):
            continue
        # From the claim's unit to that of metrics.json, and from there to that of the curves.
        value = row.claim.value * fmean(own) / row.measured * _times(one, fmean(own))
        yield Level(
            float(f"{value:.6g}"),
            f"{row.claim.id}, {row.claim.value:g}{row.claim.unit}",
            one.name,
        )


def _times(one: Course, measured: float) -> float:
    """Factor from a share to per cent or back, where a curve has the one and metrics.json the
    other.
    """
    known = (abs(value) for curve in one.curves for value in curve.values if value is not None)
    seen = max(known, default=0.0)
    if abs(measured) > SHARE and seen <= 1:
        return 0.01
    if abs(measured) <= 1 and seen > SHARE:
        return 100.0
    return 1.0


def _parts(metric: str) -> frozenset[str]:
    """The words of a metric, whatever their order: `test_accuracy_ours` is `test accuracy` of
    `ours`.
    """
    return frozenset(
        re.split(
            r"[^a-z0-9]+",
            metric_name(metric).lower(),
        )
    )
