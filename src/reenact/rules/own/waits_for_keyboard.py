"""RE911 waits-for-keyboard

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

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule, command
from reenact.rules.own._crash_kind import CrashKind


class WaitsForKeyboard(CrashRule):
    code, name, family = "RE911", "waits-for-keyboard", "reenact"
    kind = CrashKind.KEYBOARD
    why = "The program asks for keyboard input, and there is none."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.crash is not None and evidence.crash.is_a("BdbQuit"):
            why = "The debugger waits for keyboard input, and there is none: remove breakpoint()."
            yield from self.crashed(evidence, why=why)
            return
        piped = f"{command(evidence)} < answers.txt"
        yield from self.crashed(
            evidence, why=f"{self.why} Give the answers in a file ({piped}), or pass arguments."
        )
