"""A bug: report and symptom, the minimal script, what was seen and where, seeds, every attempt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from reenact.bug.classify import SeedRun
from reenact.bug.reproduction import Attempt, Reproduction, Verdict
from reenact.report.document import (
    Block,
    Board,
    Diagnostic,
    Document,
    Facts,
    Fold,
    Level,
    Row,
    Section,
    Source,
    Text,
)
from reenact.report.recorded import Stored
from reenact.types import Place

RESULT = Reproduction
CODE, NAME = "BG001", "bug-shown"
LEVELS = {Verdict.REPRODUCED: Level.ERROR, Verdict.SHOWN: Level.WARNING}
SHOWN = 30
MOST_FRAMES = 8
"""Of the project."""
FINDINGS = "What `reenact diagnose` reads in the training programs"
HOW_TO_SEE_IT = (
    "cd PROJECT && pip install -r requirements.txt",
    "python repro.py",
    "git bisect run python repro.py",
    "",
    "repro.py exits 1 when the bug shows, 0 when it does not, 125 when it cannot be run.",
)


def bug_document(found: Reproduction) -> Document:
    """The whole answer."""
    return Document(
        kind="bug",
        title=f"Bug: {found.title}",
        verdict=found.sentence,
        blocks=tuple(_sections(found)),
        diagnostics=tuple(_diagnostics(found)),
        data=found.to_dict(),
        reused=found.reused,
        exit_code=found.verdict.exit_code,
    )


def from_run(stored: Stored) -> Document:
    """The same of a recorded run, whose files lie below the folder in which it ran."""
    found = stored.result(Reproduction)
    ran_in = Path(stored.run.folder)
    return bug_document(replace(found, folder=ran_in / found.folder) if found.folder else found)


def report_document(found: Reproduction) -> Document:
    """REPORT.md. Nothing in it depends on when and how often the run was interrupted."""
    facts = {"report": found.source, "project": f"{found.repository} at {found.commit or 'no commit'}"}
    facts |= {"fixed": found.fixed} if found.fixed else {}
    facts["trail"] = f"reenact runs show {found.run_id}"
    made = found.minimised
    if made is not None:
        facts["script"] = f"{made.lines_before} lines, {made.lines_after} after {made.runs} runs. {made.note}"
    texts = {
        "How to see it": HOW_TO_SEE_IT if "repro.py" in found.written else (),
        FINDINGS: found.findings,
        "Installed": found.packages or ["nothing but Python"],
        "Contexts": [f"{number}. {text}" for number, text in enumerate(found.contexts, start=1)],
        "Notes": found.notes,
    }
    sections = [
        Section("The project", [Facts("", tuple(facts.items()))]),
        Section("What must be seen", [Text(found.must_be_seen)]),
    ]
    if found.showing is not None and found.showing.runs:
        sections.append(Section("What was seen", list(_seen(found.showing, timed=False))))
    elif found.showing is not None:
        sections.append(Section("Not run", [Text("The script was not executed, so nothing was seen.")]))
    sections += [Section(title, [Text("\n".join(lines))]) for title, lines in texts.items() if lines]
    sections.append(Section("Attempts", [_table(found)]))
    return Document("bug", found.title, found.sentence, tuple(sections))


def _sections(found: Reproduction) -> Iterator[Section]:
    yield Section("The project", [_facts(found)], "project")
    yield Section("What must be seen", [Text(found.must_be_seen)], "symptom")
    yield Section("The report", list(_report(found)), "report", page_only=True)
    if found.showing is not None and found.showing.runs:
        yield Section("What was seen", list(_seen(found.showing)), "seen")
    if found.script:
        yield Section("The script", list(_script(found)), "script")
    if found.attempts:
        # A script that shows the bug at once needs no table.
        table = [] if found.script and len(found.attempts) == 1 else [_table(found)]
        blocks: list[Block] = [*table, *map(_attempt, found.attempts)]
        yield Section("Attempts", blocks, "attempts")
    if found.findings:
        yield Section(FINDINGS, [Text("\n".join(found.findings))], "training")
    yield Section("More", list(_more(found)), "more", page_only=True)
    if found.notes:
        yield Section("Notes", [Text("\n".join(found.notes))], "notes")


def _facts(found: Reproduction) -> Facts:
    facts = {"report": found.source, "project": f"{found.repository} {found.commit[:12]}".strip()}
    if found.fixed:
        facts["fixed"] = found.fixed[:12]
    if found.seeds_run:
        facts["seeds"] = f"{found.seeds_shown} of {found.seeds_run}"
    facts["scripts"] = f"{len(found.attempts)}"
    made = found.minimised
    if made is not None and made.lines_after < made.lines_before:
        facts["made shorter"] = f"{made.lines_before} lines, {made.lines_after} after {made.runs} runs"
    facts["model"] = f"{found.tokens} tokens, {'price unknown' if found.money is None else f'${found.money}'}"
    split = f"{found.own_s:.0f} s own, {found.model_s:.0f} s model, {found.waited_s:.0f} s waiting"
    facts["time"] = f"{found.seconds:.0f} s ({split})"
    if found.folder is not None:
        facts["written"] = f"{found.folder}/: {', '.join(found.written)}"
    return Facts("", tuple(facts.items()))


def _report(found: Reproduction) -> Iterator[Block]:
    one = found.report
    if one is None:
        yield Text("The report was not restructured.", found.title)
        return
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(one.steps, start=1))
    named = ", ".join(f"{each.package} {each.version}".strip() for each in one.environment)
    yield Text(one.observed, "Observed")
    yield Text(one.expected, "Expected")
    yield Text(steps or "none given", "Steps")
    yield Text(named or "none given", "Environment")


def _script(found: Reproduction) -> Iterator[Block]:
    yield Source("script.py", found.script, anchor="script")
    if found.minimised is not None and found.minimised.note:
        yield Text(found.minimised.note)
    if found.repro:
        yield Fold("repro.py: the script with its judge", [Source("repro.py", found.repro)])


def _seen(showing: Attempt, *, timed: bool = True) -> Iterator[Block]:
    shown = next((run for run in showing.runs if run.shows), showing.runs[0])
    yield Text(shown.sentence)
    other = next((run for run in showing.fixed_runs if run.seed == shown.seed), None)
    if other is not None:
        yield Text(other.sentence, "On the fixed revision")
    yield from _traceback(shown)
    fixed = {run.seed: run.outcome.value for run in showing.fixed_runs}
    columns = ("seed", "on the reported revision", "on the fixed revision", *(("time",) if timed else ()))
    rows = []
    for run in showing.runs:
        cells = (str(run.seed), run.outcome.value, fixed.get(run.seed, "not run"))
        time = (f"{run.observation.wall_s:.1f} s",) if timed else ()
        rows.append(Row((*cells, *time), tone="good" if run.shows else ""))
    yield Board("Seeds", columns, rows)
    versions = ", ".join(f"{name} {version}" for name, version in shown.observation.versions.items())
    if versions:
        yield Facts("", (("versions", versions),))
    if shown.observation.output:
        yield Fold("What it printed", [Text(shown.observation.output)])


def _traceback(run: SeedRun) -> Iterator[Block]:
    """The frames of the project, innermost last; those of libraries are many, and folded away."""
    frames = run.observation.frames
    if not frames:
        return
    own = [f"{one.file}:{one.line} in {one.qualified}" for one in frames if one.whose == "project"]
    raised = f"{run.exception}: {run.observation.message}" if run.exception else ""
    yield Text("\n".join(own[-MOST_FRAMES:]) or raised, "In project code, innermost last" if own else "")
    rows = [
        Row((one.whose, f"{one.file}:{one.line}", one.qualified), "error" if one.whose == "project" else "")
        for one in frames
    ]
    yield Fold("The whole traceback", [Board("", ("", "place", "function"), rows), Text(raised)])


def _table(found: Reproduction) -> Board:
    """The last attempts, a line each."""
    rows = []
    for one in found.attempts[-SHOWN:]:
        why = _flat(one.reasons)[:240] if one.objections else "it shows the symptom"
        stage = one.stage.value if one.stage else "-"
        rows.append(Row((str(one.context + 1), str(one.number + 1), stage, why), "good" if one.shows else ""))
    return Board("", ("context", "script", "stopped at", "why"), rows)


def _attempt(one: Attempt) -> Fold:
    shown = f"shows it in {sum(run.shows for run in one.runs)} of {len(one.runs)} runs"
    what = shown if one.stage is None else f"stopped at {one.stage.value}"
    why = f": {_flat(one.reasons)[:200]}" if one.objections else ""
    blocks: list[Block] = [Text("\n".join(one.reasons), "Objections")] if one.objections else []
    blocks += [Source("script", one.script)] if one.script else []
    blocks += [Fold(f"seed {run.seed}: {run.outcome.value}", list(_ran(run))) for run in one.runs]
    title = f"Context {one.context + 1}, script {one.number + 1}: {what}{why}"
    return Fold(title, blocks, tone="good" if one.shows else "")


def _flat(reasons: Sequence[str]) -> str:
    return " ".join(reasons[0].split())


def _ran(run: SeedRun) -> Iterator[Block]:
    yield Text(run.sentence)
    yield from _traceback(run)
    if run.observation.output:
        yield Text(run.observation.output, "Printed")


def _more(found: Reproduction) -> Iterator[Block]:
    if found.contexts:
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(found.contexts, start=1))
        yield Fold("Contexts that were looked at", [Text(listed)])
    if found.packages:
        yield Fold("Installed", [Text("\n".join(found.packages))])


def _diagnostics(found: Reproduction) -> Iterator[Diagnostic]:
    """One where the symptom was seen: at the innermost line of the project."""
    shown = found.shown
    if shown is None or found.verdict not in LEVELS:
        return
    frames = shown.observation.project_frames
    place = Place(PurePosixPath(frames[-1].file), frames[-1].line) if frames else None
    yield Diagnostic(
        CODE,
        NAME,
        LEVELS[found.verdict],
        f"{found.title}: {shown.sentence}",
        place=place,
        aside=found.verdict.value,
        next_step=f"cd PROJECT && python {found.folder.absolute()}/repro.py" if found.folder else "",
    )
