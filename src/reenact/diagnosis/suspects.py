"""Suspects: findings of several rules that point to one thing are one suspect with several
witnesses.

A comment `# reenact: ignore` or `# reenact: ignore[UM005, NL004]` on the line of a finding
suppresses it.

How sure that makes is decided in `reenact.faults.confidence` alone.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from reenact.faults.confidence import PROVEN, combined, explained, is_spoken_against
from reenact.faults.confidence import calibrated as sure_of
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Certainty, Finding, Suggestion
from reenact.faults.health import Health
from reenact.faults.registry import all_detectors
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.program import Program
from reenact.types import Place

SAME = {FaultType.ARM: FaultType.ACH, FaultType.AAL: FaultType.ACH}
"""Missing, wrong and redundant activations are one thing seen from different sides."""
OF_THE_TRAINING = frozenset(
    {
        FaultType.HBS,
        FaultType.HLR,
        FaultType.HNE,
        FaultType.LCH,
        FaultType.OCH,
        FaultType.CPP,
        FaultType.VRM,
        FaultType.HWD,
        FaultType.HMO,
        FaultType.GCL,
        FaultType.HSC,
        FaultType.ZGR,
        FaultType.MOD,
        FaultType.SHF,
    }
)
"""Faults that belong to no layer, wherever they show."""
FAULT_KINDS = {
    FaultType.HBS: (Kind.BATCH_SIZE,),
    FaultType.HLR: (Kind.LEARNING_RATE,),
    FaultType.HNE: (Kind.EPOCHS,),
    FaultType.ACH: (Kind.ACTIVATION,),
    FaultType.ARM: (Kind.ACTIVATION,),
    FaultType.AAL: (Kind.ACTIVATION,),
    FaultType.RAW: (Kind.WEIGHT_REGULARIZER,),
    FaultType.WCI: (Kind.WEIGHT_INIT,),
    FaultType.BCI: (Kind.BIAS_INIT,),
    FaultType.LCH: (Kind.LOSS,),
    FaultType.OCH: (Kind.OPTIMIZER,),
    FaultType.LRM: (Kind.LAYER,),
    FaultType.LAD: (Kind.LAYER,),
    FaultType.LCN: (Kind.UNITS, Kind.FILTERS),
    FaultType.LCF: (Kind.KERNEL_SIZE,),
    FaultType.CPP: (Kind.PREPROCESSING,),
    FaultType.VRM: (Kind.VALIDATION,),
    FaultType.RCD: (Kind.DROPOUT,),
    FaultType.HWD: (Kind.WEIGHT_DECAY,),
    FaultType.HMO: (Kind.MOMENTUM,),
    FaultType.LNM: (Kind.NORMALIZATION,),
    FaultType.GCL: (Kind.GRADIENT_CLIP,),
    FaultType.HSC: (Kind.SCHEDULER,),
    FaultType.ZGR: (Kind.ZERO_GRAD,),
    FaultType.MOD: (Kind.MODE,),
    FaultType.SHF: (Kind.SHUFFLE,),
}
"""The hyperparameters that a kind of fault is about."""
SHOWS = frozenset(
    {
        FaultType.ACH,
        FaultType.ARM,
        FaultType.AAL,
        FaultType.LCH,
        FaultType.LCN,
        FaultType.LCF,
        FaultType.LNM,
        FaultType.HLR,
        FaultType.OCH,
        FaultType.HNE,
        FaultType.HMO,
        FaultType.HWD,
        FaultType.RAW,
        FaultType.WCI,
        FaultType.BCI,
        FaultType.CPP,
    }
)
"""Faults that keep a training from learning: one that learns well has none that matters."""
ABOUT_EVALUATION = frozenset({"RE007"})
"""Rules that name such a fault, and speak of rows that are not trained on."""

T = TypeVar("T")
_COMMENT = re.compile(r"#\s*reenact:\s*ignore(?:\[(?P<codes>[\w\s,-]+)\])?")
_WHOLE_FILE = re.compile(
    r"^\s*#\s*reenact:\s*ignore-file(?:\[(?P<codes>[\w\s,-]+)\])?", re.MULTILINE
)

SuspectKey: TypeAlias = tuple[str, str, str]
"""Fault family (or `symptom`), what it belongs to, and the layer where a symptom shows."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One thing that may be at fault."""

    fault: FaultType | None
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
    """Whether the training speaks against it: it is listed as worth a look until a trial
    confirms it.
    """

    @property
    def key(self) -> SuspectKey:
        """What it is: no two suspects of one diagnosis have the same."""
        return _key(self.first)

    @property
    def first(self) -> Finding:
        return self.witnesses[0]

    @property
    def headline(self) -> Finding:
        """The witness to name: the surest whose rule is about this very fault, not one that
        infers it.
        """
        about = {one.code: one.study for one in all_detectors()}
        return next(
            (one for one in self.witnesses if about.get(one.code) is self.fault),
            self.first,
        )

    @property
    def in_a_line(self) -> str:
        """Its headline, with the place."""
        named = self.headline
        where = f" at {self.place}" if self.place is not None else ""
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

    `observed` are codes of rules that judge by what happened in the run. Where something is as good
    as proven from the program itself, it explains what happened, and suspects that only such rules
    name are less likely. Beside proof every hint is: while an output cannot express the labels,
    nobody can tell whether the learning rate is right. So is a hint where the training works, by
    its `health`, or has not `begun`: what is unusual there does no harm. Where it is not seen to
    fail, a hint alone is no finding.
    """
    groups: dict[SuspectKey, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    found = [
        _suspect(
            sorted(
                group,
                key=lambda one: -one.confidence,
            )
        )
        for group in groups.values()
    ]
    causes = [one for one in found if one.first.is_root_cause]
    if any(one.confidence >= PROVEN and not _only(one, observed) for one in causes):
        found = [
            _less(one) if _only(one, observed) and one.fault is not None else one for one in found
        ]
    if (
        health is Health.WORKS
        or not begun
        or any(one.certainty is Certainty.PROOF for one in causes)
    ):
        found = [_less(one) if one.certainty is Certainty.HINT else one for one in found]
    found = [replace(one, doubted=_spoken_against(one, health)) for one in found]
    return tuple(
        sorted(
            found,
            key=lambda one: (-one.confidence, one.first.code),
        )
    )


def _spoken_against(suspect: Suspect, health: Health) -> bool:
    """Whether a training that learns, or is not seen to fail, makes a suspect less likely than
    not.
    """
    shows = suspect.fault in SHOWS and suspect.first.code not in ABOUT_EVALUATION
    witnesses = suspect.witnesses
    return is_spoken_against(suspect.confidence, suspect.certainty, witnesses, health, shows=shows)


def _only(suspect: Suspect, codes: Collection[str]) -> bool:
    return all(finding.code in codes for finding in suspect.witnesses)


def _less(suspect: Suspect) -> Suspect:
    return replace(suspect, confidence=explained(suspect.confidence, suspect.certainty))


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
        if one.hyperparameter is not None:
            return 0
        return 2 if one.layer and not of_layer else 1

    placed = min((one for one in findings if one.place is not None), key=rank, default=first)
    layered = next(
        (one for one in findings if of_layer and one.layer_index is not None),
        first,
    )
    # What a witness measured tells more about a value than what another only infers.
    surest = sorted(
        findings,
        key=lambda one: list(Certainty).index(one.certainty),
    )
    suggested = (suggestion for one in surest for suggestion in one.suggestions)
    return Suspect(
        fault=first.fault,
        layer=layered.layer if of_layer else "",
        layer_index=layered.layer_index if of_layer else None,
        hyperparameter=next(
            (one.hyperparameter for one in findings if one.hyperparameter is not None),
            None,
        ),
        place=placed.place,
        witnesses=firsts(findings, lambda one: one.code),
        confidence=combined(findings),
        suggestions=firsts(suggested, lambda one: one.patch.to_text()),
    )


def firsts(
    things: Iterable[T],
    key: Callable[[T], Hashable],
) -> tuple[T, ...]:
    """The first thing with each key, in their order."""
    found: dict[Hashable, T] = {}
    for thing in things:
        found.setdefault(key(thing), thing)
    return tuple(found.values())


def unsuppressed(
    findings: Iterable[Finding],
    program: Program,
) -> tuple[Finding, ...]:
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
    own = (finding.name, finding.family)
    code = finding.code
    named = any(code.startswith(word.upper()) or word.lower() in own for word in words)
    return named or found["codes"] is None


def calibrated(suspect: Suspect) -> float:
    """How likely it is that this suspect is at fault, before anything was tried."""
    families = {finding.family for finding in suspect.witnesses}
    return sure_of(suspect.confidence, suspect.certainty, families, doubted=suspect.doubted)
