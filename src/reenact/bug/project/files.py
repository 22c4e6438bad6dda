"""The Python files of a checkout: where imports start, which module lies where, who defines a name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from reenact.files import read_text
from reenact.intake.repository import CHANGED, Checkout

SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "env", "build", "dist"})
SOURCE_FOLDERS = ("src", "lib", "python")
MOST_BYTES = 1 << 20
_DEFINITION = re.compile(r"^[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class ProjectFiles:
    """All Python files below a folder, by relative path."""

    folder: Path
    paths: tuple[PurePosixPath, ...]

    @cached_property
    def roots(self) -> tuple[PurePosixPath, ...]:
        """Folders that go on the import path, the outermost last so that `src` wins over the root."""
        tops = {path.parts[0] for path in self.paths if len(path.parts) > 1}
        nested = [name for name in SOURCE_FOLDERS if name in tops and not self._is_package(name)]
        return (*(PurePosixPath(name) for name in nested), PurePosixPath())

    @cached_property
    def modules(self) -> Mapping[str, PurePosixPath]:
        """Dotted name -> file, for every file that can be imported."""
        found: dict[str, PurePosixPath] = {}
        for root in reversed(self.roots):
            for path in self.paths:
                if path.is_relative_to(root):
                    found[_dotted(path.relative_to(root))] = path
        return found

    @cached_property
    def packages(self) -> frozenset[str]:
        """First parts of dotted names: what an import of this project starts with."""
        return frozenset(name.partition(".")[0] for name in self.modules)

    @cached_property
    def definitions(self) -> Mapping[str, tuple[PurePosixPath, ...]]:
        """Name of a function or class -> the files that define it."""
        found: dict[str, list[PurePosixPath]] = {}
        for path in self.paths:
            for name in set(_DEFINITION.findall(self.text(path))):
                found.setdefault(name, []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def text(self, path: PurePosixPath) -> str:
        """A file's text; empty when it is gone or too large to be code."""
        file = self.folder / path
        try:
            if file.is_symlink():
                return ""
            return read_text(file, MOST_BYTES, errors="replace")
        except OSError:
            return ""

    @cached_property
    def digest(self) -> str:
        """One name for the content of all files."""
        hashed = hashlib.sha256()
        for path in self.paths:
            hashed.update(f"{path}\0{self.text(path)}\0".encode("utf-8", "replace"))
        return hashed.hexdigest()[:40]

    def _is_package(self, name: str) -> bool:
        return PurePosixPath(name, "__init__.py") in self.paths


def project_files(folder: Path) -> ProjectFiles:
    """The Python files below a folder; links, hidden folders and environments are not looked into."""
    found: list[PurePosixPath] = []
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        below = PurePosixPath(Path(inner).relative_to(folder).as_posix())
        found += [below / name for name in sorted(names) if name.endswith(".py")]
    return ProjectFiles(folder, tuple(found))


def identity(checkout: Checkout, files: ProjectFiles) -> str:
    """What the journal knows a checkout by: its commit, or its content where there is no clean one."""
    return checkout.commit if checkout.commit and not checkout.commit.endswith(CHANGED) else files.digest


def _dotted(path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
