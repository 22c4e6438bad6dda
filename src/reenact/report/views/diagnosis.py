"""A diagnosis: the findings, the curves and layers, the source with marks, what is less likely.

One finding in words: its line with a mark, what was seen, why it is wrong, what was changed and
tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from reenact.diagnosis.diagnosis import Diagnosis, ShownFile, suspected_source
from reenact.diagnosis.judgement import Judgement, on_stand_in
from reenact.faults.confidence import POSSIBLE
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.faults.observation import Observation, Severity, Suggestion
from reenact.faults.tried import ChangeEffect, InterventionResult
from reenact.probe.trace import Experiments
from reenact.program.graph import TensorFacts
from reenact.program.patch import readable_diff
from reenact.report import document as doc
from reenact.report.fault_pages import detector_help
from reenact.report.views.accounts import accounts_section
from reenact.report.views.checked import checked_section
from reenact.settings import field_texts
from reenact.trials.statistics import ALPHA, detectable_words
from reenact.types import Place, Table

if TYPE_CHECKING:
    from reenact.program.program import Program
    from reenact.report.recorded import Stored

RESULT = Diagnosis
LEVELS = {
    Severity.ERROR: doc.Level.ERROR,
    Severity.WARNING: doc.Level.WARNING,
    Severity.NOTE: doc.Level.NOTE,
}
GONE = "The trace of the watched training is no longer on this machine, so there are no curves."
MOST_OPINIONS = 10
SHOWN_OTHERS = 3
"""Other witnesses whose observation is shown; of the rest only the code."""
WIDE = 84
"""Characters of a source line that are shown."""
MOST_LINES = 12


def diagnosis_document(
    found: Diagnosis,
    title: str,
    files: Sequence[ShownFile] | None = None,
    gone: str = "",
) -> doc.Document:
    """The whole answer. `files` is the source as it stood, `gone` says why there are no curves."""
    if files is None:
        files = suspected_source(found)
    outcome = found.evidence.outcome
    notes = [one for one in found.notes if outcome is None or one != outcome.sentence]
    less = [
        *_less_likely(found.low_confidence),
        *_symptoms(found),
    ]
    # Where the cause is not known, the facts are what a reader goes on with.
    known = found.judgement in (Judgement.FINDINGS, Judgement.SOUND)
    checked = checked_section(found) if found.judgement is Judgement.SOUND else ()
    facts = (
        doc.Section(
            "The run",
            [_run(found), *_data(found.evidence)],
            "run",
        ),
        doc.Section(
            "Source",
            list(_sources(files, found)),
            "source",
            page_only=True,
        ),
        *accounts_section(found.accounts),
        *_measured(found, gone),
    )
    beyond = (
        doc.Section("Other suspects, and symptoms", less, "less"),
        doc.Section(
            "Edits that are not a fix", doc.listed(_dropped(found)), "dropped", detail=True
        ),
        doc.Section("Limits of this diagnosis", doc.listed(notes), "notes"),
    )
    sections = (
        doc.Section("Written", list(_written(found)), "written"),
        *checked,
        *_on_demand(facts, known=known),
        doc.Section("Claims of a model, tested", doc.listed(_hypotheses(found)), "hypotheses"),
        doc.Section("Opinions of a model", doc.listed(_opinions(found)), "opinions"),
        *_on_demand(beyond, known=known),
        doc.Section(
            "Next",
            doc.listed([found.next_command] if found.next_command else []),
            "next",
            detail=True,
        ),
    )
    title = f"Diagnosis of {title}"
    notices = tuple(_diagnostics(found, files))
    data = found.to_dict()
    code = found.exit_code
    reused = found.reused
    return doc.Document(
        "diagnose",
        title=title,
        verdict=found.sentence,
        blocks=sections,
        diagnostics=notices,
        data=data,
        reused=reused,
        exit_code=code,
        next_command=found.next_command,
    )


def _on_demand(sections: Iterable[doc.Section], *, known: bool) -> Iterator[doc.Section]:
    """What is not a finding, at a terminal only with `-v` where it is known what to say."""
    for one in sections:
        yield replace(one, detail=one.detail or known)


def from_run(stored: Stored) -> doc.Document:
    """The same of a recorded run: source and trace as they were left."""
    found = stored.result(Diagnosis)
    trace = stored.trace()
    files = (
        stored.result(
            tuple[ShownFile, ...],
            "source",
        )
        if stored.step("source") is not None
        else ()
    )
    gone = GONE if trace is None and stored.step("watch") is not None else ""
    known = replace(
        found,
        evidence=replace(found.evidence, trace=trace),
    )
    return diagnosis_document(known, stored.run.what, files, gone)


def _run(found: Diagnosis) -> doc.Facts:
    evidence = found.evidence
    spent = found.spent
    facts = {
        "depth": found.depth.value,
        "task": found.task.value,
    }
    if found.stand_in_data:
        facts["data"] = f"made up in place of {', '.join(found.stand_in_data)}"
    if evidence.outcome is not None:
        facts["watched run"] = evidence.outcome.sentence
    if found.measure is not None:
        facts["judged by"] = found.measure.name
    if spent.trainings:
        facts["trainings"] = f"{spent.trainings}, {spent.cpu_seconds:.0f} s of CPU time"
    facts["time"] = f"{spent.seconds:.1f} s"
    return doc.Facts("", tuple(facts.items()))


def _data(evidence: Evidence) -> Iterator[doc.Facts]:
    """Inputs and labels of each split, where most of them were seen: every evaluation logs them
    again.
    """
    logged = evidence.trace.data if evidence.trace is not None else ()
    kinds = dict.fromkeys((one.split, one.role) for one in logged)
    most = [
        (
            f"{split} {role}",
            evidence.data(role, split),
        )
        for split, role in kinds
    ]
    facts = tuple((name, _tensor(one)) for name, one in most if one is not None)
    if facts:
        yield doc.Facts("Data", facts)


def _tensor(one: TensorFacts) -> str:
    from reenact.report.svg import number

    shape = " x ".join("?" if size is None else str(size) for size in one.shape[1:]) or "one value"
    parts = [f"{shape} {one.dtype}"]
    if one.minimum is not None and one.maximum is not None:
        parts.append(f"{number(one.minimum)} to {number(one.maximum)}")
    if one.mean is not None and one.std is not None and one.classes is None:
        parts.append(f"mean {number(one.mean)}, std {number(one.std)}")
    if one.classes is not None:
        parts.append(f"{one.classes} classes")
    return ", ".join([*parts, f"{one.rows_seen} rows in all batches"])


def _sources(files: Sequence[ShownFile], found: Diagnosis) -> Iterator[doc.Source]:
    """The files; what findings rest on is marked, what only unlikely ones rest on is marked
    faintly.
    """
    where: dict[tuple[str, int], str] = {}
    found_at: set[tuple[str, int, str]] = set()
    for at, finding in enumerate(found.findings):
        if finding.line is not None:
            file = finding.file
            line = finding.line
            where.setdefault((file, line), f"#finding-{at}")
            found_at |= {(file, line, witness.code) for witness in finding.witnesses}
    for at, one in enumerate(files):
        marks = {
            (
                mark.place.line,
                mark.place.column,
                mark.code,
            ): mark
            for mark in one.marks
        }
        squiggles = []
        for (line, column, code), mark in marks.items():
            end = 0
            if mark.place.end_line in (0, line):
                end = mark.place.end_column
            tone = "faint"
            if (one.file, line, code) in found_at:
                tone = ""
            href = where.get((one.file, line), "")
            squiggles.append(
                doc.Squiggle(
                    line,
                    start=column,
                    end=end,
                    note=f"{code} {mark.name}",
                    href=href,
                    tone=tone,
                )
            )
        yield doc.Source(
            one.file,
            one.text,
            squiggles,
            anchor=f"source-{at}",
        )


def _measured(found: Diagnosis, gone: str) -> Iterator[doc.Section]:
    """Curves with the moment each detector fired, and layers against steps, from the trace."""
    if found.evidence.trace is None:
        yield doc.Section(
            "Training",
            [doc.Text(gone)] if gone else [],
            "training",
        )
        return
    from reenact.report.trace_plots import curve_plots, layer_plots, marks_at

    listed = (*found.findings, *found.symptoms)
    marks = marks_at((one.code, one.step) for finding in listed for one in finding.witnesses)
    yield doc.Section(
        "Training",
        list(curve_plots(found.evidence, marks)),
        "training",
    )
    yield doc.Section(
        "Layers by step",
        list(layer_plots(found.evidence)),
        "layers",
        detail=True,
    )


def _hypotheses(found: Diagnosis) -> list[str]:
    """What a model claims, and what execution made of it; proven and likely ones are above too."""
    lines = []
    for one in found.hypotheses:
        at = f"{one.claim.place}: " if one.claim.place is not None else ""
        lines.append(f"{at}{one.claim.says.rstrip('.')}. {one.sentence}")
    return lines


def _opinions(found: Diagnosis) -> list[str]:
    """What a model thinks and no execution has confirmed, apart from what was found."""
    shown = found.opinions[:MOST_OPINIONS]
    lines = [_opinion(one, found.evidence.program) for one in shown]
    if more := len(found.opinions) - len(shown):
        lines.append(f"{more} more with --output-format json.")
    return lines


def _opinion(one: Finding, program: Program | None) -> str:
    """One opinion: where, which fault, what the model says, what it would change."""
    parts = []
    if one.place is not None:
        parts.append(program.where(one.place) if program is not None else str(one.place))
    if one.layer:
        parts.append(f"layer {one.layer}")
    if one.fault is not None:
        parts.append(field_texts(FaultType)[one.fault.name])
    parts.append(one.message)
    if one.tried is not None:
        parts.append(f"Tried: {tried_words(one.tried)}.")
    elif one.suggestions:
        parts.append(f"It suggests {change_words(one.suggestions[0])}.")
    return " ".join(parts)


def _less_likely(less_likely: Sequence[Finding]) -> Iterator[doc.Block]:
    """What is less likely; the least likely are counted where nothing was tried."""
    rows = []
    for one in less_likely:
        tried_already = one.status is not InterventionResult.UNTRIED
        if one.confidence >= POSSIBLE or tried_already or one.agreeing:
            first = one.first
            where = str(one.place or one.layer or "-")
            fault = first.fault_name or "-"
            tried = one.note or one.status.value
            sure = one.word.value
            if one.agreeing:
                sure = f"{sure}, a model agrees"
            rows.append(
                (
                    f"{first.code} {first.name}",
                    fault,
                    where,
                    sure,
                    tried,
                )
            )
    faint = len(less_likely) - len(rows)
    if rows:
        title = (
            f"Other suspects ({faint} more that are hardly possible)" if faint else "Other suspects"
        )
        yield Table(
            title,
            ("detector", "fault", "where", "how sure", "tried"),
            tuple(rows),
        )
    elif faint:
        yield doc.Text(
            f"{faint}, hardly possible with --output-format json.",
            "Other suspects",
        )


def _symptoms(found: Diagnosis) -> Iterator[Table]:
    """Symptoms that point to no single fault; why it matters only where no finding explains it, and
    something is wrong.
    """
    symptoms = found.symptoms
    sound = found.judgement is Judgement.SOUND
    reasons_too = not found.findings and not sound
    columns = ("detector", "seen", *(("why it matters",) if reasons_too else ()))
    whole = (
        (
            f"{one.first.code} {one.first.name}",
            seen(one.first),
            one.first.why,
        )
        for one in symptoms
    )
    if symptoms:
        yield Table(
            "Seen, and no fault by itself" if sound else "Symptoms",
            columns,
            tuple(row[: len(columns)] for row in whole),
        )


def _diagnostics(found: Diagnosis, files: Sequence[ShownFile]) -> Iterator[doc.Diagnostic]:
    """Every finding; what a detector reports of another layer, or of a joint change, is not
    repeated.
    """
    reported: set[str] = set()
    changes: dict[str, str] = {}
    numbers = {one.file: at for at, one in enumerate(files)}
    for at, one in enumerate(found.findings):
        first = one.headline
        place = one.place
        change = ""
        if one.tried is not None:
            change = one.tried.patch.to_text()
        again = first.code in reported
        together = changes.get(change, "")
        made = _diagnostic(
            one,
            found.evidence,
            files,
            again=again,
            together=together,
        )
        shown = None
        if place is not None:
            shown = numbers.get(str(place.file))
        href = ""
        if place is not None and shown is not None:
            href = f"#source-{shown}-L{place.line}"
        yield replace(
            made,
            anchor=f"finding-{at}",
            href=href,
        )
        reported.add(first.code)
        if change:
            changes.setdefault(
                change,
                f"{first.code} {first.name}",
            )


def _diagnostic(
    one: Finding,
    evidence: Evidence,
    files: Sequence[ShownFile],
    *,
    again: bool,
    together: str,
) -> doc.Diagnostic:
    first = one.headline
    place = one.place
    result = ""
    if one.status is not InterventionResult.UNTRIED:
        result = f", {one.status.value}"
    made_up = ", on stand-in data" if evidence.stand_in_data else ""
    explained = detector_help(first.code)
    tried = ""
    if one.tried is not None:
        tried = f" Tried: {tried_words(one.tried)}."
    pictures: tuple[doc.Picture, ...] = ()
    measured = (
        one.tried is not None or evidence.trace is not None or evidence.experiments != Experiments()
    )
    # Not where nothing was measured: what draws also loads what computes.
    if measured and not together and not (again and one.tried is None):
        from reenact.report.trace_plots import finding_plots

        pictures = finding_plots(one, evidence)
    message = on_stand_in(
        evidence.stand_in_data,
        f"{seen(first)}. {first.why}{tried}",
    )
    cell = ""
    if evidence.program is not None and evidence.program.is_notebook and place is not None:
        cell = evidence.program.where(place)
    after = ""
    if explained and not again:
        after = f"reenact explain {first.code}"
    aside = f"{one.word.value}{result}{made_up}"
    source = "\n".join(source_lines(place, files))
    why = tuple(reasons(one, again=again, together=together))
    made = doc.Diagnostic(
        first.code,
        name=first.name,
        level=LEVELS[first.severity],
        message=message,
        place=place,
        next_step=after,
        aside=aside,
    )
    return replace(
        made,
        source=source,
        reasons=why,
        help=explained,
        pictures=pictures,
        cell=cell,
        fix=_edit(one),
    )


def _edit(one: Finding) -> doc.Edit | None:
    """Its fix for formats that hand it to other programs."""
    if one.fix is None:
        return None
    words = f"{one.fix.safety.value}; {one.fix.sentence}"
    return doc.Edit(one.fix.diff, words)


def seen(observation: Observation) -> str:
    """The observation, with the layer when it does not name it."""
    if not observation.layer or observation.layer in observation.saw.split():
        return observation.saw
    return f"layer {observation.layer}: {observation.saw}"


def reasons(one: Finding, *, again: bool = False, together: str = "") -> Iterator[tuple[str, str]]:
    """What was seen, why it is wrong, who else says so, what to change, what came of trying.
    `again`: the same detector is shown above. `together`: the finding above that has the same
    change.
    """
    first = one.headline
    yield "saw", seen(first)
    if not again:
        yield "why", first.why
    others = [each for each in one.witnesses if each is not first and each not in one.agreeing]
    for number, other in enumerate(others[:SHOWN_OTHERS]):
        yield "" if number else "also", f"{other.code} {other.name}: {seen(other)}"
    if more := others[SHOWN_OTHERS:]:
        yield "", f"and {', '.join(other.code for other in more)}"
    if one.agreeing:
        yield "opinion", f"a model agrees, in {one.agreeing[0].saw}"
    if one.tried is None:
        yield from _to_change(one)
    if one.tried is not None and together:
        yield "tried", f"together with {together}, see there"
    elif one.tried is not None:
        diff = one.fix.diff if one.fix is not None else ""
        yield "changed", "\n".join(changed_lines(diff)) or str(one.tried.patch)
        yield "tried", tried_words(one.tried) + (f"; {one.note}" if one.note else "")
    elif one.note:
        yield "tried", one.note


def fix_words(one: Finding) -> str:
    """The lines that its fix changes, or the change in words where they are many."""
    if one.fix is None:
        return ""
    if lines := "\n".join(changed_lines(one.fix.diff)):
        return lines
    text = one.fix.patch.to_text()
    turned = (each for each in one.suggestions if each.patch.to_text() == text)
    return next(map(change_words, turned), str(one.fix.patch))


def _written(found: Diagnosis) -> Iterator[doc.Text]:
    """What was put into the user's files."""
    if found.written:
        yield doc.Text(readable_diff(found.written).rstrip(), is_diff=True)
    if found.applied:
        yield doc.Text(found.applied)


