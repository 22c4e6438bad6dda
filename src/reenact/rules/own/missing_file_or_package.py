"""RE906 missing-file-or-package."""

from __future__ import annotations

from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._crash import CrashKind, crash_findings


class MissingFileOrPackage(Rule):
    """RE906 missing-file-or-package

    What
        The program needs a file or a package that is not there.
    Why
        Paths and environments of one machine are seldom those of another.
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

    code, name, family, fault = "RE906", "missing-file-or-package", "reenact", None
    needs = Needs.CRASH
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.95
    certainty = Certainty.PROOF
    why = "Paths and environments of one machine are seldom those of another."

    def check(self, evidence: Evidence) -> Findings:
        yield from crash_findings(self, evidence, CrashKind.MISSING)
