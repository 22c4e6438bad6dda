"""CR07 missing-name

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
from reenact.probe.crash import PROGRAM
from reenact.probe.crash_kind import CrashKind

FAULT = Fault(
    code="CR07",
    name="missing-name",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE907",
    "missing-name",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The installed version of a library does not have what the program asks it for.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def missing_name(detector: Detector, evidence: Evidence) -> Findings:
    """The program uses a name, or an argument, that the installed version of a library does not
    have.

    NumPy 1.24.0 release notes, "Expired deprecations".
    """
    crash = evidence.crash
    if crash is None:
        return
    facts = crash.facts
    if crash.is_a("NameError"):
        yield from crashed(
            detector,
            evidence,
            CrashKind.NAME,
            why="The program uses a name that it does not define or import.",
        )
        return
    if facts.subject == PROGRAM:
        yield from crashed(
            detector,
            evidence,
            CrashKind.NAME,
            why="The program's own module does not have this name.",
        )
        return
    if crash.is_a("UnpicklingError"):
        why = (
            "torch 2.6 and later load weights only: pass weights_only=False for a file that you "
            "trust."
        )
        yield from crashed(detector, evidence, CrashKind.NAME, why=why)
        return
    package = facts.subject or facts.by
    version = facts.versions.get(package, "")
    more = f"; {package} {version} is installed" if version else ""
    yield from crashed(detector, evidence, CrashKind.NAME, more)
