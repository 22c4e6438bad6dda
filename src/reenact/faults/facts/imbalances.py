"""Findings from the books: what does not balance, under the name of the fault that it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reenact.accounts import BookName, Entry
from reenact.faults.detector import Cure, Detector
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding, Findings
from reenact.faults.observation import Certainty
from reenact.program.layer_view import LayerView
from reenact.types import Place


def no_fixes(_place: Place | None) -> Sequence[Cure]:
    """Nothing mechanical."""
    return ()


def imbalances(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView | None = None,
    fixes: Callable[[Place | None], Sequence[Cure]] = no_fixes,
) -> Findings:
    """What does not balance and shows the fault of this detector, at this layer where there is one,
    else at the first of those that the entry is about: there other detectors see the same. `fixes` are
    the edits of code for a place.
    """
    for account in evidence.accounts:
        for entry in account.imbalances:
            if entry.fault == detector.fault.name:
                first = next((one for one in evidence.layers if one.name in entry.layers), None)
                yield _finding(detector, evidence, entry, layer or first, fixes(entry.place))


def unnamed_imbalances(detector: Detector, evidence: Evidence, book: BookName) -> Findings:
    """What does not balance in a book and shows no fault that has a name."""
    for account in evidence.accounts:
        for entry in account.imbalances if account.book is book else ():
            if not entry.fault:
                yield _finding(detector, evidence, entry).refined(why=entry.why)


def _finding(
    detector: Detector,
    evidence: Evidence,
    entry: Entry,
    layer: LayerView | None = None,
    fixes: Sequence[Cure] = (),
) -> Finding:
    return detector.finding(
        evidence,
        entry.sentence,
        layer=layer,
        fixes=fixes,
        place=entry.place,
        confidence=entry.confidence,
        certainty=Certainty.PROOF if entry.is_proof else None,
    )
