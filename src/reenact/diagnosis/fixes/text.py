"""The fix of a finding as the text alone shows it: the edit parses, and the detector is silent on the
edited text where it fired on the text before. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from reenact.diagnosis.fixes.spoken import Spoken, fires, objection
from reenact.errors import InputError, ReenactError
from reenact.faults.detector import Detector, run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.fix import DroppedFix, Fix, FixSafety, FixTried
from reenact.faults.page import page_of
from reenact.faults.registry import detector
from reenact.program.patch import Patch, unified_diff
from reenact.program.program import Program
from reenact.program.static_graph import static_graph

CHANGES_NOTHING = "it changes nothing"


def safety_of(code: str) -> FixSafety:
    """What the page of the detector's fault says of its fix; unsafe where it has no page."""
    try:
        return page_of(detector(code).fault).fix_safety
    except InputError:
        return FixSafety.UNSAFE


@dataclass(frozen=True)
class TextCheck:
    """Judges edits of one program by its text."""

    program: Program
    detectors: Sequence[Detector]

    @cached_property
    def before(self) -> Spoken:
        """What the text says without an edit."""
        return self._spoken(self.program)

    def _spoken(self, program: Program) -> Spoken:
        evidence = Evidence(program, static_graph(program))
        return Spoken.of(run_detectors(self.detectors, evidence))

    def objection(self, finding: Finding, patch: Patch) -> str:
        """Why an edit is not a fix; empty where the text speaks against it nowhere."""
        try:
            edited = patch.apply(self.program)
            if not unified_diff(self.program, edited):
                return CHANGES_NOTHING
            if not fires(finding, self.before):
                return ""
            return objection(finding, self.before, self._spoken(edited))
        except ReenactError as error:
            return error.sentence.rstrip(".")

    def fix(self, patch: Patch, finding: Finding, tried: FixTried, reason: str) -> Fix:
        """An edit as the fix of a finding."""
        return Fix(patch, patch.diff(self.program), safety_of(finding.code), tried, reason)

    def without_refused(self, finding: Finding) -> Finding:
        """The finding with each suggested edit dropped to which the text has an objection."""
        refused = [
            DroppedFix(one.patch, against)
            for one in finding.edits
            if (against := self.objection(finding, one.patch))
        ]
        return replace(finding, dropped_fixes=tuple(refused))

    def fixed(self, finding: Finding, tried: FixTried, reason: str = "") -> Finding:
        """The finding with the first suggested edit to which the text has no objection."""
        dropped = list(finding.dropped_fixes)
        known = {one.patch.to_text() for one in dropped}
        for suggestion in finding.edits:
            patch = suggestion.patch
            if patch.to_text() in known:
                continue
            against = self.objection(finding, patch)
            if not against:
                fix = self.fix(patch, finding, tried, reason)
                return replace(finding, fix=fix, dropped_fixes=tuple(dropped))
            dropped.append(DroppedFix(patch, against))
        return replace(finding, dropped_fixes=tuple(dropped))
