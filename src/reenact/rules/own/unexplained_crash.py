"""RE910 unexplained-crash."""

from __future__ import annotations

from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._crash import CrashKind, crash_findings


class UnexplainedCrash(Rule):
    """RE910 unexplained-crash

    What
        The program ended with an exception that no other rule knows.
    Why
        Whatever training was done until then is all there is.
    Symptom
        A traceback.
    Example
        history = {"loss": [0.5, 0.4], "accuracy": [0.7, 0.8]}
        print("accuracy", history["acc"][-1])
    Instead
        - print("accuracy", history["acc"][-1])
        + print("accuracy", history["accuracy"][-1])
    Fix safety
        There is nothing to change automatically: the place says where.
    Sources
        The program's own traceback.
    """

    code, name, family, fault = "RE910", "unexplained-crash", "reenact", None
    needs = Needs.CRASH
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.PROOF
    why = "Whatever training was done until then is all there is."

    def check(self, evidence: Evidence) -> Findings:
        # A text that cannot be parsed never ran: there is no crash to explain, and nothing to judge.
        if evidence.program is not None and evidence.program.unparsed and _is_syntax_error(evidence):
            return
        yield from crash_findings(self, evidence, CrashKind.OTHER)


def _is_syntax_error(evidence: Evidence) -> bool:
    crash = evidence.outcome.crash if evidence.outcome is not None else None
    return crash is not None and "SyntaxError" in (crash.type, *crash.bases)
