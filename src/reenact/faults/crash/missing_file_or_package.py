"""CR06 missing-file-or-package

What
    The program needs a file or a package that is not there.
Why
    Another folder, machine or interpreter than the one it was written for.
Symptom
    The program ends before it has done anything.
Example
    from pathlib import Path
    from reenact.testing.toys import blobs

    x, y = blobs()
    print(len(x), Path("classes.txt").read_text().split())
Instead
      x, y = blobs()
    + Path("classes.txt").write_text("a b c")
Fix safety
    Safe: bring the file, correct the path, or install the package.
Sources
    Pimentel et al., "A Large-Scale Study about Quality and Reproducibility of Jupyter Notebooks", MSR
    2019.
"""

from pathlib import PurePath

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
from reenact.faults.facts.crash import crashed
from reenact.probe.crash import Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.outcome import OTHER_PYTHON, OutcomeKind, beside

FAULT = Fault(
    code="CR06",
    name="missing-file-or-package",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE906",
    "missing-file-or-package",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="It was written for another folder, machine or interpreter.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def missing_file_or_package(detector: Detector, evidence: Evidence) -> Findings:
    """The program needs a file or a package that is not there.

    Pimentel et al., "A Large-Scale Study about Quality and Reproducibility of Jupyter Notebooks",
    MSR 2019.
    """
    outcome = evidence.outcome
    crash = evidence.crash
    if outcome is not None and outcome.kind is OutcomeKind.NEEDS_PACKAGE and outcome.python:
        yield from crashed(
            detector,
            evidence,
            CrashKind.MISSING,
            f" in {outcome.python}. {OTHER_PYTHON[:-1]}",
        )
    elif crash is not None:
        yield from crashed(
            detector,
            evidence,
            CrashKind.MISSING,
            beside(crash),
            why=_why(crash),
        )


def _why(crash: Crash) -> str:
    """What a missing file follows from; empty where more is not known."""
    if crash.facts.empty_data:
        return (
            f"The data set {crash.facts.empty_data} has no rows: no file is where it looks for "
            f"them."
        )
    if not crash.missing_file and crash.facts.own:
        return "The program raised this exception itself, at this line."
    if crash.is_a("ModuleNotFoundError"):
        return ""
    if crash.missing_file and PurePath(crash.missing_file).is_absolute():
        return "The path was written for another machine: correct it."
    return (
        "A relative path counts from the current folder: start the program in its own, or correct "
        "it."
    )
