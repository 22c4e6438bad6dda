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

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashKind, CrashRule


class UnexplainedCrash(CrashRule):
    code, name, family = "RE910", "unexplained-crash", "reenact"
    kind, confidence = CrashKind.OTHER, 0.9
    why = "Whatever training was done until then is all there is."

    def check(self, evidence: Evidence) -> Findings:
        # A text that cannot be parsed never ran: there is no crash to explain, and nothing to judge.
        syntax = evidence.crash is not None and "SyntaxError" in (evidence.crash.type, *evidence.crash.bases)
        if evidence.program is not None and evidence.program.unparsed and syntax:
            return
        yield from self.crashed(evidence)
