"""Every case that has no result of this reenact yet; one line of JSON a case, so that a stop
continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import ValidationError

from benchmarks.forged.case import ForgedCase
from benchmarks.forged.case_run import RESULT, ForgedResult, run_case
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.types import Progress, Stop, Tell

WHAT = "bench forged"


def results_file(folder: Path) -> Path:
    """Results of another reenact are in another file."""
    return folder / f"{code_identity('.')}.jsonl"


def measure_all(
    cases: Sequence[ForgedCase],
    file: Path,
    *,
    jobs: int,
    fresh: bool,
    tell: Tell,
    stop: Stop,
    effect: Callable[[ForgedCase, Stop], ForgedResult] = run_case,
) -> list[ForgedResult]:
    """Results in the order of the cases. `fresh`: those cases are run again, whatever is known
    of them.
    """
    known = {} if fresh else read_results(file)
    found = {case.id: known[case.id] for case in cases if _is_of(known.get(case.id), case)}
    wanted = {case.id: case for case in cases if case.id not in found}
    minutes = sum(case.seconds for case in wanted.values()) / 60 / jobs
    tell(Progress(WHAT, 0, len(wanted), f"about {minutes:.0f} minutes"))
    file.parent.mkdir(parents=True, exist_ok=True)
    for results in several(wanted, effect, what=WHAT, jobs=jobs, tell=tell, stop=stop):
        for name, result in results.items():
            found[name] = result
            _append(result, file)
    return [found[case.id] for case in cases]


def read_results(file: Path) -> dict[str, ForgedResult]:
    """The last result of each case; a line that a kill tore counts as not written."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[str, ForgedResult] = {}
    for line in lines:
        try:
            result = RESULT.validate_python(json.loads(line))
        except (ValueError, ValidationError):
            continue
        found[result.case] = result
    return found


def _is_of(result: ForgedResult | None, case: ForgedCase) -> bool:
    return result is not None and result.identity == case.identity


def _append(result: ForgedResult, file: Path) -> None:
    # A torn line before this one must not take it along.
    torn = file.exists() and not file.read_bytes().endswith(b"\n") and file.stat().st_size > 0
    with file.open("a", encoding="utf-8") as out:
        out.write(("\n" if torn else "") + json.dumps(asdict(result)) + "\n")
