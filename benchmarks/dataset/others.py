"""`python -m benchmarks trainings --others`: tools of today, each attached to the same programs.

A tool is attached by `cases/attach/sitecustomize.py` in the program's own process, by the tool's
own advice. A program counts for it where it could be attached: these are tools for PyTorch, and
some programs train by Keras. A fault is named where a rule speaks of it by `others.toml`; no place
is asked for, since the tools give none in the program's source.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmarks.children import ROOT, environment
from benchmarks.dataset.lock import digest_of_all
from benchmarks.dataset.own import copy_of
from benchmarks.dataset.runner import MODULES, WHAT
from benchmarks.dataset.splits import Split
from benchmarks.dataset.training import Training
from benchmarks.identity import code_identity
from benchmarks.scorecard import Figure, Scorecard, Table
from benchmarks.several import several
from benchmarks.share import Share
from reenact.program.syntax.notebook import read_notebook
from reenact.types import Progress, Stop, Tell

ATTACH = ROOT / "benchmarks" / "cases" / "attach"
TOOLS = Path(__file__).with_name("others.toml")
MOST_SHOWN = 3
"""Rules of one tool on one program that a table names."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Another tool: which of its levels count, and which faults its rules speak of."""

    name: str
    about: str
    module: str
    counted: tuple[str, ...]
    errors: tuple[str, ...]
    """Levels that call something wrong for sure."""
    left_out: tuple[str, ...]
    says: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class OtherFinding:
    """One thing that a tool reports."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    rule: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherResult:
    """What one tool reports on one program."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    attached: bool = False
    error: str = ""
    """What the tool itself raised; the training goes on without it."""
    findings: tuple[OtherFinding, ...] = ()

    def reported(self, tool: Tool, *, sure: bool = False) -> list[OtherFinding]:
        """What counts of it; `sure`: errors alone."""
        levels = tool.errors if sure else tool.counted
        return [
            one for one in self.findings if one.level in levels and one.rule not in tool.left_out
        ]


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A tool to be attached to a program."""

    tool: str
    training: Training
    seconds: float


@dataclass(frozen=True)
class ToolCount:
    """What one tool did on all programs to which it could be attached."""

    tool: Tool
    faulty: Sequence[tuple[Training, OtherResult]]
    sound: Sequence[tuple[Training, OtherResult]]
    shares: Mapping[str, Share] = field(init=False)

    def __post_init__(self) -> None:
        found = {}
        for word, sure in (("", False), ("_errors", True)):
            named = sum(self.names(training, result, sure=sure) for training, result in self.faulty)
            alarms = sum(bool(result.reported(self.tool, sure=sure)) for _, result in self.sound)
            found[f"named{word}"] = Share(named, len(self.faulty))
            found[f"alarms{word}"] = Share(alarms, len(self.sound))
        object.__setattr__(self, "shares", found)

    def names(self, training: Training, result: OtherResult, *, sure: bool = False) -> bool:
        """Whether a true fault of the program is among what is reported."""
        truths = {truth.kind for truth in training.fault}
        return any(
            truths & set(self.tool.says.get(one.rule, ()))
            for one in result.reported(self.tool, sure=sure)
        )


def tools() -> tuple[Tool, ...]:
    found = tomllib.loads(TOOLS.read_text(encoding="utf-8"))
    return tuple(
        TypeAdapter(Tool).validate_python({"name": name, **facts}) for name, facts in found.items()
    )


def measure_others(
    trainings: Sequence[Training],
    split: Split,
    kept: Path,
    *,
    jobs: int,
    minutes: float,
    tell: Tell,
    stop: Stop,
) -> Scorecard:
    """Every tool that is installed on every program; results that are known count as they are."""
    there = [tool for tool in tools() if find_spec(tool.module) is not None]
    absent = [tool.name for tool in tools() if tool not in there]
    folder = kept / f"others-{code_identity('benchmarks/cases/attach')}"
    found: dict[str, OtherResult] = {}
    wanted: dict[str, OtherRun] = {}
    for tool in there:
        for training in trainings:
            name = f"{tool.name}-{training.id}"
            known = _kept(folder / f"{name}.json")
            if known is not None:
                found[name] = known
            elif all(find_spec(MODULES.get(need, need)) for need in training.needs):
                wanted[name] = OtherRun(tool.name, training, 60 * minutes)
    expected = sum(1.3 * one.training.seconds + 3 for one in wanted.values()) / 60 / jobs
    tell(Progress(WHAT, 0, len(wanted), f"about {expected:.0f} minutes"))
    for made in several(wanted, run_other, what=WHAT, jobs=jobs, tell=tell, stop=stop):
        for name, result in made.items():
            found[name] = result
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.json").write_text(
                json.dumps(asdict(result), indent=1), encoding="utf-8"
            )
    return others_card(
        split,
        trainings,
        [(tool, _by_training(tool, trainings, found)) for tool in there],
        absent,
    )


def _by_training(
    tool: Tool, trainings: Sequence[Training], found: Mapping[str, OtherResult]
) -> Mapping[str, OtherResult]:
    return {
        training.id: found.get(f"{tool.name}-{training.id}", OtherResult(training.id))
        for training in trainings
    }


def run_other(wanted: OtherRun, _stop: Stop) -> OtherResult:
    """One program with one tool beside it, in a copy of its folder."""
    training = wanted.training
    with tempfile.TemporaryDirectory(prefix="reenact-others-") as scratch:
        out = Path(scratch) / "found.json"
        inside = copy_of(training, Path(scratch))
        words = list(training.words)
        if words[0].endswith(".ipynb"):
            script = read_notebook((inside / words[0]).read_text(encoding="utf-8")).script
            words[0] = "notebook_as_script.py"
            (inside / words[0]).write_text(script, encoding="utf-8")
        variables = environment(
            KERAS_BACKEND="torch",
            MPLBACKEND="Agg",
            OMP_NUM_THREADS="1",
            REENACT_OTHER_TOOL=wanted.tool,
            REENACT_OTHER_OUT=str(out),
        )
        variables["PYTHONPATH"] = f"{ATTACH}:{variables['PYTHONPATH']}"
        try:
            subprocess.run(  # noqa: S603 - a program of our own benchmark
                [sys.executable, *words],
                cwd=inside,
                env=variables,
                capture_output=True,
                timeout=wanted.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return OtherResult(training.id, error="not done within its time")
        return _kept(out, training.id) or OtherResult(
            training.id, error="it ended without a word of the tool"
        )


def _kept(file: Path, case: str = "") -> OtherResult | None:
    try:
        facts = json.loads(file.read_bytes())
        return TypeAdapter(OtherResult).validate_python(
            {**({"case": case} if case else {}), **facts}
        )
    except (OSError, ValueError, ValidationError):
        return None


def others_card(
    split: Split,
    trainings: Sequence[Training],
    found: Sequence[tuple[Tool, Mapping[str, OtherResult]]],
    absent: Sequence[str],
) -> Scorecard:
    """A row a tool, and what each says of each program; nothing here is a goal of ours."""
    counts = []
    for tool, results in found:
        with_it = [(one, results[one.id]) for one in trainings if results[one.id].attached]
        counts.append(
            ToolCount(
                tool,
                [pair for pair in with_it if not pair[0].sound],
                [pair for pair in with_it if pair[0].sound],
            )
        )
    rows = tuple(
        (
            one.tool.name,
            *(str(one.shares[key]) for key in ("named", "alarms", "named_errors", "alarms_errors")),
        )
        for one in counts
    )
    columns = (
        "tool",
        "fault named",
        "false alarms",
        "named, errors alone",
        "false alarms, errors alone",
    )
    programs = tuple(
        (
            training.shown,
            "; ".join(truth.kind for truth in training.fault) or "sound",
            *(
                _cell(count, training, results[training.id])
                for count, (_, results) in zip(counts, found, strict=True)
            ),
        )
        for training in trainings
    )
    return Scorecard(
        name=f"{split.title}-others",
        figures="; ".join(
            f"{one.tool.name}: named {one.shares['named']}, false alarms {one.shares['alarms']}"
            for one in counts
        )
        + (f"; not installed: {', '.join(absent)}" if absent else ""),
        goals=(),
        tables=(
            Table("Tools", columns, rows),
            Table(
                "How",
                ("tool", "version and use"),
                tuple((one.tool.name, one.tool.about) for one in counts),
            ),
            Table(
                "Programs",
                ("program", "truth", *(one.tool.name for one in counts)),
                programs,
            ),
        ),
        measured={
            f"{one.tool.name}_{key}": _figure(one, key)
            for one in counts
            for key in ("named", "alarms")
        },
        facts={tool.name: [asdict(one) for one in results.values()] for tool, results in found},
        cases=digest_of_all([training.id for training in trainings]),
    )


def _figure(one: ToolCount, key: str) -> Figure:
    what = "a true fault named" if key == "named" else "false alarms on sound programs"
    return one.shares[key].figure(f"{one.tool.name}: {what}")


def _cell(count: ToolCount, training: Training, result: OtherResult) -> str:
    if not result.attached:
        return f"not attached{': ' + result.error[:80] if result.error else ''}"
    rules = list(dict.fromkeys(one.rule for one in result.reported(count.tool)))
    shown = ", ".join(rules[:MOST_SHOWN]) + (
        f" and {len(rules) - MOST_SHOWN} more" if len(rules) > MOST_SHOWN else ""
    )
    if not rules:
        return "nothing"
    return f"NAMED: {shown}" if count.names(training, result) else shown
