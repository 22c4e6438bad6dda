"""Which reenact is being measured: figures of another one are never taken for those of this one."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import reenact
from benchmarks.children import ROOT

SOURCES = (".py", ".json", ".toml")
"""Programs, the tables that they read, and what is stated about them: the cases of a benchmark are
part of what is measured.
"""


@lru_cache
def code_identity(*packages: str) -> str:
    """A hash over the source of this reenact, or of those packages alone that decide what is
    measured.
    """
    package, known = Path(reenact.__file__).parent, hashlib.sha256()
    for package_name in packages or (".", "benchmarks"):
        root = ROOT if package_name.startswith("benchmarks") else package
        for path in sorted(
            path for path in (root / package_name).rglob("*.*") if path.suffix in SOURCES
        ):
            known.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return known.hexdigest()[:16]
