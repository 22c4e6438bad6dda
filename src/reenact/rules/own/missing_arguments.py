"""RE912 missing-arguments

What
    The program ended itself because its command line lacks an argument, or has one that it does not take.
Why
    Its parser (argparse, click) requires arguments.
Symptom
    A usage message and exit code 2.
Example
    import argparse
    from reenact.testing.toys import blobs

    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, required=True)
    x, y = blobs()
    print(x[: parser.parse_args().rows])
Instead
    - parser.add_argument("--rows", type=int, required=True)
    + parser.add_argument("--rows", type=int, default=10)
Fix safety
    Safe: give the arguments.
Sources
    Documentation of argparse (ArgumentParser.error) and of click (UsageError).
"""

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule, command
from reenact.rules.own._crash_kind import CrashKind


class MissingArguments(CrashRule):
    code, name, family = "RE912", "missing-arguments", "reenact"
    kind = CrashKind.ARGUMENTS
    why = "The program does not accept this command line."

    def check(self, evidence: Evidence) -> Findings:
        missing = evidence.crash.facts.missing_arguments if evidence.crash is not None else ()
        if missing:
            line = command(evidence, after=" ".join(missing))
            yield from self.crashed(evidence, why=f"The program requires arguments. Start it with: {line}")
        else:
            yield from self.crashed(evidence)
