"""Suspects: findings of several rules that point to one thing are one suspect with several witnesses.

A comment `# reenact: ignore` or `# reenact: ignore[UM005, NL004]` on the line of a finding suppresses it.

A rule's confidence is its author's judgement. The calibration curve says what came of such judgements over a
few hundred mutants whose faults are known (`python -m benchmarks train-detector` draws it); a finding carries
that share.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TypeAlias, TypeVar

from reenact.program.fault import Fault
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.program import Program
from reenact.rules.finding import Certainty, Finding, Suggestion
from reenact.rules.health import Health
from reenact.rules.registry import all_rules
from reenact.types import JsonValue, Place

SAME = {Fault.ARM: Fault.ACH, Fault.AAL: Fault.ACH}
"""Missing, wrong and redundant activations are one thing seen from different sides."""
OF_THE_TRAINING = frozenset((
    Fault.HBS, Fault.HLR, Fault.HNE, Fault.LCH, Fault.OCH, Fault.CPP, Fault.VRM, Fault.HWD, Fault.HMO,
    Fault.GCL, Fault.HSC, Fault.ZGR, Fault.MOD, Fault.SHF,
))  # fmt: skip
"""Faults that belong to no layer, wherever they show."""
_KINDS = """
HBS batch-size, HLR learning-rate, HNE epochs, ACH activation, ARM activation, AAL activation,
RAW weight-regularizer, WCI weight-init, BCI bias-init, LCH loss, OCH optimizer, LRM layer, LAD layer,
LCN units filters, LCF kernel-size, CPP preprocessing, VRM validation, RCD dropout, HWD weight-decay,
HMO momentum, LNM normalization, GCL gradient-clip, HSC scheduler, ZGR zero-grad, MOD mode, SHF shuffle
"""
FAULT_KINDS = {Fault(word): tuple(map(Kind, kinds)) for word, *kinds in map(str.split, _KINDS.split(","))}
"""The hyperparameters that a kind of fault is about."""
PROVEN = 0.9
"""Confidence from which on something in the text explains what happened in the run."""
PROOF = 0.95
"""Confidence in what an observation establishes by itself."""
EXPLAINED = 0.6
"""What is left of the confidence in a consequence when its cause is known."""
EXTRA_WITNESS = 0.25
"""How much of the remaining doubt another family's witness removes, scaled by its own confidence."""
DOUBTED = 0.4
"""The most that is believed, untried, of what a training that is not seen to fail speaks against."""
LIKELY = 0.5
"""More likely than not: so much hints of two families need where a training is not seen to fail."""
SHOWS = frozenset((
    Fault.ACH, Fault.ARM, Fault.AAL, Fault.LCH, Fault.LCN, Fault.LCF, Fault.LNM, Fault.HLR, Fault.OCH,
    Fault.HNE, Fault.HMO, Fault.HWD, Fault.RAW, Fault.WCI, Fault.BCI, Fault.CPP,
))  # fmt: skip
"""Faults that keep a training from learning: one that learns well has none that matters."""
ABOUT_EVALUATION = frozenset({"RE007"})
"""Rules that name such a fault, and speak of rows that are not trained on."""
CALIBRATION = "calibration.json"
CALIBRATED = frozenset(("learned", "model"))
"""Families that calibrate what they say themselves."""

T = TypeVar("T")
_COMMENT = re.compile(r"#\s*reenact:\s*ignore(?:\[(?P<codes>[\w\s,-]+)\])?")
_WHOLE_FILE = re.compile(r"^\s*#\s*reenact:\s*ignore-file(?:\[(?P<codes>[\w\s,-]+)\])?", re.MULTILINE)

