"""RE906 missing-file-or-package

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

from reenact.probe.crash import Crash
from reenact.probe.outcome import OTHER_PYTHON, OutcomeKind, beside
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_kind import CrashKind


class MissingFileOrPackage(CrashRule):
    code, name, family = "RE906", "missing-file-or-package", "reenact"
    kind = CrashKind.MISSING
    why = "It was written for another folder, machine or interpreter."

    def check(self, evidence: Evidence) -> Findings:
        outcome, crash = evidence.outcome, evidence.crash
        if outcome is not None and outcome.kind is OutcomeKind.NEEDS_PACKAGE and outcome.python:
            yield from self.crashed(evidence, f" in {outcome.python}. {OTHER_PYTHON[:-1]}")
        elif crash is not None:
            yield from self.crashed(evidence, beside(crash), why=_why(crash))


def _why(crash: Crash) -> str:
    """What a missing file follows from; empty where more is not known."""
    if crash.facts.empty_data:
        return f"The data set {crash.facts.empty_data} has no rows: no file is where it looks for them."
    if not crash.missing_file and crash.facts.own:
        return "The program raised this exception itself, at this line."
    if crash.is_a("ModuleNotFoundError"):
        return ""
    if crash.missing_file and PurePath(crash.missing_file).is_absolute():
        return "The path was written for another machine: correct it."
    return "A relative path counts from the current folder: start the program in its own, or correct it."
