"""One case: the command that a user would type, in a folder of its own, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from benchmarks.children import environment
from benchmarks.forged.answers import (
    bug_answers,
    paper_answers,
    paper_text,
    write_recording,
)
from benchmarks.forged.case import REPRODUCED, BugCase, ForgedCase, PaperCase
from benchmarks.forged.history import make_history
from reenact.errors import Stopped
from reenact.own_process import own_command
from reenact.types import ExitCode, Stop

WALL_S = 1200.0
"""Most seconds for one case; one that takes longer has no verdict."""
LONGEST_REASON = 300
NO_VERDICT = "none"
RECORDING = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class ForgedResult:
    """What the command reported of one case."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case: str
    identity: str
    """Of the files of the case."""
    verdict: str
    """As the command calls it; `none` where it ended without one."""
    exit_code: int
    reason: str
    """The sentence of the verdict, or of the error."""
    seconds: float

    @property
    def believed(self) -> bool:
        """Whether the command says `reproduced`, by its word or by its exit code."""
        return self.verdict == REPRODUCED or self.exit_code == ExitCode.OK

    def kept(self, case: ForgedCase) -> bool:
        """Whether an honest case has the verdict it must keep."""
        return self.verdict in case.right


RESULT = TypeAdapter(ForgedResult)


def run_case(case: ForgedCase, _stop: Stop) -> ForgedResult:
    """Run the command and read its JSON result. Raises Stopped where the command was: that is
    no result.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="reenact-forged-") as scratch:
        folder = Path(scratch)
        words = [*_command(case, folder), "--model", f"replay:{folder / RECORDING}"]
        verdict, code, reason = _ran([*words, "--output-format", "json"], folder)
    if is_stopped(code):
        raise Stopped(f"{case.id} was stopped; the same command runs it again.")
    return ForgedResult(
        case=case.id,
        identity=case.identity,
        verdict=verdict,
        exit_code=code,
        reason=reason[:LONGEST_REASON],
        seconds=round(time.monotonic() - begun, 1),
    )


def is_stopped(exit_code: int) -> bool:
    """Whether a command was stopped or killed: a forgery in it was neither believed nor refused."""
    return exit_code == ExitCode.STOPPED or exit_code < 0


def _command(case: ForgedCase, folder: Path) -> list[str]:
    """The words of the command; what it reads lies in the folder then."""
    if isinstance(case, PaperCase):
        paper = folder / "paper.md"
        paper.write_text(paper_text(case), encoding="utf-8")
        write_recording(paper_answers(case), folder / RECORDING)
        return [
            "paper",
            str(paper),
            "--seeds",
            "2",
            "--no-repair",
            "--without",
            "lineage",
            "--without",
            "scan",
            "--without",
            "atomicity",
        ]
    assert isinstance(case, BugCase)
    history = make_history(case.history, folder / "acme")
    report = folder / "report.md"
    report.write_bytes(case.report_file.read_bytes())
    write_recording(bug_answers(case), folder / RECORDING)
    fixed = ["--fixed", history.fixed] if case.fixed else []
    # One script and no second try: the recording holds the forgery and nothing else.
    return [
        "bug",
        str(report),
        "--repo",
        str(history.folder),
        "--commit",
        history.buggy,
        *fixed,
        "--seeds",
        "2",
        "--contexts",
        "1",
        "--attempts",
        "1",
        "--environment",
        "here",
        "--no-minimise",
        "--sparse",
    ]


def _ran(words: list[str], folder: Path) -> tuple[str, int, str]:
    """Verdict, exit code and reason."""
    work = folder / "work"
    temporary = folder / "tmp"
    work.mkdir()
    temporary.mkdir()
    around = environment(
        REENACT_NO_NETWORK_MODELS="1",
        REENACT_CACHE_DIR=str(folder / "cache"),
        XDG_CONFIG_HOME=str(folder / "config"),
        TMPDIR=str(temporary),
        OMP_NUM_THREADS="1",
    )
    try:
        ran = subprocess.run(  # noqa: S603
            own_command(*words),
            cwd=work,
            env=around,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NO_VERDICT, ExitCode.INCONCLUSIVE, f"No verdict within {WALL_S:.0f} s."
    said = _json(ran.stdout)
    data = said.get("data")
    facts = data if isinstance(data, dict) else {}
    verdict = str(facts.get("verdict") or NO_VERDICT)
    reason = str(facts.get("reason") or said.get("verdict") or ran.stderr.strip()[-LONGEST_REASON:])
    return verdict, ran.returncode, reason


def _json(text: str) -> dict[str, object]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
