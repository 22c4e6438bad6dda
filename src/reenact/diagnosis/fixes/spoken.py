"""What the detectors say of a program, and whether an edit silences the one that it is made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reenact.faults.finding import Finding
from reenact.faults.observation import Certainty


@dataclass(frozen=True, slots=True)
class Spoken:
    """Detectors that fired on a program, by their codes."""

    times: Mapping[str, int] = field(default_factory=Counter)
    proven: frozenset[str] = frozenset()
    """Those whose observation is proof."""

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Spoken:
        """What these findings rest on."""
        seen = [observation for one in findings for observation in one.observations]
        return cls(
            Counter(one.code for one in seen),
            frozenset(one.code for one in seen if one.certainty is Certainty.PROOF),
        )


def codes_of(finding: Finding) -> tuple[str, ...]:
    """The detectors that have to fall silent: the one that names the finding, and each whose
    observation is proof.
    """
    proven = (one.code for one in finding.observations if one.certainty is Certainty.PROOF)
    return tuple(dict.fromkeys((finding.code, *proven)))


def fires(finding: Finding, spoken: Spoken) -> bool:
    """Whether the detector that names a finding fires at all: else its silence shows nothing."""
    return bool(spoken.times.get(finding.code))


def objection(finding: Finding, before: Spoken, after: Spoken) -> str:
    """Why an edit is not a fix, by what the detectors say after it; empty where it is one."""
    for code in codes_of(finding):
        times = before.times.get(code, 0)
        # A fault at two lines is fixed at one of them.
        if times and after.times.get(code, 0) >= times:
            return f"{code} still fires"
    if new := sorted(after.proven - set(before.times)):
        return f"{new[0]} fires with it"
    return ""
