"""The code that is judged: the text files of a folder, within bounds, links not followed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from reenact.codegen.project import Project
from reenact.errors import InputError
from reenact.files import read_start

ENDINGS = (".py", ".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".sh")
NAMES = ("requirements.txt", "Dockerfile", "Makefile")
SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "env", "site-packages", "build", "dist"})
MOST_CHARACTERS = 240_000
"""Of all files together: what fits into a judge's prompt with its lines numbered."""
MOST_FILE = 100_000
MOST_FILES = 2_000


@dataclass(frozen=True, slots=True)
class Code:
    """What was read of a folder."""

    project: Project
    notes: tuple[str, ...]
    """What was left out, in words."""

    @property
    def python(self) -> dict[str, str]:
        return {name: text for name, text in self.project.files.items() if name.endswith(".py")}


def read_code(folder: Path) -> Code:
    """The code of a folder; shorter files first when it is more than a judge can read."""
    if not folder.is_dir():
        raise InputError(f"There is no folder of code at {folder}.")
    found: dict[str, str] = {}
    notes: list[str] = []
    for path in _paths(folder):
        name = path.relative_to(folder).as_posix()
        try:
            text = read_start(path, MOST_FILE + 1).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            notes.append(f"{name} is no readable text and was left out.")
            continue
        if len(text) > MOST_FILE:
            notes.append(f"{name} has more than {MOST_FILE} characters and was left out.")
            continue
        found[name] = text
    if not any(name.endswith(".py") and text.strip() for name, text in found.items()):
        raise InputError(f"The folder holds no Python code that can be judged. Received: {folder}")
    kept, left_out = _fitting(found)
    return Code(Project(kept), (*notes, *left_out))


def _paths(folder: Path) -> list[Path]:
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        files = [Path(here, name) for name in sorted(names) if name.endswith(ENDINGS) or name in NAMES]
        found += [path for path in files if not path.is_symlink() and path.is_file()]
        if len(found) > MOST_FILES:
            raise InputError(f"The folder {folder} holds more than {MOST_FILES} files of code.")
    return found


def _fitting(files: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    kept: dict[str, str] = {}
    room = MOST_CHARACTERS
    for name in sorted(files, key=lambda one: (not one.endswith(".py"), len(files[one]), one)):
        if len(files[name]) <= room:
            kept[name] = files[name]
            room -= len(files[name])
    gone = [
        f"{name} did not fit into {MOST_CHARACTERS} characters and was left out."
        for name in files
        if name not in kept
    ]
    return {name: kept[name] for name in sorted(kept)}, gone
