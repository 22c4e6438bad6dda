"""Outcomes of trainings on disk, for all repairs of one fault."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.identity import code_identity

TRAINING = ("trials", "probe")
"""Packages whose source decides what a training comes to; the program itself is in the key of
its outcome.
"""


def outcomes_folder(work: Path) -> Path:
    """Where outcomes of this reenact's trainings are kept; those of another one are removed."""
    mine = work / code_identity(*TRAINING)
    for old in work.glob("*") if work.is_dir() else ():
        if old != mine:
            shutil.rmtree(old, ignore_errors=True)
    return mine
