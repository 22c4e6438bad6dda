"""The fix that each fault's page shows: what the tool makes of the page's own Example.

`python scripts/fault_fixes.py [FAULT ...]` runs the examples, a few seconds each, and writes the fixes into
the package; faults are named as in `reenact rules`. `tests/faults/test_every_fix.py` compares them.
"""

from __future__ import annotations

import json
import sys

from reenact.faults.entry import FaultEntry
from reenact.faults.page import SHOWN, ShownFix, page_of, shown_fixes
from reenact.faults.registry import all_faults, detectors_of
from reenact.testing.faults import with_fixes


def fix_of(fault: FaultEntry) -> ShownFix | None:
    """The fix of the first finding on a page's Example; none where no edit is suggested, or none does."""
    example = page_of(fault).sections["Example"]
    for detector in detectors_of(fault):
        for finding in with_fixes(detector, example, run=True):
            if finding.fix is not None:
                return ShownFix(finding.fix.diff, finding.fix.tried.value)
    return None


def main(names: list[str]) -> None:
    """Write the fixes of these faults, or of all."""
    shown = dict(shown_fixes())
    for fault in all_faults():
        if names and fault.name not in names:
            continue
        shown.pop(fault.name, None)
        fix = fix_of(fault)
        if fix is not None:
            shown[fault.name] = fix
        print(f"{fault.name}: {fix.tried if fix is not None else 'no fix'}", flush=True)
        data = {name: one._asdict() for name, one in sorted(shown.items())}
        SHOWN.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
