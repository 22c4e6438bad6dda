"""CR10 unexplained-crash

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

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.crash import command, crashed
from reenact.probe.crash import CrashFacts
from reenact.probe.crash_kind import CrashKind

FAULT = Fault(
    code="CR10",
    name="unexplained-crash",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE910",
    "unexplained-crash",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The program crashed here; only the steps before were seen.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def unexplained_crash(detector: Detector, evidence: Evidence) -> Findings:
    """The program ended with an exception that no other rule knows.

    The program's own traceback.
    """
    # A text that cannot be parsed never ran: there is no crash to explain, and nothing to judge.
    syntax = evidence.crash is not None and "SyntaxError" in (
        evidence.crash.type,
        *evidence.crash.bases,
    )
    if evidence.program is not None and evidence.program.unparsed and syntax:
        return
    facts = evidence.crash.facts if evidence.crash is not None else CrashFacts()
    if facts.variable:
        setting = f"{facts.variable}=VALUE {command(evidence)}"
        why = f"The environment variable {facts.variable} is not set. Set it: {setting}"
        yield from crashed(detector, evidence, CrashKind.OTHER, why=why)
    elif facts.own:
        yield from crashed(
            detector,
            evidence,
            CrashKind.OTHER,
            why="The program raised this exception itself, at this line.",
        )
    elif facts.of_none:
        why = "The value is None here: what should have returned it returns nothing."
        yield from crashed(detector, evidence, CrashKind.OTHER, why=why)
    elif facts.keys:
        yield from crashed(
            detector,
            evidence,
            CrashKind.OTHER,
            why=f"There is no such key, there are: {', '.join(facts.keys)}.",
        )
    else:
        yield from crashed(detector, evidence, CrashKind.OTHER)