SuspectKey: TypeAlias = tuple[str, str, str]
"""Fault family (or `symptom`), what it belongs to, and the layer where a symptom shows."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One thing that may be at fault."""

    fault: Fault | None
    layer: str
    layer_index: int | None
    hyperparameter: HyperparameterId | None
    place: Place | None
    witnesses: tuple[Finding, ...]
    """Strongest first; one a rule."""
    confidence: float
    suggestions: tuple[Suggestion, ...]
    """Different changes that may help, the surest witness's first."""
    doubted: bool = False
    """Whether the training speaks against it: it is listed as worth a look until a trial confirms it."""

    @property
    def key(self) -> SuspectKey:
        """What it is: no two suspects of one diagnosis have the same."""
        return _key(self.first)

    @property
    def first(self) -> Finding:
        return self.witnesses[0]

    @property
    def headline(self) -> Finding:
        """The witness to name: the surest whose rule is about this very fault, not one that infers it."""
        about = {rule.code: rule.fault for rule in all_rules()}
        return next((one for one in self.witnesses if about.get(one.code) is self.fault), self.first)

    @property
    def in_a_line(self) -> str:
        """Its headline, with the place."""
        named, where = self.headline, f" at {self.place}" if self.place is not None else ""
        return f"{named.code} {named.name}{where}: {named.saw}"

    @property
    def certainty(self) -> Certainty:
        """The best that one of its witnesses has to offer."""
        return min((one.certainty for one in self.witnesses), key=list(Certainty).index)


