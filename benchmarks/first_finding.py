"""`python -m benchmarks first`: how long a newcomer waits for the first true finding on
examples/broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.children import ROOT
from benchmarks.command import conduct, out_folder
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from reenact.own_process import own_command, own_environment
from reenact.types import ExitCode, Progress, Stop, Tell

BROKEN = ROOT / "examples" / "broken"
WANTED_S = 60.0
TRUE = {
    "keras_beats.py": ("WCI",),
    "keras_birds.py": ("RCD",),
    "keras_churn.py": ("ACH",),
    "keras_energy.py": ("ACH",),
    "keras_tiles.py": ("CPP",),
    "keras_topics.py": ("ARM", "HLR"),
    "torch_gestures.py": ("ZGR",),
    "torch_glyphs.py": ("AAL",),
    "torch_house_prices.py": ("CPP",),
    "torch_ratings.py": ("RE011",),
    "torch_spirals.py": ("HLR",),
    "torch_stamps.py": ("RE90",),
    "torch_textures.py": ("RE013",),
    "torch_wine.py": ("WCI",),
}
"""Program to what names its fault as its README explains it: types of faults, or the begin of a
code.
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """One program."""

    program: str
    seconds: float
    cpu_seconds: float
    findings: tuple[str, ...]
    """Line, type of fault and rules of each, in order."""

    @property
    def is_true(self) -> bool:
        """Whether one of them names the fault."""
        accepted = TRUE.get(self.program, ())
        return any(word.startswith(accepted) for one in self.findings for word in one.split())


@click.command()
@click.option(
    "--program",
    "wanted",
    multiple=True,
    help="Only programs whose name holds this word.",
)
@out_folder
def first(wanted: tuple[str, ...], out: Path | None) -> ExitCode:
    """Diagnose every program of examples/broken as it is typed, and take the time."""
    programs = [
        path
        for path in sorted(BROKEN.glob("*.py"))
        if any(word in path.name for word in wanted or ("",))
    ]
    return conduct(lambda tell, stop: measure(programs, tell=tell, stop=stop), out)


def measure(programs: Sequence[Path], *, tell: Tell, stop: Stop) -> Scorecard:
    """One `reenact diagnose` after another, each with a journal of its own."""
    timed = []
    for at, program in enumerate(programs):
        tell(Progress("bench first", at, len(programs), program.name))
        if not stop.asked:
            timed.append(_diagnosed(program))
    return card(timed)


def _diagnosed(program: Path) -> Timed:
    with tempfile.TemporaryDirectory(prefix="reenact-bench-first-") as folder:
        before, began = os.times(), time.monotonic()
        ended = subprocess.run(  # noqa: S603
            own_command("diagnose", "--output-format", "json", str(program)),
            cwd=folder,
            env=own_environment() | {"REENACT_RUNS_DIR": f"{folder}/.reenact"},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds, after = time.monotonic() - began, os.times()
    spent = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    found = json.loads(ended.stdout)["data"]["findings"] if ended.stdout else []
    return Timed(program.name, seconds, spent, tuple(_in_words(one) for one in found))


def _in_words(finding: dict[str, Any]) -> str:
    codes = dict.fromkeys(witness["code"] for witness in finding["witnesses"])
    return f"line {finding['line']}: {' '.join([finding['fault'] or '-', *codes])}"


def card(timed: Sequence[Timed]) -> Scorecard:
    """The slowest decides, and every fault has to be found."""
    slowest = max((one.seconds for one in timed), default=None)
    named = sum(one.is_true for one in timed)
    goals = (
        Goal(
            "first true finding",
            f"under {WANTED_S:g} s",
            "-" if slowest is None else f"at most {slowest:.1f} s",
            None if slowest is None else slowest < WANTED_S,
        ),
        Goal(
            "a true finding",
            "on every program",
            f"{named} of {len(timed)}",
            named == len(timed) if timed else None,
        ),
    )
    rows = tuple(
        (
            one.program,
            f"{one.seconds:.1f} s",
            f"{one.cpu_seconds:.1f} s",
            ", ".join(one.findings) or "none",
        )
        for one in timed
    )
    table = Table("Programs", ("program", "time", "CPU time", "findings"), rows)
    measured = {
        "slowest": Figure("slowest, s", slowest, digits=1),
        "named": Figure("with a true finding", None, part=named, whole=len(timed)),
    }
    shown = (
        "nothing measured"
        if slowest is None
        else f"at most {slowest:.1f} s, true on {named} of {len(timed)}"
    )
    return Scorecard(
        "first", shown, goals, (table,), [list(row) for row in rows], measured=measured
    )
