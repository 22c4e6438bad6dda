"""A bug: report and symptom, the minimal script, what was seen and where, seeds, every attempt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from reenact.report.sheet import Facts, Text
from reenact.web.page import Beside, Block, Board, Fold, Frame, Row, Section, Source, Traceback
from reenact.web.stored import Stored

SYMPTOM = "symptom"


class FrameTold(BaseModel):
    """One frame of a traceback."""

    whose: str
    file: str
    line: int
    function: str


class RunTold(BaseModel):
    """One run of a script with one seed."""

    seed: int
    outcome: str
    sentence: str
    exception: str = ""
    message: str = ""
    frames: list[FrameTold] = []
    output: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = {}


class AttemptTold(BaseModel):
    """One script on the way."""

    context: int
    number: int
    stopped_at: str | None
    objections: list[str]
    script: str = ""
    runs: list[RunTold] = []
    fixed_runs: list[RunTold] = []


class Installed(BaseModel):
    """A package that the report names."""

    package: str
    version: str = ""


class ReportTold(BaseModel):
    """The report, put in order."""

    title: str
    observed: str
    expected: str
    steps: list[str]
    environment: list[Installed] = []


class Shorter(BaseModel):
    """What came of making the script shorter."""

    lines_before: int
    lines_after: int
    runs: int
    note: str = ""


class Told(BaseModel):
    """What the story stored."""

    verdict: str
    reason: str
    title: str
    report: str
    repository: str
    commit: str
    fixed: str
    must_be_seen: str = ""
    restructured: ReportTold | None = None
    script: str
    repro: str = ""
    minimised: Shorter | None = None
    attempts: list[AttemptTold]
    contexts: list[str]
    packages: list[str]
    written: list[str]
    folder: str | None = None
    findings: list[str]
    notes: list[str]

    @property
    def showing(self) -> AttemptTold | None:
        return next((one for one in self.attempts if one.stopped_at is None), None)


def sections(stored: Stored) -> Iterator[Section]:
    """The whole result."""
    told = Told.model_validate(stored.result())
    yield Section("Report and symptom", [_facts(told), Beside(_report(told), _symptom(told))], "report")
    if told.script:
        yield Section("The script", list(_script(told)), "script")
    if told.showing is not None and told.showing.runs:
        yield Section("What was seen", list(_seen(told.showing)), "seen")
    yield Section("Attempts", list(_attempts(told.attempts)), "attempts")
    more = list(_more(told))
    if more:
        yield Section("More", more, "more")


def _facts(told: Told) -> Facts:
    facts = {"report": told.report, "project": f"{told.repository} {told.commit[:12]}".strip()}
    if told.fixed:
        facts["fixed"] = told.fixed[:12]
    if told.folder:
        facts["written"] = f"{told.folder}: {', '.join(told.written)}"
    return Facts("", tuple(facts.items()))


def _report(told: Told) -> list[Block]:
    one = told.restructured
    if one is None:
        return [Text("The report was not restructured.", told.title)]
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(one.steps, start=1))
    named = ", ".join(f"{each.package} {each.version}".strip() for each in one.environment)
    return [
        Text(one.observed, "Observed"),
        Text(one.expected, "Expected"),
        Text(steps or "none given", "Steps"),
        Text(named or "none given", "Environment"),
    ]


def _symptom(told: Told) -> list[Block]:
    return [
        Text(told.must_be_seen or "-", "What must be seen"),
        Text(f"{told.verdict}: {told.reason}.", "Verdict"),
    ]


def _script(told: Told) -> Iterator[Block]:
    made = told.minimised
    if made is not None:
        shorter = f"{made.lines_before} lines, {made.lines_after} after {made.runs} runs. {made.note}"
        yield Facts("", (("made shorter", shorter),))
    yield Source("script.py", told.script, anchor="script")
    if told.repro:
        yield Fold("repro.py: the script with its judge", [Source("repro.py", told.repro)])


def _seen(showing: AttemptTold) -> Iterator[Block]:
    shown = next((run for run in showing.runs if run.outcome == SYMPTOM), showing.runs[0])
    yield Text(shown.sentence)
    if shown.frames:
        yield _traceback(shown)
    fixed: Mapping[int, RunTold] = {run.seed: run for run in showing.fixed_runs}
    rows = [
        Row(
            (
                str(run.seed),
                run.outcome,
                fixed[run.seed].outcome if run.seed in fixed else "not run",
                f"{run.seconds:.1f} s",
            ),
            tone="good" if run.outcome == SYMPTOM else "",
        )
        for run in showing.runs
    ]
    yield Board("Seeds", ("seed", "on the reported revision", "on the fixed revision", "time"), rows)
    versions = ", ".join(f"{name} {version}" for name, version in shown.versions.items())
    if versions:
        yield Facts("", (("versions", versions),))
    if shown.output:
        yield Fold("What it printed", [Text(shown.output)])


def _traceback(run: RunTold) -> Traceback:
    frames = [Frame(one.whose, f"{one.file}:{one.line}", one.function) for one in run.frames]
    return Traceback(frames, f"{run.exception}: {run.message}" if run.exception else "")


def _attempts(attempts: Sequence[AttemptTold]) -> Iterator[Block]:
    if not attempts:
        yield Text("No script was written.")
    for one in attempts:
        shows = one.stopped_at is None
        seen = sum(run.outcome == SYMPTOM for run in one.runs)
        what = f"shows it in {seen} of {len(one.runs)} runs" if shows else f"stopped at {one.stopped_at}"
        why = f": {' '.join(one.objections[0].split())[:200]}" if one.objections else ""
        blocks: list[Block] = [Text("\n".join(one.objections), "Objections")] if one.objections else []
        blocks += [Source("script", one.script)] if one.script else []
        for run in one.runs:
            inner: list[Block] = [Text(run.sentence)]
            inner += [_traceback(run)] if run.frames else []
            inner += [Text(run.output, "Printed")] if run.output else []
            blocks.append(Fold(f"seed {run.seed}: {run.outcome}", inner))
        yield Fold(
            f"Context {one.context + 1}, script {one.number + 1}: {what}{why}",
            blocks,
            tone="good" if shows else "",
        )


def _more(told: Told) -> Iterator[Block]:
    if told.findings:
        yield Text("\n".join(told.findings), "What `reenact diagnose` reads in the training programs")
    if told.contexts:
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(told.contexts, start=1))
        yield Fold("Contexts that were looked at", [Text(listed)])
    if told.packages:
        yield Fold("Installed", [Text("\n".join(told.packages))])
    if told.notes:
        yield Text("\n".join(told.notes), "Notes")
