"""What a benchmark leaves for its page: one small JSON file, `results/NAME.json`, beside its full
result.

`python -m benchmarks pages` writes the tables of `docs/benchmarks` and of README from these files
alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

import click
from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmarks.children import ROOT
from benchmarks.identity import code_identity
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from reenact.demo import CASES as DEMO
from reenact.errors import InputError
from reenact.redact import redact

FOLDER = "results"
UNKNOWN = "unknown"
CASES = {
    "sandbox": ("hostile", "benign"),
    "probe": ("probe", "naive"),
    "repair": ("faults",),
    "effects": ("faults",),
    "trials": ("speed", "faults"),
    "lint": ("faults", "papers", "probe", "speed"),
    "cost": ("cost", "faults", "papers", "probe", "speed"),
    "web": (),
    "first": (),
    "reuse": (),
    "blind": (),
    "hypotheses": (),
}
"""By command: folders of cases, where it is not the one of its name. `web` makes its journals
itself, `first` runs examples/broken, `reuse` these and programs of `trainings`, `hypotheses` has its
cases next to it.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """One measurement, as its page shows it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    command: str
    """As it was started; a path stands there as DIR."""
    closing: str
    """The figures of the closing line."""
    commit: str = UNKNOWN
    code: str = UNKNOWN
    """A hash over the source of reenact and of the benchmarks."""
    cases: str = UNKNOWN
    """A hash over the cases."""
    machine: str = UNKNOWN
    day: str = UNKNOWN
    depth: str = ""
    taken_from: str = ""
    """Where the figures come from when no command wrote this file."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    goals: tuple[Goal, ...] = ()
    tables: tuple[Table, ...] = ()
    drawings: Mapping[str, str] = field(default_factory=dict)
    """File beside the page to what it shows."""

    @property
    def met(self) -> str:
        """How many of the goals."""
        judged = [goal for goal in self.goals if goal.met is not None]
        return (
            f"{sum(bool(goal.met) for goal in judged)} of {len(judged)}"
            if judged
            else "none judged"
        )


_RESULT = TypeAdapter(Result)
_PATH = re.compile(r"(?<![\w.])/\S+")
"""An absolute one, which names somebody's folders."""


def result_of(card: Scorecard) -> Result:
    """A score card with where, when and of what it is."""
    context = click.get_current_context(silent=True)
    asked = context.params if context is not None else {}
    benchmark = (context.info_name if context is not None else "") or ""
    return Result(
        name=card.name,
        command=command_line(context),
        closing=card.figures,
        commit=commit(),
        code=code_identity(),
        cases=card.cases or files_identity(*CASES.get(benchmark, (benchmark,))),
        machine=machine(),
        day=datetime.now(UTC).date().isoformat(),
        depth=str(asked.get("depth") or ""),
        figures=card.measured,
        goals=card.goals,
        tables=card.tables,
        drawings={f"{card.name}-{plot.name}.svg": plot.title for plot in card.plots},
    )


def write_result(result: Result, folder: Path) -> Path:
    """`NAME.json` there: one line a field, one a figure, goal and table."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result.name}.json"
    # Programs name the interpreter that ran them, which is where this machine keeps it.
    text = _text(asdict(result)).replace(sys.executable, "python")
    file.write_text(redact(text), encoding="utf-8")
    return file


def read_result(file: Path) -> Result:
    """Raises InputError."""
    try:
        return _RESULT.validate_python(json.loads(file.read_bytes()))
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(
            f"{file.name} is not a results file: {error}.",
            next_step="Give a file that a benchmark wrote: OUT/results/NAME.json.",
        ) from error


def _text(facts: Mapping[str, object]) -> str:
    lines = []
    for name, value in facts.items():
        if isinstance(value, dict) and value:
            entries = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items()]
            shown = "{\n  " + ",\n  ".join(entries) + "\n }"
        elif isinstance(value, list | tuple) and value:
            shown = "[\n  " + ",\n  ".join(json.dumps(one) for one in value) + "\n ]"
        else:
            shown = json.dumps(value)
        lines.append(f" {json.dumps(name)}: {shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def command_line(context: click.Context | None) -> str:
    """What was typed, without what is a default and without paths."""
    if context is None:
        return ""
    words = ["python -m benchmarks", context.info_name or ""]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name == "out" or value in (
            None,
            False,
            (),
            parameter.get_default(context),
        ):
            continue
        name = parameter.opts[-1] if isinstance(parameter, click.Option) else ""
        for one in value if isinstance(value, tuple) else (value,):
            shown = (
                ""
                if one is True
                else "DIR"
                if isinstance(one, Path)
                else _PATH.sub("DIR", str(one))
            )
            words += [word for word in (name, shown) if word]
    return " ".join(words)


def commit() -> str:
    """The commit of this checkout; none where it is no repository."""
    asked = (
        ["rev-parse", "--short=8", "HEAD"],
        ["status", "--porcelain", "--untracked-files=no"],
    )
    try:
        at, changed = (
            subprocess.run(  # noqa: S603
                ["git", *words],  # noqa: S607
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for words in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return f"{at} and changes" if changed else at


def machine() -> str:
    """The machine in a few words that name nobody."""
    cores = os.cpu_count() or 1
    memory = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    words = [
        f"{cores} {platform.machine()} cores",
        f"{memory} GB",
        platform.system(),
        f"Python {platform.python_version()}",
    ]
    for package in ("torch", "keras"):
        try:
            words.append(f"{package} {version(package).partition('+')[0]}")
        except PackageNotFoundError:
            continue
    return ", ".join([*words, *_gpus()])


def _gpus() -> list[str]:
    """As the driver names them, without importing torch; none where programs may not see them."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return []
    files = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    lines = [line for file in files for line in file.read_text(errors="replace").splitlines()]
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]


def files_identity(*shelves: str) -> str:
    """A hash over every file of these folders of cases, and over those of the demo that belong to
    them.

    Unknown where there is none: a folder that was moved must not look like one that is empty.
    """
    known, read = hashlib.sha256(), 0
    for shelf in shelves:
        for folder in (ROOT / "benchmarks" / "cases" / shelf, DEMO / shelf):
            files = (
                path
                for path in folder.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            )
            for file in sorted(files):
                read += 1
                known.update(
                    str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes() + b"\0"
                )
    return known.hexdigest() if read else UNKNOWN
