"""Suspects: findings of several rules that point to one thing are one suspect with several witnesses.

A comment `# reenact: ignore` or `# reenact: ignore[UM005, NL004]` on the line of a finding suppresses it.

A rule's confidence is its author's judgement. The calibration curve says what came of such judgements over a
few hundred mutants whose faults are known (`python -m benchmarks train-detector` draws it); a finding carries
that share.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TypeAlias

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
FAULT_KINDS: Mapping[Fault, tuple[Kind, ...]] = {
    Fault.HBS: (Kind.BATCH_SIZE,),
    Fault.HLR: (Kind.LEARNING_RATE,),
    Fault.HNE: (Kind.EPOCHS,),
    Fault.ACH: (Kind.ACTIVATION,),
    Fault.ARM: (Kind.ACTIVATION,),
    Fault.AAL: (Kind.ACTIVATION,),
    Fault.RAW: (Kind.WEIGHT_REGULARIZER,),
    Fault.WCI: (Kind.WEIGHT_INIT,),
    Fault.BCI: (Kind.BIAS_INIT,),
    Fault.LCH: (Kind.LOSS,),
    Fault.OCH: (Kind.OPTIMIZER,),
    Fault.LRM: (Kind.LAYER,),
    Fault.LAD: (Kind.LAYER,),
    Fault.LCN: (Kind.UNITS, Kind.FILTERS),
    Fault.LCF: (Kind.KERNEL_SIZE,),
    Fault.CPP: (Kind.PREPROCESSING,),
    Fault.VRM: (Kind.VALIDATION,),
    Fault.RCD: (Kind.DROPOUT,),
    Fault.HWD: (Kind.WEIGHT_DECAY,),
    Fault.HMO: (Kind.MOMENTUM,),
    Fault.LNM: (Kind.NORMALIZATION,),
    Fault.GCL: (Kind.GRADIENT_CLIP,),
    Fault.HSC: (Kind.SCHEDULER,),
    Fault.ZGR: (Kind.ZERO_GRAD,),
    Fault.MOD: (Kind.MODE,),
    Fault.SHF: (Kind.SHUFFLE,),
}
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
    if families <= CALIBRATED:
        return False
    if suspect.certainty is Certainty.HINT:
        return len(families) < 2 or shipped().at(suspect.confidence) < LIKELY
    shows = suspect.fault in SHOWS and not _only(suspect, ABOUT_EVALUATION)
    return health is Health.WORKS and shows


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
    owner = finding.layer or (finding.hyperparameter.layer if finding.hyperparameter is not None else "")
    if finding.hyperparameter is not None and finding.hyperparameter.layer:
        owner = finding.hyperparameter.layer
    return (fault.value, owner, "")


def _suspect(findings: Sequence[Finding]) -> Suspect:
    first = findings[0]
    of_layer = first.fault not in OF_THE_TRAINING
    there = [one for one in findings if one.place is not None]
    placed = next((one for one in there if one.hyperparameter is not None), None)
    # What belongs to no layer stands at none, wherever it shows.
    placed = (
        placed or next((one for one in there if of_layer or not one.layer), None) or next(iter(there), first)
    )
    layered = next((one for one in findings if of_layer and one.layer_index is not None), first)
    witnesses: dict[str, Finding] = {}
    for finding in findings:
        witnesses.setdefault(finding.code, finding)
    # What a witness measured tells more about a value than what another only infers.
    surest = sorted(findings, key=lambda one: list(Certainty).index(one.certainty))
    return Suspect(
        fault=first.fault,
        layer=layered.layer if of_layer else "",
        layer_index=layered.layer_index if of_layer else None,
        hyperparameter=next((one.hyperparameter for one in findings if one.hyperparameter is not None), None),
        place=placed.place,
        witnesses=tuple(witnesses.values()),
        confidence=_together(findings),
        suggestions=_distinct(suggestion for one in surest for suggestion in one.suggestions),
    )


def _together(findings: Sequence[Finding]) -> float:
    """The strongest witness, and a little more for each other family that says the same."""
    best: dict[str, float] = {}
    for finding in findings:
        best[finding.family] = max(finding.confidence, best.get(finding.family, 0.0))
    ordered = sorted(best.values(), reverse=True)
    doubt = 1 - ordered[0]
    for confidence in ordered[1:]:
        doubt *= 1 - EXTRA_WITNESS * confidence
    return 1 - doubt


def _distinct(suggestions: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    found: dict[str, Suggestion] = {}
    for suggestion in suggestions:
        found.setdefault(suggestion.patch.to_text(), suggestion)
    return tuple(found.values())


def unsuppressed(findings: Iterable[Finding], program: Program) -> tuple[Finding, ...]:
    """The findings that no comment in the program waves through."""
    return tuple(finding for finding in findings if not _suppressed(finding, program))


def _suppressed(finding: Finding, program: Program) -> bool:
    place = finding.place
    source = program.file(str(place.file)) if place is not None else None
    if place is None or source is None:
        return False
    if any(_covers(found, finding) for found in _WHOLE_FILE.finditer(source.text)):
        return True
    lines = source.text.splitlines()
    last = max(place.line, place.end_line or place.line)
    return any(
        _covers(found, finding) for line in lines[place.line - 1 : last] for found in _COMMENT.finditer(line)
    )


def _covers(found: re.Match[str], finding: Finding) -> bool:
    codes = found["codes"]
    if codes is None:
        return True
    words = [word.strip() for word in codes.split(",") if word.strip()]
    return any(
        finding.code.startswith(word.upper()) or word.lower() in (finding.name, finding.family)
        for word in words
    )


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Confidences, ascending, and the share that was right."""

    confidences: Sequence[float]
    shares: Sequence[float]

    def at(self, confidence: float) -> float:
        """Between two points on the line that joins them, beyond the ends level."""
        if confidence <= self.confidences[0]:
            return self.shares[0]
        if confidence >= self.confidences[-1]:
            return self.shares[-1]
        upper = bisect_right(self.confidences, confidence)
        lower = upper - 1
        way = (confidence - self.confidences[lower]) / (self.confidences[upper] - self.confidences[lower])
        return self.shares[lower] + way * (self.shares[upper] - self.shares[lower])

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
