"""RE907 missing-name

What
    The program uses a name, or an argument, that the installed version of a library does not have.
Why
    Libraries rename and remove: `np.float` went with NumPy 1.24, `nb_epoch` with Keras 2.
Symptom
    The program ends with an AttributeError, an ImportError, a NameError, or a TypeError about an
    argument, often before it has trained at all.
Example
    import numpy as np
    from reenact.testing.toys import blobs

    x, y = blobs()
    print(np.asarray(x).astype(np.float).mean())
Instead
    - print(np.asarray(x).astype(np.float).mean())
    + print(np.asarray(x).astype(float).mean())
Fix safety
    Safe: use the name that the installed version has, or install the version that the program was
    written for.
Sources
    NumPy 1.24.0 release notes, "Expired deprecations".
"""

from reenact.probe.crash import PROGRAM
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_kind import CrashKind


class MissingName(CrashRule):
    code, name, family = "RE907", "missing-name", "reenact"
    kind = CrashKind.NAME
    why = "The installed version of a library does not have what the program asks it for."

    def check(self, evidence: Evidence) -> Findings:
        crash = evidence.crash
        if crash is None:
            return
        facts = crash.facts
        if crash.is_a("NameError"):
            yield from self.crashed(
                evidence, why="The program uses a name that it does not define or import."
            )
            return
        if facts.subject == PROGRAM:
            yield from self.crashed(evidence, why="The program's own module does not have this name.")
            return
        if crash.is_a("UnpicklingError"):
            why = "torch 2.6 and later load weights only: pass weights_only=False for a file that you trust."
            yield from self.crashed(evidence, why=why)
            return
        package = facts.subject or facts.by
        version = facts.versions.get(package, "")
        more = f"; {package} {version} is installed" if version else ""
        yield from self.crashed(evidence, more)
