"""All files of the result, and the proof that repro.py itself exits as it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from reenact.bug.case import Case
from reenact.bug.reproduction import Reproduction
from reenact.bug.write.repro_file import repro_text
from reenact.journal import Kind, Scope

PROVEN = {"buggy": 1, "fixed": 0}
"""Exit codes of a repro.py that is as it should be."""
TEST = '''"""Passes when the bug does not show any more; skipped where the script cannot be run."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_bug_does_not_show():
    script = Path(__file__).with_name("repro.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout={wall_s:.0f})
    if done.returncode == 125:
        pytest.skip(f"repro.py could not be run: {{done.stderr[-500:]}}")
    assert done.returncode == 0, done.stderr[-2000:]
'''


def result_files(found: Reproduction, case: Case) -> dict[str, str]:
    """What is written but the report: nothing where nothing was shown."""
    if not found.script:
        return {}
    showing = found.showing
    shown = next((run for run in showing.runs if run.shows), None) if showing is not None else None
    made = {
        "repro.py": repro_text(
            found.script,
            case.symptom,
            title=found.title,
            functions=case.functions,
            roots=case.buggy.files.roots,
            seeded=case.runner.environment.seeded(found.script),
            outside=shown is not None and shown.seen.outside,
            seed=shown.seed if shown is not None else 0,
        ),
        "requirements.txt": "".join(f"{one}\n" for one in found.packages),
    }
    if case.options.pytest:
        made["test_repro.py"] = TEST.format(wall_s=case.options.wall_s)
    return made


def proof(case: Case, run: Scope, repro: str) -> dict[str, int]:
    """What repro.py exits with when it is run as the user will run it, by revision."""
    revisions = {"buggy": case.buggy} | ({"fixed": case.fixed} if case.fixed is not None else {})
    return {
        name: run.step(
            f"repro-{name}",
            partial(case.runner.exit_code, repro, revision),
            kind=Kind.BOX,
            inputs={
                "repro": repro,
                "revision": revision.identity,
                "environment": case.runner.environment.key,
                "limits": case.runner.bounds,
            },
        )
        for name, revision in revisions.items()
    }


def unproven(codes: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with these exit codes; nothing when all is well."""
    for name, code in codes.items():
        if code != PROVEN[name]:
            yield f"repro.py exits {code} on the {name} revision, expected {PROVEN[name]}."
