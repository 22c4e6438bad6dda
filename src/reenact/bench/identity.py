"""Which reenact is being measured: figures of another one are never taken for those of this one."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import reenact

SOURCES = (".py", ".json")
"""Programs, and what is said about them: the cases of a benchmark are part of what is measured."""


@lru_cache
def code_identity(*rooms: str) -> str:
    """A hash over the source of this reenact, or of those rooms alone that decide what is measured."""
    root = Path(reenact.__file__).parent
    told = hashlib.sha256()
    for room in rooms or (".",):
        for path in sorted(path for path in (root / room).rglob("*.*") if path.suffix in SOURCES):
            told.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return told.hexdigest()[:16]
