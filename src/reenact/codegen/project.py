"""The generated project: text files by name, never changed in place; and what is wrong with one.

Its contract, as docs/developing.md explains it: `python train.py --seed N [--dry-run] [--scale S]`
runs the experiment and leaves metrics.json; `data.py` gives a mini-batch, `model.py` a model and
its loss.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from reenact.codegen.syntax import parsed
from reenact.llm.prompts import steady

ENTRY = "train.py"
"""What runs the experiment: `python train.py --seed N [--dry-run] [--scale S]`, writing
metrics.json.
"""
METRICS = "metrics.json"
"""What a run leaves: a flat object of metric names and numbers."""
DATA = "data.py"
MODEL = "model.py"
EXPECTED = (
    "config.py",
    DATA,
    MODEL,
    ENTRY,
    "evaluate.py",
    "reproduce.sh",
    "README.md",
    "requirements.txt",
)
"""Files that every finished project has."""
SUFFIXES = (
    ".py",
    ".sh",
    ".md",
    ".txt",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".cfg",
    ".ini",
    ".csv",
)
LONGEST_FILE = 200_000
MOST_FILES = 60
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Project:
    """All files of one version of the code."""

    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The same for the same files."""
        mark = hashlib.sha256()
        for name in sorted(self.files):
            mark.update(
                f"{name}\0{self.files[name]}\0".encode(
                    "utf-8",
                    "replace",
                )
            )
        return mark.hexdigest()[:16]

    def changed(self, files: Mapping[str, str]) -> Project:
        """With these files written."""
        return Project(
            {
                **self.files,
                **files,
            }
        )

    def without(self, *names: str) -> Project:
        """With these files gone."""
        return Project({name: text for name, text in self.files.items() if name not in names})

    def text(self) -> str:
        """All files with their lines numbered, as a model sees them."""
        return "\n\n".join(
            f"=== {name}\n{numbered(self.files[name])}" for name in sorted(self.files)
        )

    @property
    def python(self) -> dict[str, str]:
        """The Python files, by name."""
        return {name: self.files[name] for name in sorted(self.files) if name.endswith(".py")}

    @property
    def modules(self) -> frozenset[str]:
        """Top-level names under which the project's own Python files are imported."""
        return frozenset(name.partition("/")[0].removesuffix(".py") for name in self.python)

    def trees(self) -> dict[str, ast.Module]:
        """The Python files that parse, read."""
        read = {name: parsed(text) for name, text in self.python.items()}
        return {name: tree for name, tree in read.items() if tree is not None}

    def lines_changed(self, before: Project) -> int:
        """Lines that differ from another version: removed ones and new ones."""
        total = 0
        for name in {*self.files, *before.files}:
            old = before.files.get(name, "").splitlines()
            new = self.files.get(name, "").splitlines()
            for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                total += (j - i) + (m - k) if kind != "equal" else 0
        return total


def numbered(text: str) -> str:
    """A text with its lines numbered."""
    return "\n".join(
        f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), start=1)
    )


def check_name(name: str) -> None:
    """Whether a file of the project may be called so. Raises ValueError in words for the model."""
    parts = name.split("/")
    if not 1 <= len(parts) <= 4 or not all(_NAME.fullmatch(part) for part in parts):
        why = f"{name!r} is not a name of a project file: use letters, digits, _ and -, no dots first."
        raise ValueError(why)
    if PurePosixPath(name).suffix not in SUFFIXES:
        raise ValueError(
            f"{name!r} is not a text file of a project; it may end in {', '.join(SUFFIXES)}."
        )
    if PurePosixPath(name).name == METRICS:
        raise ValueError(f"{METRICS} is what a run leaves; it is never written by hand.")


_FIGURE = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where."""

    where: str
    """The check that objects, as its pipeline names it: `static analysis`, `training on one
    batch`.
    """
    sentence: str
    file: str = ""
    """Empty for code of one file, or when it is about the whole project."""
    line: int = 0
    """0 when it is about the whole file or project."""
    output: str = ""
    """The end of what the run printed, where there was one."""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        where = f"{self.file}{line}" if self.file else line.replace(":", "line ")
        if where:
            return f"{where}: {self.sentence}"
        return self.sentence

    @property
    def signature(self) -> str:
        """The same for the same mistake: without folders, times, addresses and numbers."""
        return _FIGURE.sub(
            "N",
            steady(f"{self.where}|{self.file}|{self.sentence}"),
        )[:600]


def problems_text(problems: tuple[Problem, ...]) -> str:
    """Problems as a model sees them."""
    return "\n".join(f"- while {one.where}: {one}" for one in problems) or "none"


def last_output(problems: tuple[Problem, ...]) -> str:
    """What the failed run printed last."""
    return (
        next(
            (one.output for one in problems if one.output),
            "",
        )
        or "nothing"
    )
