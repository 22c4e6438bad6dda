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
        crash = evidence.crash
        if crash is None:
            return
        missing, position = crash.facts.missing_arguments, crash.facts.argument
        if position is not None:
            given = len(evidence.program.launch.arguments) if evidence.program is not None else 0
            line = command(evidence, after=_placeholders(position - given))
            why = f"The program reads sys.argv[{position}], and {_counted(given)}. Start it with: {line}"
            yield from self.crashed(evidence, why=why)
        elif missing:
            line = command(evidence, after=" ".join(missing))
            yield from self.crashed(evidence, why=f"The program requires arguments. Start it with: {line}")
        else:
            yield from self.crashed(evidence)


def _counted(given: int) -> str:
    return f"{given} argument{'' if given == 1 else 's'} {'was' if given == 1 else 'were'} given"


def _placeholders(count: int) -> str:
    if count <= 1:
        return "ARGUMENT"
    return " ".join(f"ARGUMENT_{number}" for number in range(1, count + 1))