def _dropped(found: Diagnosis) -> list[str]:
    """Edits that were suggested and are not a fix, each with the reason."""
    return [
        f"{one.code}: {dropped.patch}: {dropped.reason}."
        for one in found.findings
        for dropped in one.dropped_fixes
    ]


def _to_change(one: Finding) -> Iterator[tuple[str, str]]:
    """What to change, before any training was made with it; else why no edit is offered."""
    if one.fix is not None:
        yield "fix" if one.fix.tried.ran else "try", fix_words(one)
        yield "", one.fix.sentence
    elif one.edits and not one.dropped_fixes:
        # No one has looked at it: of another program, or below the threshold.
        yield "try", change_words(one.edits[0])
    elif one.refused:
        yield "fix", one.refused[0].reason


def tried_words(tried: ChangeEffect) -> str:
    """Before and after over the seeds, and whether that decides."""
    before, after = (_spread(values, tried) for values in (tried.before, tried.after))
    seeds = "1 seed"
    if len(tried.before) != 1:
        seeds = f"{len(tried.before)} seeds"
    changed = f"{seeds}, {tried.metric} {before} -> {after}"
    if tried.p_value is None:
        if tried.on_top_of:
            return f"{changed}, on top of {tried.on_top_of}"
        return changed
    parts = [f"p={tried.p_value:.3f}"]
    if not tried.confirmed:
        parts.append("runs now, no improvement shown" if tried.shortfall else "not confirmed")
    if tried.p_value >= ALPHA and tried.detectable is not None:
        parts.append(detectable_words(tried.detectable))
    return f"{changed} ({', '.join(parts)})"


