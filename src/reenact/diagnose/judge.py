"""Judge evidence that is there already: ask the rules, gather suspects, accuse. Nothing is run."""

from __future__ import annotations

import time

from reenact.diagnose.diagnosis import Accusation, Diagnosis, Spent, Standing
from reenact.diagnose.suppress import unsuppressed
from reenact.diagnose.sureness import sureness
from reenact.diagnose.suspect import suspects_from
from reenact.diagnose.wishes import Wishes
from reenact.rules.evidence import Evidence
from reenact.rules.registry import chosen
from reenact.rules.rule import Needs, run_rules


def judged(evidence: Evidence, wishes: Wishes) -> Diagnosis:
    """What the rules say of this evidence; `wishes` choose the rules and the least confidence."""
    begun = time.monotonic()
    rules = chosen(wishes.select, wishes.ignore)
    findings = run_rules(rules, evidence)
    if evidence.program is not None:
        findings = unsuppressed(findings, evidence.program)
    watched = evidence.trace is not None
    observed = {rule.code for rule in rules if rule.needs & Needs.TRACE} if watched else ()
    suspects = suspects_from(findings, observed)
    accused = [Accusation(one, Standing.UNTRIED, sureness(one)) for one in suspects if one.first.accuses]
    return Diagnosis(
        depth=wishes.depth,
        evidence=evidence,
        accusations=tuple(one for one in accused if one.confidence >= wishes.threshold),
        doubts=tuple(one for one in accused if one.confidence < wishes.threshold),
        symptoms=tuple(one for one in suspects if not one.first.accuses),
        threshold=wishes.threshold,
        spent=Spent(time.monotonic() - begun),
    )
