"""CR11 waits-for-keyboard

What
    The program asks its user something with `input()`, and there is nobody who answers.
Why
    A watched program runs without a keyboard where reenact has none: in the background, in CI, started from
    a page, or with an input that has ended.
Symptom
    EOFError at `input()`.
Example
    import sys

    sys.stdin = open("/dev/null")
    epochs = int(input("epochs: "))
    print(epochs)
Instead
    - epochs = int(input("epochs: "))
    + epochs = 10
Fix safety
    Safe: answer from a file, or take the values from the command line.
Sources
    Documentation of Python, built-in function input.
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
from reenact.probe.crash_kind import CrashKind

FAULT = Fault(
    code="CR11",
    name="waits-for-keyboard",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE911",
    "waits-for-keyboard",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The program asks for keyboard input, and there is none.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def waits_for_keyboard(detector: Detector, evidence: Evidence) -> Findings:
    """The program asks its user something with `input()`, and there is nobody who answers.

    Documentation of Python, built-in function input.
    """
    if evidence.crash is not None and evidence.crash.is_a("BdbQuit"):
        why = "The debugger waits for keyboard input, and there is none: remove breakpoint()."
        yield from crashed(detector, evidence, CrashKind.KEYBOARD, why=why)
        return
    piped = f"{command(evidence)} < answers.txt"
    yield from crashed(
        detector,
        evidence,
        CrashKind.KEYBOARD,
        why=f"{detector.why} Give the answers in a file ({piped}), or pass arguments.",
    )
