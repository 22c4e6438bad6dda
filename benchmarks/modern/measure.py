"""Diagnose every program of a half in a copy of its folder, one result a program, continued after a stop."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmarks.children import environment
from benchmarks.identity import code_identity
from benchmarks.modern.case import HERE, Half, ModernCase
from benchmarks.several import several
from reenact.types import Progress, Stop, Tell

MODULES = {"scikit-learn": "sklearn", "hydra-core": "hydra", "pyyaml": "yaml"}
"""Packages whose module has another name."""
LACKING = "packages"


@dataclass(frozen=True, slots=True)
class Named:
    """One thing that was named, with every place it was given."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    codes: tuple[str, ...]
    places: tuple[tuple[str, int, int], ...]
    """File name, first and last line."""
    confidence: float
    saw: str

    def __str__(self) -> str:
        where = f" {self.places[0][0]}:{self.places[0][1]}" if self.places else ""
        return f"{self.codes[0]}{where} ({self.confidence:.2f}): {self.saw}"


@dataclass(frozen=True, slots=True)
class ModernResult:
    """What a diagnosis says of one program, or why there is none."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    code: str
    """Which reenact: a hash over its source."""
    could_not_run: str = ""
    judgement: str = ""
    sentence: str = ""
    findings: tuple[Named, ...] = ()
    doubts: tuple[Named, ...] = ()
    symptoms: tuple[Named, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def started(self) -> bool:
        """Whether this machine has what the program needs."""
        return not self.could_not_run.startswith(LACKING)


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A program to be diagnosed."""

    case: ModernCase
    half: Half
    depth: str
    workers: int
    seconds: float


def measure_all(
    cases: Sequence[ModernCase],
    half: Half,
    kept: Path,
    *,
    depth: str,
    jobs: int,
    minutes: float,
    tell: Tell,
    stop: Stop,
) -> list[ModernResult]:
    """Every program that has no result of this reenact yet; those that are known count as they are."""
    folder = kept / f"{half}-{depth}-{code_identity('.')}"
    workers = max(1, (os.cpu_count() or 1) // jobs)
    found: dict[str, ModernResult] = {}
    wanted: dict[str, CaseRun] = {}
    for case in cases:
        known = _kept(folder / f"{case.id}.json")
        missing = [name for name in case.needs if find_spec(MODULES.get(name, name)) is None]
        if known is not None:
            found[case.id] = known
        elif missing:
            found[case.id] = replace(_blank(case), could_not_run=f"{LACKING}: {', '.join(missing)}")
        else:
            wanted[case.id] = CaseRun(case, half, depth, workers, 60 * minutes)
    expected = sum(2 * one.case.seconds + 15 for one in wanted.values()) / 60 / jobs
    tell(Progress("bench modern", 0, len(wanted), f"about {expected:.0f} minutes"))
    for made in several(wanted, run_case, what="bench modern", jobs=jobs, tell=tell, stop=stop):
        for name, result in made.items():
            found[name] = result
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.json").write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
    return [found[case.id] for case in cases]


def run_case(wanted: CaseRun, _stop: Stop) -> ModernResult:
    """One program, diagnosed in a copy of its folder that does not hold the truth."""
    case = wanted.case
    with tempfile.TemporaryDirectory(prefix="reenact-modern-") as scratch:
        folder = Path(scratch) / "programs"
        shutil.copytree(
            HERE / wanted.half, folder, ignore=shutil.ignore_patterns("truth.toml", "__pycache__")
        )
        task = {
            "words": case.words,
            "depth": wanted.depth,
            "seconds": wanted.seconds,
            "workers": wanted.workers,
            "runs": ".reenact",
        }
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.modern.inside"],
                input=json.dumps(task),
                capture_output=True,
                text=True,
                cwd=folder / case.folder,
                env=environment(KERAS_BACKEND="torch", MPLBACKEND="Agg", OMP_NUM_THREADS=str(wanted.workers)),
                timeout=wanted.seconds + 120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return replace(_blank(case), could_not_run="no diagnosis within its time")
    try:
        said = json.loads(ran.stdout.splitlines()[-1]) if ran.stdout.strip() else {}
        return _RESULT.validate_python({**asdict(_blank(case)), **said})
    except (ValueError, ValidationError):
        return replace(_blank(case), could_not_run=f"exit code {ran.returncode}: {ran.stderr[-500:]}")


def _blank(case: ModernCase) -> ModernResult:
    return ModernResult(case.id, code_identity("."))


def _kept(file: Path) -> ModernResult | None:
    try:
        return _RESULT.validate_python(json.loads(file.read_bytes()))
    except (OSError, ValueError, ValidationError):
        return None


_RESULT = TypeAdapter(ModernResult)
