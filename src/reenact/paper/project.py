"""The generated project: text files by name, never changed in place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

ENTRY = "train.py"
"""What runs the experiment: `python train.py --seed N [--dry-run]`, writing metrics.json."""
METRICS = "metrics.json"
"""What a run leaves: a flat object of metric names and numbers."""


@dataclass(frozen=True)
class Project:
    """All files of one version of the code."""

    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The same for the same files."""
        mark = hashlib.sha256()
        for name in sorted(self.files):
            mark.update(f"{name}\0{self.files[name]}\0".encode("utf-8", "replace"))
        return mark.hexdigest()[:16]

    def changed(self, files: Mapping[str, str]) -> Project:
        """With these files written."""
        return Project({**self.files, **files})

    def text(self) -> str:
        """All files with their lines numbered, as a model sees them."""
        return "\n\n".join(f"=== {name}\n{numbered(self.files[name])}" for name in sorted(self.files))


def numbered(text: str) -> str:
    """A text with its lines numbered."""
    return "\n".join(f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), start=1))