def change_words(suggestion: Suggestion) -> str:
    """A change on one line."""
    if suggestion.hyperparameter is None:
        return suggestion.does or str(suggestion.patch)
    name = suggestion.hyperparameter.kind.value
    old = "(absent)" if suggestion.old is None else suggestion.old
    if suggestion.new is None:
        return f"{name}: take {old} away"
    return f"{name}: {old} -> {suggestion.new}"


def _spread(values: Sequence[float], tried: ChangeEffect) -> str:
    sign = 1 if tried.larger_is_better else -1
    known = [sign * value for value in values if math.isfinite(value)]
    if not known:
        return "failed"
    around = ""
    if len(known) > 1:
        around = f" +- {stdev(known):.2g}"
    failed = ""
    if len(known) < len(values):
        failed = f" ({len(values) - len(known)} failed)"
    return f"{fmean(known):.3g}{around}{failed}"


def source_lines(
    place: Place | None,
    files: Sequence[ShownFile],
) -> Iterator[str]:
    """The line of a finding with a mark below the part that it is about."""
    text = next(
        (one.text for one in files if place is not None and one.file == str(place.file)),
        "",
    )
    lines = text.split("\n")
    if place is None or not 0 < place.line <= len(lines) or not lines[place.line - 1]:
        return
    line = lines[place.line - 1]
    cut = len(line) - len(line.lstrip())
    end = place.end_column if place.end_line in (0, place.line) and place.end_column else len(line)
    start = max(place.column, cut)
    left = _left(line, cut, start)
    mark = " " * (start - left) + "^" * max(1, min(end, len(line), left + WIDE) - start)
    yield f"{place.line:>5} | {_window(line, left, cut)}"
    yield f"      | {mark}"


