"""Modules of the benchmarks as processes of their own, from whatever folder they are started."""

from __future__ import annotations

import os
from pathlib import Path

from reenact.demo import CASES as DEMO
from reenact.own_process import own_environment

ROOT = Path(__file__).parents[1]
"""The checkout: the benchmarks are not installed."""


def demo_cases(kind: str) -> list[Path]:
    """The cases of the demo, which are cases of the benchmarks of this kind too."""
    return sorted((DEMO / kind).iterdir())


def environment(**more: str) -> dict[str, str]:
    """The environment in which such a process finds the benchmarks."""
    base = own_environment()
    path = os.pathsep.join(filter(None, [str(ROOT), base.get("PYTHONPATH", "")]))
    return {**base, "PYTHONPATH": path, **more}
