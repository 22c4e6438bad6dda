"""Where the places of a trace count from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Root:
    """The folder of a program, and files that ran under another name (a notebook runs as a script)."""

    folder: Path
    renamed: Mapping[str, PurePosixPath] = field(default_factory=dict)
    seen_as: str = ""
    """Where the program itself saw the folder, when it ran in a box."""

    def name(self, file: str) -> PurePosixPath:
        """The name a reader knows a file by."""
        if file in self.renamed:
            return self.renamed[file]
        path = Path(file)
        for folder in (self.seen_as, str(self.folder), str(self.folder.resolve())):
            if folder and path.is_relative_to(folder):
                return PurePosixPath(path.relative_to(folder))
        return PurePosixPath(path)
