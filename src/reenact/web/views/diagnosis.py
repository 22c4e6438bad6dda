"""A diagnosis: findings, the source with squiggles, curves and layers, what is less likely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from pydantic import BaseModel

from reenact.program.patch import Patch
from reenact.repairs.verdict import summary
from reenact.report.plots import HeatPlot, LinePlot, StripPlot
from reenact.report.rule_pages import rule_help
from reenact.report.sheet import Facts, Text
from reenact.report.svg import number
from reenact.report.svg_strips import Strip
from reenact.report.trace_plots import curve_plots, layer_plots, marks_at
from reenact.rules.evidence import Evidence
from reenact.types import Table
from reenact.web.page import Block, Chart, Finding, Fold, Section, Source, Squiggle
from reenact.web.stored import Stored

FAINT = 0.3
OTHERS = 4
TONES = {"error": "error", "warning": "warning", "note": "note"}


class Witness(BaseModel):
    """A rule's own words."""

    code: str
    name: str
    fault: str | None = None
    severity: str
    saw: str
    why: str
    layer: str | None = None
    step: int | None = None


class Suggestion(BaseModel):
    """A change that a rule proposes."""

    knob: str | None = None
    old: object = None
    new: object = None


class Tried(BaseModel):
    """A change that was trained over seeds; values are oriented, larger is better."""

    patch: object
    metric: str
    larger_is_better: bool = True
    before: list[float]
    after: list[float]
    p_value: float
    confirmed: bool


class Accused(BaseModel):
    """A suspect and what trying it has shown."""

    fault: str | None = None
    layer: str | None = None
    confidence: float
    standing: str
    file: str | None = None
    line: int | None = None
    witnesses: list[Witness]
    suggestions: list[Suggestion] = []
    tried: Tried | None = None
    note: str | None = None

    @property
    def headline(self) -> Witness:
        """The witness whose rule is about this very fault, not one that infers it."""
        about = _faults()
        direct = (one for one in self.witnesses if about.get(one.code) == self.fault)
        return next(direct, self.witnesses[0])


class Told(BaseModel):
    """What the story stored."""

    depth: str
    task: str
    sentence: str = ""
    """The verdict; empty in runs of versions that did not store it."""
    next: str | None = None
    metric: str | None = None
    findings: list[Accused]
    doubts: list[Accused]
    symptoms: list[Witness]
    seconds: float
    trainings: int
    notes: list[str]


class Place(BaseModel):
    """Where a rule points."""

    code: str
    name: str
    line: int
    column: int
    end_line: int
    end_column: int


class File(BaseModel):
    """A source file as it stood."""

    file: str
    text: str
    marks: list[Place]


def sections(stored: Stored) -> Iterator[Section]:
    """The whole result."""
    told = Told.model_validate(stored.result())
    files = [File.model_validate(one) for one in stored.value("source") or []]
    numbers = {one.file: at for at, one in enumerate(files)}
    yield Section("Findings", list(_findings(told, numbers)), "findings")
    if files:
        yield Section("Source", [_source(one, numbers[one.file], told) for one in files], "source")
    yield from _measured(stored, told)
    less = list(_less(told))
    if less:
        yield Section("Less likely, and symptoms", less, "less")


def _findings(told: Told, numbers: dict[str, int]) -> Iterator[Block]:
    facts = {"depth": told.depth, "task": told.task, "trainings": str(told.trainings)}
    if told.metric:
        facts["judged by"] = told.metric
    yield Facts("", tuple(facts.items()))
    if not told.findings:
        yield Text(told.sentence or f"No finding at depth {told.depth}.")
    if told.next:
        yield Text(told.next, "Next")
    for at, one in enumerate(told.findings):
        yield _finding(one, at, numbers)


def _finding(one: Accused, at: int, numbers: dict[str, int]) -> Finding:
    first = one.headline
    fault = f"{one.fault}, " if one.fault else ""
    place = f"{one.file}:{one.line}" if one.file else f"layer {one.layer}" if one.layer else ""
    href = f"#source-{numbers[one.file]}-L{one.line}" if one.file in numbers else ""
    others = [other for other in one.witnesses if other is not first]
    lines = [("saw", first.saw), ("why", first.why)]
    lines += [("also", f"{other.code} {other.name}: {other.saw}") for other in others[:OTHERS]]
    if one.suggestions and one.tried is None:
        lines.append(("try", _change(one.suggestions[0])))
    if one.tried is not None:
        lines.append(("tried", _tried(one.tried)))
    elif one.note:
        lines.append(("tried", one.note))
    blocks: list[Block] = [] if one.tried is None else [_before_after(one.tried)]
    if help_text := rule_help(first.code):
        blocks.append(Fold(f"What {first.code} means", [Text(help_text)]))
    return Finding(
        first.code,
        first.name,
        TONES.get(first.severity, "note"),
        f"{fault}confidence {one.confidence:.2f}, {one.standing}",
        anchor=f"finding-{at}",
        place=place,
        href=href,
        lines=lines,
        blocks=blocks,
    )