def suspects_from(
    findings: Iterable[Finding],
    observed: Collection[str] = (),
    *,
    health: Health = Health.UNSEEN,
    begun: bool = True,
) -> tuple[Suspect, ...]:
    """Group findings by what they accuse, strongest suspect first.

    `observed` are codes of rules that judge by what happened in the run. Where something is as good as proven
    from the program itself, it explains what happened, and suspects that only such rules name are less
    likely. Beside proof every hint is: while an output cannot express the labels, nobody can tell whether the
    learning rate is right. So is a hint where the training works, by its `health`, or has not `begun`: what
    is unusual there does no harm. Where it is not seen to fail, a hint alone is no finding.
    """
    groups: dict[SuspectKey, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    found = [_suspect(sorted(group, key=lambda one: -one.confidence)) for group in groups.values()]
    causes = [one for one in found if one.first.is_root_cause]
    if any(one.confidence >= PROVEN and not _only(one, observed) for one in causes):
        found = [_less(one) if _only(one, observed) and one.fault is not None else one for one in found]
    if health is Health.WORKS or not begun or any(one.certainty is Certainty.PROOF for one in causes):
        found = [_less(one) if one.certainty is Certainty.HINT else one for one in found]
    found = [replace(one, doubted=_spoken_against(one, health)) for one in found]
    return tuple(sorted(found, key=lambda one: (-one.confidence, one.first.code)))


def _spoken_against(suspect: Suspect, health: Health) -> bool:
    """Whether a training that learns, or is not seen to fail, makes a suspect less likely than not."""
    if suspect.certainty is Certainty.PROOF or health not in (Health.WORKS, Health.UNCLEAR):
        return False
    families = {finding.family for finding in suspect.witnesses}
    if suspect.certainty is Certainty.HINT and not families <= CALIBRATED:
        return len(families) < 2 or shipped().at(suspect.confidence) < LIKELY
    shows = suspect.fault in SHOWS and suspect.first.code not in ABOUT_EVALUATION
    return health is Health.WORKS and shows and not families <= CALIBRATED


def _only(suspect: Suspect, codes: Collection[str]) -> bool:
    return all(finding.code in codes for finding in suspect.witnesses)


def _less(suspect: Suspect) -> Suspect:
    if suspect.certainty is Certainty.PROOF:
        return suspect
    return replace(suspect, confidence=suspect.confidence * EXPLAINED)


def _key(finding: Finding) -> SuspectKey:
    if finding.fault is None:
        return ("symptom", finding.code, finding.layer)
    fault = SAME.get(finding.fault, finding.fault)
    if fault in OF_THE_TRAINING:
        return (fault.value, "", "")
    owner = finding.hyperparameter.layer if finding.hyperparameter is not None else ""
    return (fault.value, owner or finding.layer, "")


def _suspect(findings: Sequence[Finding]) -> Suspect:
    first = findings[0]
    of_layer = first.fault not in OF_THE_TRAINING

    def rank(one: Finding) -> int:
        """What belongs to no layer stands at none, wherever it shows."""
        return 0 if one.hyperparameter is not None else 2 if one.layer and not of_layer else 1

    placed = min((one for one in findings if one.place is not None), key=rank, default=first)
    layered = next((one for one in findings if of_layer and one.layer_index is not None), first)
    # What a witness measured tells more about a value than what another only infers.
    surest = sorted(findings, key=lambda one: list(Certainty).index(one.certainty))
    suggested = (suggestion for one in surest for suggestion in one.suggestions)
    return Suspect(
        fault=first.fault,
        layer=layered.layer if of_layer else "",
        layer_index=layered.layer_index if of_layer else None,
        hyperparameter=next((one.hyperparameter for one in findings if one.hyperparameter is not None), None),
        place=placed.place,
        witnesses=firsts(findings, lambda one: one.code),
        confidence=_together(findings),
        suggestions=firsts(suggested, lambda one: one.patch.to_text()),
    )


def _together(findings: Sequence[Finding]) -> float:
    """The strongest witness, and a little more for each other family that says the same."""
    surest = firsts(sorted(findings, key=lambda one: -one.confidence), lambda one: one.family)
    doubt = 1 - surest[0].confidence
    for other in surest[1:]:
        doubt *= 1 - EXTRA_WITNESS * other.confidence
    return 1 - doubt


def firsts(things: Iterable[T], key: Callable[[T], Hashable]) -> tuple[T, ...]:
    """The first thing with each key, in their order."""
    found: dict[Hashable, T] = {}
    for thing in things:
        found.setdefault(key(thing), thing)
    return tuple(found.values())


def unsuppressed(findings: Iterable[Finding], program: Program) -> tuple[Finding, ...]:
    """The findings that no comment in the program waves through."""
    return tuple(finding for finding in findings if not _suppressed(finding, program))


def _suppressed(finding: Finding, program: Program) -> bool:
    place = finding.place
    source = program.file(str(place.file)) if place is not None else None
    if place is None or source is None:
        return False
    last = max(place.line, place.end_line or place.line)
    lines = source.text.splitlines()[place.line - 1 : last]
    comments = [found for line in lines for found in _COMMENT.finditer(line)]
    return any(_covers(found, finding) for found in (*_WHOLE_FILE.finditer(source.text), *comments))


def _covers(found: re.Match[str], finding: Finding) -> bool:
    words = [word.strip() for word in (found["codes"] or "").split(",") if word.strip()]
    own, code = (finding.name, finding.family), finding.code
    named = any(code.startswith(word.upper()) or word.lower() in own for word in words)
    return named or found["codes"] is None


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Confidences, ascending, and the share that was right."""

    confidences: Sequence[float]
    shares: Sequence[float]

    def at(self, confidence: float) -> float:
        """Between two points on the line that joins them, beyond the ends level."""
        known, shares = self.confidences, self.shares
        if confidence <= known[0] or confidence >= known[-1]:
            return shares[0 if confidence <= known[0] else -1]
        upper = bisect_right(known, confidence)
        way = (confidence - known[upper - 1]) / (known[upper] - known[upper - 1])
        return shares[upper - 1] + way * (shares[upper] - shares[upper - 1])

    def to_json(self) -> dict[str, JsonValue]:
        return {"confidence": list(self.confidences), "share": list(self.shares)}


@cache
def shipped() -> CalibrationCurve:
    read = json.loads(files("reenact.diagnosis").joinpath(CALIBRATION).read_text(encoding="utf-8"))
    return CalibrationCurve(tuple(read["confidence"]), tuple(read["share"]))


def calibrated(suspect: Suspect) -> float:
    """How likely it is that this suspect is at fault, before anything was tried."""
    if suspect.certainty is Certainty.PROOF:
        return max(PROOF, suspect.confidence)
    of_itself = all(finding.family in CALIBRATED for finding in suspect.witnesses)
    sure = suspect.confidence if of_itself else shipped().at(suspect.confidence)
    return min(DOUBTED, sure) if suspect.doubted else sure
