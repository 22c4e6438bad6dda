"""Causes: the proven faults of a diagnosis, what would take each of them away, and whether a change
does. Faults of correctness are causes where they are likely: no number can make them surer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.pipeline import ending_of
from reenact.errors import PatchRefused
from reenact.faults.confidence import Word
from reenact.faults.correctness import is_of_correctness
from reenact.faults.finding import Finding
from reenact.faults.fix import FixTried
from reenact.faults.observation import Observes
from reenact.program.edit.change import Change, Insert, Rewrite, Set
from reenact.program.hyperparameter import HyperparameterId
from reenact.program.patch import Patch
from reenact.program.program import Program

MOST_FIXES = 3
"""Fixes of one fault that are tried."""


@dataclass(frozen=True, slots=True)
class ProvenFault:
    """A fault that a diagnosis proves, in short."""

    code: str
    """Of the detector."""
    name: str
    file: str
    line: int | None

    @property
    def words(self) -> str:
        """Its code, its name and where it is."""
        return f"{self.code} {self.name}{f' at {self.where}' if self.where else ''}"

    @property
    def where(self) -> str:
        return f"line {self.line} of {self.file}" if self.line is not None else self.file


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault and what would take it away, the likeliest first."""

    finding: Finding
    fixes: tuple[Patch, ...]

    @property
    def fault(self) -> ProvenFault:
        one = self.finding
        return ProvenFault(one.code, one.name, one.file, one.line)

    @property
    def is_proven(self) -> bool:
        return is_proven(self.finding)

    @property
    def is_of_correctness(self) -> bool:
        return is_of_correctness(self.finding)

    def is_silenced_by(self, patch: Patch) -> bool:
        """Whether the diagnosis has run this very change, and the detector was silent."""
        fix = self.finding.fix
        silent = fix is not None and fix.tried is FixTried.SILENT
        return silent and fix is not None and fix.patch == patch

    @property
    def mechanical(self) -> tuple[Patch, ...]:
        """Fixes that leave no number to choose: a search has nothing to add to them."""
        return tuple(one for one in self.fixes if all(map(_is_mechanical, one.changes)))


def causes_of(found: Diagnosis, program: Program) -> tuple[Cause, ...]:
    """What a diagnosis proves, and likely faults of correctness or with an edit of code that was seen to
    silence the detector; surest first, with the fixes that fit the program. A crash after the
    training is not one of its faults.
    """
    trains = ending_of(found.evidence) is not None
    wanted = (
        one
        for one in found.findings
        if (
            is_proven(one)
            or (one.is_root_cause and (is_of_correctness(one) or has_silent_edit(one)))
        )
        and not (trains and one.first.observes is Observes.CRASH)
    )
    return tuple(Cause(one, tuple(_fitting(fixes_of(one), program))) for one in wanted)


def is_proven(finding: Finding) -> bool:
    return finding.word is Word.PROVEN and finding.is_root_cause


def has_silent_edit(finding: Finding) -> bool:
    """Whether the diagnosis has run an edit of code that silences the detector."""
    fix = finding.fix
    if fix is None or fix.tried is not FixTried.SILENT:
        return False
    return all(isinstance(one, Rewrite) for one in fix.patch.changes)


def fixes_of(finding: Finding) -> tuple[Patch, ...]:
    """Changes that should take the fault away, the likeliest first: the one that was executed, then
    others that were not seen to fail. What a model wrote is not one: it runs in a sandbox only.
    """
    dropped = [one.patch.to_text() for one in finding.dropped_fixes]
    shown = [finding.fix.patch] if finding.fix is not None else []
    others = [one.patch for one in finding.edits if one.patch.to_text() not in dropped]
    known = {one.to_text(): one for one in (*shown, *others) if one and not one.is_code}
    return tuple(known.values())


def takes_away(patch: Patch, cause: Cause) -> bool:
    """Whether a change is about this very fault: it holds one of its fixes, or gives its
    hyperparameter another value.
    """
    changes = set(map(str, patch.changes))
    if any(set(map(str, fix.changes)) <= changes for fix in cause.fixes):
        return True
    own = cause.finding.hyperparameter
    return own is not None and own in {_turned(one) for one in patch.changes}


def whole_of(patches: Iterable[Patch]) -> Patch:
    """All of them as one change."""
    return sum(patches, Patch())


def fits(patch: Patch, program: Program) -> bool:
    try:
        patch.apply(program)
    except PatchRefused:
        return False
    return True


def _fitting(patches: Sequence[Patch], program: Program) -> Iterator[Patch]:
    found = 0
    for one in patches:
        if found < MOST_FIXES and fits(one, program):
            found += 1
            yield one


def _is_mechanical(change: Change) -> bool:
    if isinstance(change, Set):
        number = isinstance(change.value, int | float) and not isinstance(change.value, bool)
        return not number
    return True


def _turned(change: Change) -> HyperparameterId | None:
    if isinstance(change, Rewrite):
        return None
    return change.anchor if isinstance(change, Insert) else change.hyperparameter
