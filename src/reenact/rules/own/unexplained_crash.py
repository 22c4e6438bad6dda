"""RE910 unexplained-crash

What
    The program ended with an exception that no other rule knows.
Why
    The program crashed there; only the steps before it were seen.
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

from reenact.probe.crash import CrashFacts
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule, command
from reenact.rules.own._crash_kind import CrashKind


class UnexplainedCrash(CrashRule):
    code, name, family = "RE910", "unexplained-crash", "reenact"
    kind, confidence = CrashKind.OTHER, 0.9
    why = "The program crashed here; only the steps before were seen."

    def check(self, evidence: Evidence) -> Findings:
        # A text that cannot be parsed never ran: there is no crash to explain, and nothing to judge.
        syntax = evidence.crash is not None and "SyntaxError" in (evidence.crash.type, *evidence.crash.bases)
        if evidence.program is not None and evidence.program.unparsed and syntax:
            return
        facts = evidence.crash.facts if evidence.crash is not None else CrashFacts()
        if facts.variable:
            setting = f"{facts.variable}=VALUE {command(evidence)}"
            why = f"The environment variable {facts.variable} is not set. Set it: {setting}"
            yield from self.crashed(evidence, why=why)
        elif facts.own:
            yield from self.crashed(evidence, why="The program raised this exception itself, at this line.")
        elif facts.of_none:
            why = "The value is None here: what should have returned it returns nothing."
            yield from self.crashed(evidence, why=why)
        elif facts.keys:
            yield from self.crashed(
                evidence, why=f"There is no such key, there are: {', '.join(facts.keys)}."
            )
        else:
            yield from self.crashed(evidence)