def _change(one: Suggestion) -> str:
    old, new = ("(absent)" if value is None else str(value) for value in (one.old, one.new))
    return f"{one.knob or 'change'}: {old} -> {new}"


def _tried(tried: Tried) -> str:
    judged = "confirmed" if tried.confirmed else "not confirmed"
    sign = 1 if tried.larger_is_better else -1
    before, after = (summary([sign * value for value in values]) for values in (tried.before, tried.after))
    return (
        f"{Patch.from_json(tried.patch)}: {tried.metric} {before} -> {after}"
        f" ({len(tried.before)} seeds, p={tried.p_value:.3g}, {judged})"
    )


def _before_after(tried: Tried) -> Chart:
    sign = 1 if tried.larger_is_better else -1
    samples = [
        Strip(name, [sign * value for value in values])
        for name, values in (("as it stands", tried.before), ("changed", tried.after))
    ]
    words = "; ".join(f"{one.name}: {', '.join(map(number, one.values))}" for one in samples)
    return Chart(StripPlot("Before and after, a dot a seed", samples, tried.metric), words)


def _source(file: File, at: int, told: Told) -> Source:
    """The file; what findings rest on is marked, what only doubts rest on is marked faintly."""
    accused = {(one.file, one.line, witness.code) for one in told.findings for witness in one.witnesses}
    where: dict[tuple[str | None, int | None], str] = {}
    for index, one in enumerate(told.findings):
        where.setdefault((one.file, one.line), f"#finding-{index}")
    squiggles = [
        Squiggle(
            mark.line,
            mark.column,
            mark.end_column if mark.end_line in (0, mark.line) else 0,
            f"{mark.code} {mark.name}",
            where.get((file.file, mark.line), ""),
            "" if (file.file, mark.line, mark.code) in accused else "faint",
        )
        for mark in {(one.line, one.column, one.code): one for one in file.marks}.values()
    ]
    return Source(file.file, file.text, squiggles, anchor=f"source-{at}")


def _measured(stored: Stored, told: Told) -> Iterator[Section]:
    """Curves with the moment each rule fired, and layers against steps, from the trace."""
    trace = stored.trace()
    if trace is None:
        if stored.step("watch") is not None:
            said = "The trace of the watched training is no longer on this machine, so there are no curves."
            yield Section("Training", [Text(said)], "training")
        return
    evidence = Evidence(trace=trace)
    fired = [witness for one in told.findings for witness in one.witnesses] + told.symptoms
    marks = marks_at((one.code, one.step) for one in fired)
    drawn: list[Block] = [_curves(plot) for plot in curve_plots(evidence, marks)]
    if drawn:
        yield Section("Training", drawn, "training")
    maps: list[Block] = [_heat(plot) for plot in layer_plots(evidence)]
    if maps:
        yield Section("Layers by step", maps, "layers")


def _curves(plot: LinePlot) -> Chart:
    ends = [f"{one.name}: {number(one.values[0])} -> {number(one.values[-1])}" for one in plot.curves]
    noticed = [f"{mark.label} at step {mark.step:g}" for mark in plot.marks]
    return Chart(plot, "\n".join([*ends, *noticed]))


def _heat(plot: HeatPlot) -> Chart:
    last = [next((value for value in reversed(row.values) if value is not None), None) for row in plot.rows]
    words = [
        f"{row.name}: {number(value)} at the end"
        for row, value in zip(plot.rows, last, strict=True)
        if value is not None
    ]
    return Chart(plot, "\n".join(words))


def _less(told: Told) -> Iterator[Block]:
    shown = [one for one in told.doubts if one.confidence >= FAINT or one.standing != "untried"]
    if shown:
        yield Table("Less likely", ("rule", "fault", "where", "confidence", "tried"), _doubts(shown))
    if told.symptoms:
        rows = tuple((f"{one.code} {one.name}", one.saw, one.why) for one in told.symptoms)
        yield Table("Symptoms", ("rule", "seen", "why it matters"), rows)
    if told.notes:
        yield Text("\n".join(told.notes), "Not done, or not seen")


def _doubts(doubts: Sequence[Accused]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            f"{one.headline.code} {one.headline.name}",
            one.fault or "-",
            f"{one.file}:{one.line}" if one.file else one.layer or "-",
            f"{one.confidence:.2f}",
            one.note or one.standing,
        )
        for one in doubts
    )


@cache
def _faults() -> dict[str, str | None]:
    from reenact.rules.registry import all_rules

    return {rule.code: rule.fault.value if rule.fault is not None else None for rule in all_rules()}
