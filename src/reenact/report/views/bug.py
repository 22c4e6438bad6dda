"""A bug: report and symptom, the minimal script, what was seen and where, seeds, every attempt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from reenact.bug.classify import SeedRun
from reenact.bug.reproduction import Attempt, Reproduction, Verdict
from reenact.report import document as doc
from reenact.report.recorded import Stored
from reenact.types import Place

RESULT = Reproduction
CODE = "BG001"
NAME = "bug-shown"
LEVELS = {
    Verdict.REPRODUCED: doc.Level.ERROR,
    Verdict.SHOWN: doc.Level.WARNING,
    Verdict.INCOMPLETE: doc.Level.ERROR,
}
SHOWN = 30
MOST_FRAMES = 8
"""Of the project."""
FINDINGS = "What `reenact diagnose` reads in the training programs"
NOT_RUN = "The script was not executed, so nothing was seen."
HOW_TO_SEE_IT = (
    "cd PROJECT && pip install -r requirements.txt",
    "PYTHONPATH=. python repro.py    # where it is not installed; PYTHONPATH=src for a src layout",
    "reenact judge repro.py",
    "git bisect run reenact judge repro.py",
    "",
    "reenact judge exits 1 when the bug shows, 0 when it does not, 125 when it cannot be run or "
    "another copy of the project was imported.",
)
PROVEN = "The script and its test pass with it; whether it is right, a maintainer decides."
OWN_WORDS = "The report's own words"


def bug_document(found: Reproduction) -> doc.Document:
    """The whole answer."""
    title = f"Bug: {found.title}"
    blocks = tuple(_sections(found))
    code = found.verdict.exit_code
    notices = tuple(_diagnostics(found))
    data = found.to_dict()
    return doc.Document(
        "bug",
        title=title,
        verdict=found.sentence,
        blocks=blocks,
        diagnostics=notices,
        data=data,
        reused=found.reused,
        exit_code=code,
    )


def from_run(stored: Stored) -> doc.Document:
    """The same of a recorded run, whose files lie below the folder in which it ran."""
    found = stored.result(Reproduction)
    ran_in = Path(stored.run.folder)
    return bug_document(replace(found, folder=ran_in / found.folder) if found.folder else found)


def report_document(found: Reproduction) -> doc.Document:
    """REPORT.md. Nothing in it depends on when and how often the run was interrupted."""
    facts = {
        "report": found.source,
        "project": f"{found.repository} at {found.commit or 'no commit'}",
    }
    if found.fixed:
        facts["fixed"] = found.fixed
    if found.brought_by:
        facts["brought by"] = found.brought_by
    facts["trail"] = f"reenact runs show {found.run_id}"
    made = found.minimised
    if made is not None:
        facts["script"] = (
            f"{made.lines_before} lines, {made.lines_after} after {made.runs} runs. {made.note}"
        )
    texts = {
        "How to see it": HOW_TO_SEE_IT if "repro.py" in found.written else (),
        FINDINGS: found.findings,
        "Installed": found.packages or ("nothing but Python",),
        "Contexts": tuple(_numbered(found.contexts)),
        "Notes": found.notes,
    }
    sections = [
        doc.Section(
            "The project",
            [doc.Facts("", tuple(facts.items()))],
        )
    ]
    sections += [
        doc.Section(
            "What must be seen",
            [doc.Text(found.must_be_seen)],
        )
    ]
    if found.showing is not None and found.showing.runs:
        seen = list(_seen(found.showing, timed=False))
        if place := found.place:
            seen.insert(1, doc.Text(place, "The line"))
        sections.append(doc.Section("What was seen", seen))
    elif found.showing is not None:
        sections.append(
            doc.Section(
                "Not run",
                [doc.Text(NOT_RUN)],
            )
        )
    for title, text in _files(found):
        sections.append(doc.Section(title, [doc.Source(title, text)]))
    sections += _beyond(found)
    sections += [doc.Section(title, doc.listed(lines)) for title, lines in texts.items()]
    if found.words:
        sections.append(doc.Section(OWN_WORDS, [doc.Source("report", found.words)]))
    sections.append(doc.Section("Attempts", [_table(found)]))
    return doc.Document(
        "bug",
        found.title,
        found.sentence,
        tuple(sections),
    )


def _files(found: Reproduction) -> Iterator[tuple[str, str]]:
    """What is handed over and can be read here at once."""
    if found.repro:
        yield "repro.py", found.repro
    if found.test:
        yield "The same as a test", found.test
    if found.reply:
        yield "A reply to the reporter", found.reply


def _sections(found: Reproduction) -> Iterator[doc.Section]:
    yield doc.Section("The project", [_facts(found)], "project")
    yield doc.Section(
        "What must be seen",
        [doc.Text(found.must_be_seen)],
        "symptom",
    )
    yield doc.Section(
        "The report",
        list(_report(found)),
        "report",
        page_only=True,
    )
    if found.showing is not None and found.showing.runs:
        yield doc.Section(
            "What was seen",
            list(_seen(found.showing)),
            "seen",
        )
    if found.script:
        script: list[doc.Block] = [doc.Source("script.py", found.script, anchor="script")]
        script += doc.listed(
            [found.minimised.note] if found.minimised and found.minimised.note else []
        )
        if found.repro:
            script = [
                doc.Source("repro.py", found.repro, anchor="script"),
                *script[1:],
            ]
        if found.test:
            script.append(doc.Fold("The same as a test", [doc.Source("test", found.test)]))
        yield doc.Section("The script", script, "script")
    yield from _beyond(found)
    if found.reply:
        yield doc.Section("A reply to the reporter", [doc.Text(found.reply)], "reply")
    if found.attempts:
        # A script that shows the bug at once needs no table.
        table = [] if found.script and len(found.attempts) == 1 else [_table(found)]
        yield doc.Section(
            "Attempts",
            [*table, *map(_attempt, found.attempts)],
            "attempts",
        )
    yield doc.Section(
        FINDINGS,
        doc.listed(found.findings),
        "training",
    )
    more = {
        "Contexts that were looked at": _numbered(found.contexts),
        "Installed": found.packages,
    }
    folds = [doc.Fold(title, doc.listed(lines)) for title, lines in more.items() if lines]
    yield doc.Section("More", folds, "more", page_only=True)
    yield doc.Section(
        "Notes",
        doc.listed(found.notes),
        "notes",
    )


def _beyond(found: Reproduction) -> Iterator[doc.Section]:
    """What is suspected, and what is proposed."""
    cause = found.cause
    if cause is not None:
        blocks: list[doc.Block] = [doc.Text(cause.how), *doc.listed(cause.lines)]
        if cause.diff:
            blocks.append(doc.Source("cause.diff", cause.diff))
        yield doc.Section("Suspected cause", blocks, "cause")
    patch = found.patch
    if patch is not None and patch.diff:
        said = f"A model proposes this: {patch.why} {PROVEN} {patch.tests}"
        proposal: list[doc.Block] = [
            doc.Text(said.strip()),
            doc.Source("proposed.patch", patch.diff),
        ]
        yield doc.Section("Proposed patch", proposal, "patch")
    elif patch is not None:
        yield doc.Section("Proposed patch", [doc.Text(f"There is none: {patch.why_not}")], "patch")


def _numbered(lines: Sequence[str]) -> list[str]:
    return [f"{number}. {text}" for number, text in enumerate(lines, start=1)]


def _facts(found: Reproduction) -> doc.Facts:
    facts = {
        "report": found.source,
        "project": f"{found.repository} {found.commit[:12]}".strip(),
    }
    if found.fixed:
        facts["fixed"] = found.fixed[:12]
    if found.seeds_run:
        facts["seeds"] = f"{found.seeds_shown} of {found.seeds_run}"
    if found.brought_by:
        facts["brought by"] = found.brought_by
    facts["scripts"] = f"{len(found.attempts)}"
    made = found.minimised
    if made is not None and made.lines_after < made.lines_before:
        facts["made shorter"] = (
            f"{made.lines_before} lines, {made.lines_after} after {made.runs} runs"
        )
    facts["model"] = (
        f"{found.tokens} tokens, {'price unknown' if found.money is None else f'${found.money}'}"
    )
    split = f"{found.own_s:.0f} s own, {found.model_s:.0f} s model, {found.waited_s:.0f} s waiting"
    facts["time"] = f"{found.seconds:.0f} s ({split})"
    if found.folder is not None:
        facts["written"] = f"{found.folder}/: {', '.join(found.written)}"
    return doc.Facts("", tuple(facts.items()))


def _report(found: Reproduction) -> Iterator[doc.Block]:
    one = found.report
    if one is None:
        yield doc.Text("The report was not restructured.", found.title)
        return
    named = ", ".join(f"{each.package} {each.version}".strip() for each in one.environment)
    yield doc.Text(one.observed, "Observed")
    yield doc.Text(one.expected, "Expected")
    yield doc.Text(
        "\n".join(_numbered(one.steps)) or "none given",
        "Steps",
    )
    yield doc.Text(named or "none given", "Environment")


def _seen(showing: Attempt, *, timed: bool = True) -> Iterator[doc.Block]:
    shown = next(
        (run for run in showing.runs if run.shows),
        showing.runs[0],
    )
    yield doc.Text(shown.sentence)
    other = next(
        (run for run in showing.fixed_runs if run.seed == shown.seed),
        None,
    )
    if other is not None:
        yield doc.Text(other.sentence, "On the fixed revision")
    if showing.controls is not None and showing.controls.results:
        yield doc.Text(showing.controls.sentence)
    yield from _traceback(shown)
    fixed = {run.seed: run.outcome.value for run in showing.fixed_runs}
    columns = (
        "seed",
        "on the reported revision",
        "on the fixed revision",
        *(("time",) if timed else ()),
    )
    rows = []
    for run in showing.runs:
        cells = (
            str(run.seed),
            run.outcome.value,
            fixed.get(run.seed, "not run"),
        )
        time = (f"{run.observation.wall_s:.1f} s",) if timed else ()
        rows.append(
            doc.Row(
                (*cells, *time),
                tone="good" if run.shows else "",
            )
        )
    yield doc.Board("Seeds", columns, rows)
    versions = ", ".join(
        f"{name} {version}" for name, version in shown.observation.versions.items()
    )
    if versions:
        yield doc.Facts("", (("versions", versions),))
    if shown.observation.output:
        yield doc.Fold(
            "What it printed",
            [doc.Text(shown.observation.output)],
        )


def _traceback(run: SeedRun) -> Iterator[doc.Block]:
    """The frames of the project, innermost last; those of libraries are many, and folded away."""
    frames = run.observation.frames
    if not frames:
        return
    own = [f"{one.file}:{one.line} in {one.qualified}" for one in frames if one.whose == "project"]
    raised = ""
    if run.exception:
        raised = f"{run.exception}: {run.observation.message}"
    yield doc.Text(
        "\n".join(own[-MOST_FRAMES:]) or raised,
        "In project code, innermost last" if own else "",
    )
    cells = (
        (
            one.whose,
            f"{one.file}:{one.line}",
            one.qualified,
        )
        for one in frames
    )
    rows = [
        doc.Row(
            row,
            "error" if row[0] == "project" else "",
        )
        for row in cells
    ]
    yield doc.Fold(
        "The whole traceback",
        [
            doc.Board("", ("", "place", "function"), rows),
            doc.Text(raised),
        ],
    )


def _table(found: Reproduction) -> doc.Board:
    """The last attempts, a line each."""
    rows = []
    for one in found.attempts[-SHOWN:]:
        why = "it shows the symptom"
        if one.objections:
            why = " ".join(one.reasons[0].split())[:240]
        cells = (
            str(one.context + 1),
            str(one.number + 1),
            one.stage.value if one.stage else "-",
            why,
        )
        rows.append(
            doc.Row(
                cells,
                "good" if one.shows else "",
            )
        )
    return doc.Board("", ("context", "script", "stopped at", "why"), rows)


def _attempt(one: Attempt) -> doc.Fold:
    shown = f"shows it in {sum(run.shows for run in one.runs)} of {len(one.runs)} runs"
    what = shown if one.stage is None else f"stopped at {one.stage.value}"
    why = ""
    if one.objections:
        why = f": {' '.join(one.reasons[0].split())[:200]}"
    blocks: list[doc.Block] = [
        *doc.listed(
            one.reasons if one.objections else (),
            "Objections",
        )
    ]
    if one.script:
        blocks.append(doc.Source("script", one.script))
    for run in one.runs:
        printed = []
        if run.observation.output:
            printed = [doc.Text(run.observation.output, "Printed")]
        ran = [
            doc.Text(run.sentence),
            *_traceback(run),
            *printed,
        ]
        blocks.append(
            doc.Fold(
                f"seed {run.seed}: {run.outcome.value}",
                ran,
            )
        )
    title = f"Context {one.context + 1}, script {one.number + 1}: {what}{why}"
    return doc.Fold(
        title,
        blocks,
        tone="good" if one.shows else "",
    )


def _diagnostics(found: Reproduction) -> Iterator[doc.Diagnostic]:
    """One where the symptom was seen: at the innermost line of the project."""
    shown = found.shown
    if shown is None or found.verdict not in LEVELS:
        return
    frames = shown.observation.project_frames
    place = None
    if frames:
        place = Place(
            PurePosixPath(frames[-1].file),
            frames[-1].line,
        )
    says = f"{found.title}: {shown.sentence}"
    after = ""
    if found.folder:
        after = f"cd PROJECT && reenact judge {found.folder.absolute()}/repro.py"
    yield doc.Diagnostic(
        CODE,
        name=NAME,
        level=LEVELS[found.verdict],
        message=says,
        place=place,
        next_step=after,
        aside=found.verdict.value,
    )
