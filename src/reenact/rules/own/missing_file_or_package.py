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

from reenact.probe.outcome import OTHER_PYTHON, OutcomeKind
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashKind, CrashRule


class MissingFileOrPackage(CrashRule):
    code, name, family = "RE906", "missing-file-or-package", "reenact"
    kind = CrashKind.MISSING
    why = "It was written for another folder, machine or interpreter."

    def check(self, evidence: Evidence) -> Findings:
        outcome = evidence.outcome
        lacks = outcome.python if outcome and outcome.kind is OutcomeKind.NEEDS_PACKAGE else ""
        yield from self.crashed(evidence, f" in {lacks}. {OTHER_PYTHON[:-1]}" if lacks else "")