def changed_lines(diff: str) -> Iterator[str]:
    """What a change takes away and puts in; nothing when that is long."""
    listed = readable_diff(diff).splitlines()
    lines = [one for one in listed if one.startswith(("+", "-")) and one[:3] not in ("+++", "---")]
    if not lines or len(lines) > MOST_LINES:
        return
    cut = min(len(line[1:]) - len(line[1:].lstrip()) for line in lines)
    for line, changed in zip(lines, _differences(lines), strict=True):
        yield f"{line[0]} {_window(line[1:], _left(line[1:], cut, changed), cut)}"


def _differences(lines: Sequence[str]) -> list[int]:
    """For each line the first column in which it differs from the one in whose place it is."""
    sides = {sign: iter([line[1:] for line in lines if line[0] == sign]) for sign in "-+"}
    found = []
    for line in lines:
        other = next(
            sides["+" if line[0] == "-" else "-"],
            line[1:],
        )
        pairs = enumerate(zip(line[1:], other, strict=False))
        found.append(
            next(
                (column for column, (one, two) in pairs if one != two),
                0,
            )
        )
    return found


def _left(line: str, cut: int, wanted: int) -> int:
    """Where the shown part of a line begins, so that the wanted column is in it."""
    if len(line) - cut <= WIDE or wanted - cut < WIDE // 2:
        return cut
    return min(wanted - WIDE // 2, len(line) - WIDE)


def _window(line: str, left: int, cut: int) -> str:
    shown = line[left : left + WIDE]
    head = f"…{shown[1:]}" if left > cut else shown
    if left + WIDE < len(line):
        return f"{head[:-1]}…"
    return head
