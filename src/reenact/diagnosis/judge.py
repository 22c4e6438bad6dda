"""From evidence to a diagnosis: ask the rules, gather suspects, say what they come to. Nothing is
run.

A value that a program reads only when it runs is placed where it is: the text names an
expression (`cfg.lr`) or nothing at all (`**options`), and one line of a file of settings that the
run opened has that key; where a program hands settings on by `**`, one line of its own.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from reenact.diagnosis.consequences import without_consequences
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.fixes.text import TextCheck
from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.opinions import with_opinions
from reenact.diagnosis.options import DiagnoseOptions
from reenact.diagnosis.suppress import unsuppressed
from reenact.errors import ReenactError
from reenact.faults.detector import Detector, run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.facts.series import hardly_begun
from reenact.faults.finding import Finding
from reenact.faults.fix import FixTried
from reenact.faults.health import health_of
from reenact.faults.observation import Certainty
from reenact.faults.registry import chosen
from reenact.faults.tried import InterventionResult
from reenact.program.flow.sources import Sources
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import static_graph
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.types import Place

NOT_JUDGED = (
    "Not judged on stand-in data: how inputs and labels are prepared, how frequent the classes "
    "are, and rows that training and validation share."
)
FEW_STEPS = 3
"""Below this a run shows too little to contradict what the text proves."""


def read_only(program: Program) -> Evidence:
    """What the text alone shows."""
    return Evidence(program, static_graph(program))


def diagnose_evidence(evidence: Evidence, options: DiagnoseOptions) -> Diagnosis:
    """What the rules say of this evidence; `options` choose the rules and the least confidence."""
    begun = time.monotonic()
    findings = findings_of(evidence, options)
    return conclude(
        evidence,
        options,
        findings,
        TrainingUsage(time.monotonic() - begun),
    )


def findings_of(
    evidence: Evidence, options: DiagnoseOptions, others: Iterable[Finding] = ()
) -> tuple[Finding, ...]:
    """What the rules find, together with the findings of others, surest first; nothing is tried."""
    rules = chosen(options.select, options.ignore)
    if evidence.stand_in_data:
        rules = tuple(one for one in rules if not one.judges_rows)
    findings = placed_in_settings(
        (*rule_findings(rules, evidence), *others),
        evidence,
    )
    if evidence.stand_in_data:
        findings = tuple(one for one in findings if not _of_rows(one))
    if evidence.program is not None:
        findings = unsuppressed(findings, evidence.program)
    together = grouped(findings, health=health_of(evidence), begun=not hardly_begun(evidence))
    together = without_consequences(together, options.threshold)
    if evidence.program is None:
        return together
    return with_opinions(together, evidence.program)


def _of_rows(finding: Finding) -> bool:
    """Whether it is about the data themselves."""
    return finding.fault is not None and finding.fault.traits.of_rows


ORDER = (
    InterventionResult.CONFIRMED,
    InterventionResult.RUNS_NOW,
    InterventionResult.UNDECIDED,
    InterventionResult.UNTRIED,
    InterventionResult.REFUTED,
)
"""In which findings are listed, after what is proven by itself."""


def _order(one: Finding) -> tuple[bool, int, float]:
    unproven = one.certainty is not Certainty.PROOF
    return (
        unproven,
        ORDER.index(one.status),
        -one.confidence,
    )


def _causes(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(
        (one for one in findings if one.is_root_cause and not one.is_opinion),
        key=_order,
    )


def listed(findings: Iterable[Finding], options: DiagnoseOptions) -> tuple[Finding, ...]:
    """What the user sees as findings, in the order in which they are listed."""
    return tuple(one for one in _causes(findings) if one.confidence >= options.threshold)


def conclude(
    evidence: Evidence,
    options: DiagnoseOptions,
    findings: Iterable[Finding],
    spent: TrainingUsage,
    *,
    measure: Measure | None = None,
    notes: Sequence[str] = (),
) -> Diagnosis:
    """The diagnosis, once it is known of each finding what trying it has shown."""

    known = tuple(findings)
    fixes = _Fixes(evidence, options)
    opinions = sorted((one for one in known if one.is_opinion), key=_order)
    causes = _causes(known)
    sure = listed(known, options)
    return Diagnosis(
        depth=options.depth,
        evidence=evidence,
        findings=tuple(map(fixes.given, sure)),
        low_confidence=tuple(one for one in causes if one.confidence < options.threshold),
        opinions=tuple(opinions),
        symptoms=tuple(one for one in known if not one.is_root_cause),
        threshold=options.threshold,
        spent=spent,
        measure=measure,
        accounts=evidence.accounts,
        notes=(*((NOT_JUDGED,) if evidence.stand_in_data else ()), *notes),
    )


@dataclass(frozen=True)
class _Fixes:
    """Gives findings the fix that no one has given them yet."""

    evidence: Evidence
    options: DiagnoseOptions

    @cached_property
    def check(self) -> TextCheck | None:
        program = self.evidence.program
        if program is None:
            return None
        return TextCheck(program, judging(self.options))

    def given(self, finding: Finding) -> Finding:
        """The finding with its fix: the change it was trained with, else the one it has, else what the
        text does not speak against.
        """
        if self.check is None:
            return finding
        if finding.tried is not None:
            return self._trained(finding, self.check, finding.tried.patch)
        if finding.fix is not None or finding.dropped_fixes or not finding.edits:
            return finding
        if self.options.depth.runs:
            return self.check.fixed(finding, FixTried.NOT_TRIED, "nothing was run")
        return self.check.fixed(finding, FixTried.NOT_RUN)

    @staticmethod
    def _trained(finding: Finding, check: TextCheck, patch: Patch) -> Finding:
        if finding.fix is not None and finding.fix.patch == patch:
            return finding
        with suppress(ReenactError):
            return replace(finding, fix=check.fix(patch, finding, FixTried.TRAINED, ""))
        return finding


def spoken_by(options: DiagnoseOptions, evidence: Evidence) -> tuple[Finding, ...]:
    """What the detectors that judge an edit say of evidence."""
    detectors = judging(options)
    if evidence.stand_in_data:
        detectors = tuple(one for one in detectors if not one.judges_rows)
    return rule_findings(detectors, evidence)


def judging(options: DiagnoseOptions) -> tuple[Detector, ...]:
    """The detectors that judge an edit: all stable ones, and those that were selected."""
    return tuple(dict.fromkeys((*chosen(), *chosen(options.select, options.ignore))))


def rule_findings(
    rules: Sequence[Detector],
    evidence: Evidence,
) -> tuple[Finding, ...]:
    """What the rules say; where the run shows too little, what the text alone proves counts as
    well.
    """
    found = run_detectors(rules, evidence)
    trace = evidence.trace
    # A trace that the probe broke off, or that ended after a step or two.
    little = trace is not None and (
        bool(trace.happened("probe-off")) or trace.step_count < FEW_STEPS
    )
    if trace is None or not (little or evidence.optimizers > 1):
        return found
    known = {one.first.code for one in found}
    of_the_text = run_detectors(rules, Evidence(evidence.program, evidence.static))
    if not little:
        # Of several models the run shows one: what is written of the others counts where it is
        # proof.
        proven = (one for one in of_the_text if one.certainty is Certainty.PROOF)
        of_the_text = tuple(one for one in proven if not _in_every_run(one))
    return (
        *found,
        *(one for one in of_the_text if one.first.code not in known),
    )


def _in_every_run(finding: Finding) -> bool:
    """Whether every run shows such a fault, however many models it has."""
    return finding.fault is not None and finding.fault.traits.in_every_run


SUFFIXES = (".yaml", ".yml", ".json", ".toml")
LARGEST = 1 << 18
NUMBERS = frozenset(
    {
        Kind.LEARNING_RATE,
        Kind.BATCH_SIZE,
        Kind.EPOCHS,
        Kind.DROPOUT,
        Kind.WEIGHT_DECAY,
        Kind.MOMENTUM,
        Kind.UNITS,
        Kind.FILTERS,
        Kind.KERNEL_SIZE,
        Kind.GRADIENT_CLIP,
    }
)
"""Kinds whose value is a number: a word in its place is an expression."""
_LAST_WORD = re.compile(r"(\w+)\W*$")


def placed_in_settings(
    findings: Iterable[Finding],
    evidence: Evidence,
) -> tuple[Finding, ...]:
    """The findings; those about a number that a file of settings holds are there."""
    opened = _opened(evidence)
    own = _handing_on(evidence)

    def placed(finding: Finding) -> Finding:
        if finding.is_opinion:
            return finding
        places = _lines_of(opened, _key(finding, evidence))
        if finding.place is None and finding.fault is not None:
            places += _lines_of(own, _line_of_key(finding.fault.traits.keyword))
        return finding.refined(place=places[0]) if len(places) == 1 else finding

    return tuple(map(placed, findings))


def _handing_on(evidence: Evidence) -> dict[PurePosixPath, str]:
    """The program's own files, where one of them gives `**settings` to a call: names in it are
    then keywords of what is called.
    """
    if evidence.program is None:
        return {}
    calls = Sources(evidence.program).calls()
    if not any(part.arg is None for call in calls for part in call.keywords):
        return {}
    files = evidence.program.files
    return {one.path: one.text for one in files if one.path.suffix == ".py"}


def _lines_of(texts: Mapping[PurePosixPath, str], key: re.Pattern[str] | None) -> list[Place]:
    return [
        Place(file, number)
        for file, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if key is not None and key.match(line)
    ]


def _key(finding: Finding, evidence: Evidence) -> re.Pattern[str] | None:
    """How the line begins that sets what a finding is about: a key of its fault where it has no
    place, else the name that stands for its number.
    """
    if finding.place is None:
        words = finding.fault.traits.settings_key if finding.fault is not None else ""
        return _line_of_key(words)
    params = (one for one in evidence.hyperparameters if one.id == finding.hyperparameter)
    param = next(params, None)
    if param is None or param.kind not in NUMBERS or not isinstance(param.in_force, str):
        return None
    word = _LAST_WORD.search(param.in_force)
    return re.compile(rf"""[\s-]*["']?{word[1]}["']?\s*[:=]""") if word is not None else None


def _line_of_key(words: str) -> re.Pattern[str] | None:
    line = rf"""[\s-]*["']?(?:{words})["']?\s*(?:[:=]|: \w+ =)|.*add_argument\(\s*["']--(?:{words})["']"""
    return re.compile(line, re.IGNORECASE) if words else None


def _opened(evidence: Evidence) -> dict[PurePosixPath, str]:
    """The files of settings in the program's folder that the watched run opened."""
    if evidence.opened is None or evidence.program is None:
        return {}
    folder = evidence.program.folder.resolve()
    contents = [file for file in evidence.opened.files if file.kind == "file"]
    paths = [Path(one.path).resolve() for one in contents if one.size in range(LARGEST)]
    return {
        PurePosixPath(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.suffix in SUFFIXES and path.is_relative_to(folder) and path.is_file()
    }
