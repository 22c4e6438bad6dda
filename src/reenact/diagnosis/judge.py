"""Judge evidence that is there already: ask the rules, gather suspects, accuse. Nothing is run."""

from __future__ import annotations

import time
from collections.abc import Sequence

from reenact.diagnosis.diagnosis import Accusation, Diagnosis, Spent, Standing
from reenact.diagnosis.judgement import probe_broke
from reenact.diagnosis.suppress import unsuppressed
from reenact.diagnosis.sureness import sureness
from reenact.diagnosis.suspect import suspects_from
from reenact.diagnosis.wishes import Wishes
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Finding
from reenact.rules.registry import chosen
from reenact.rules.rule import Needs, Rule, run_rules

FEW_STEPS = 3
"""Below this a run shows too little to contradict what the text proves."""


def judged(evidence: Evidence, wishes: Wishes) -> Diagnosis:
    """What the rules say of this evidence; `wishes` choose the rules and the least confidence."""
    begun = time.monotonic()
    rules = chosen(wishes.select, wishes.ignore)
    findings = rule_findings(rules, evidence)
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


def rule_findings(rules: Sequence[Rule], evidence: Evidence) -> tuple[Finding, ...]:
    """What the rules say; where the run shows too little, what the text alone proves is said as well."""
    found = run_rules(rules, evidence)
    if evidence.trace is None or not _shows_little(evidence):
        return found
    known = {one.code for one in found}
    of_the_text = run_rules(rules, Evidence(evidence.program, evidence.static))
    return (*found, *(one for one in of_the_text if one.code not in known))


def _shows_little(evidence: Evidence) -> bool:
    """A trace that the probe broke off, or that ended after a step or two."""
    assert evidence.trace is not None
    return probe_broke(evidence) or evidence.trace.step_count < FEW_STEPS
