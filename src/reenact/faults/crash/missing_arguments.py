"""CR12 missing-arguments

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
    code="CR12",
    name="missing-arguments",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE912",
    "missing-arguments",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The program does not accept this command line.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def missing_arguments(detector: Detector, evidence: Evidence) -> Findings:
    """The program ended itself because its command line lacks an argument, or has one that it does
    not take.

    Documentation of argparse (ArgumentParser.error) and of click (UsageError).
    """
    crash = evidence.crash
    if crash is None:
        return
    missing = crash.facts.missing_arguments
    position = crash.facts.argument
    if position is not None:
        given = len(evidence.program.launch.arguments) if evidence.program is not None else 0
        line = command(evidence, after=_placeholders(position - given))
        why = (
            f"The program reads sys.argv[{position}], and {_counted(given)}. Start it with: {line}"
        )
        yield from crashed(detector, evidence, CrashKind.ARGUMENTS, why=why)
    elif missing:
        line = command(evidence, after=" ".join(missing))
        yield from crashed(
            detector,
            evidence,
            CrashKind.ARGUMENTS,
            why=f"The program requires arguments. Start it with: {line}",
        )
    else:
        yield from crashed(detector, evidence, CrashKind.ARGUMENTS)


def _counted(given: int) -> str:
    return f"{given} argument{'' if given == 1 else 's'} {'was' if given == 1 else 'were'} given"


def _placeholders(count: int) -> str:
    if count <= 1:
        return "ARGUMENT"
    return " ".join(f"ARGUMENT_{number}" for number in range(1, count + 1))
