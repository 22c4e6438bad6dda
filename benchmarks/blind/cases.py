"""The programs whose rewrites are compared, and their folders."""

from __future__ import annotations

import ast
import hashlib
import random
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.blind.rewrites.every import ALL, REWRITES
from benchmarks.blind.rewrites.text import Project, Source
from benchmarks.blind.warm.interpreter import needed
from benchmarks.children import ROOT
from benchmarks.dataset.runner import MODULES
from benchmarks.dataset.splits import splits, trainings_of
from benchmarks.dataset.training import TRAININGS, TRUTH, Training

EXAMPLES = ROOT / "examples" / "broken"
DATA = (".yaml", ".yml", ".json", ".toml")
PROGRAMS = 200
SEED = 38
LEFT_OUT = (TRUTH, "__pycache__", ".reenact")
NOT_TIMED_S = 15.0
"""What one training of an example is expected to take."""


@dataclass(frozen=True)
class Case:
    """One program, how it is started, and how it is rewritten."""

    name: str
    folder: Path
    words: tuple[str, ...]
    paths: tuple[str, ...]
    """Python files that are rewritten, relative to the folder."""
    rewrites: tuple[str, ...]
    training: Training | None = None
    """What is true of it; none of an example."""

    @property
    def seconds(self) -> float:
        """What one training takes."""
        return (self.training.seconds if self.training else 0.0) or NOT_TIMED_S

    def project(self, python: str = sys.executable) -> Project:
        """Its files, and an interpreter that has its packages."""
        files = {
            path: Source.of((self.folder / path).read_text(encoding="utf-8")) for path in self.paths
        }
        data = [
            path.read_text(encoding="utf-8")
            for path in sorted(self.folder.rglob("*"))
            if path.suffix in DATA and path.name != TRUTH
        ]
        return Project(files, "\n".join([*data, *self.words[1:]]), python)

    @property
    def modules(self) -> tuple[str, ...]:
        """The large packages that it imports."""
        imported = set()
        for path in self.paths:
            for node in ast.walk(ast.parse((self.folder / path).read_bytes())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module)
        return needed(imported)

    def copy(self, into: Path, project: Project | None = None) -> Path:
        """The folder in which it is started, with rewritten files."""
        target = into / "program"
        shutil.copytree(self.folder, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for path, source in (project.files if project else {}).items():
            (target / path).write_text(source.text, encoding="utf-8")
        return target

    @property
    def digest(self) -> str:
        """Over what is run and how."""
        known = hashlib.sha256(repr((self.words, self.rewrites)).encode())
        for path in self.paths:
            known.update(path.encode() + b"\0" + (self.folder / path).read_bytes())
        return known.hexdigest()[:16]


def examples() -> list[Case]:
    """Each program of examples/broken, by each rewrite alone and all at once."""
    return [
        Case(path.stem, EXAMPLES, (path.name,), (path.name,), (*REWRITES, ALL))
        for path in sorted(EXAMPLES.glob("*.py"))
    ]


def drawn(count: int = PROGRAMS, seed: int = SEED) -> list[Case]:
    """Opened programs of the data set, all rewrites at once.

    Not drawn: notebooks, foreign programs, and those whose packages are not installed.
    """
    trainings = [
        training
        for split in splits().values()
        if split.opened is not None
        for training in trainings_of(split)
        if training.foreign is None and not training.path.endswith(".ipynb")
    ]
    ordered = sorted(trainings, key=lambda training: training.id)
    # Before anything is left out: another machine with other packages draws the same ones.
    random.Random(seed).shuffle(ordered)  # noqa: S311 - a draw that everybody can repeat
    runnable = [training for training in ordered if _is_runnable(training)]
    return [of_training(training, (ALL,)) for training in runnable[:count]]


def _is_runnable(training: Training) -> bool:
    return all(find_spec(MODULES.get(name, name)) is not None for name in training.needs)


def of_training(training: Training, rewrites: tuple[str, ...]) -> Case:
    """A program of the data set."""
    folder = TRAININGS / training.id
    paths = tuple(
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.py"))
        if "__pycache__" not in path.parts
    )
    return Case(training.id, folder, training.words, paths, rewrites, training)
