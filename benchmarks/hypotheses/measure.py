"""Every case that has no result of this reenact yet; one line of JSON a case, so that a stop
continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import ValidationError

from benchmarks.hypotheses.case import ClaimCase
from benchmarks.hypotheses.case_run import JOURNAL, RESULT, Asked, ClaimResult, run_case
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.types import Progress, Stop, Tell

WHAT = "bench hypotheses"
RELAY = "relay:"
SECONDS = {False: 25.0, True: 80.0}
"""About what a case takes on one core: its gates alone, and with the trainings."""
STORED = Path(__file__).with_name("verdicts.jsonl")
"""The verdicts of the last whole run that was kept."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the cases are tested, and where that is kept."""

    folder: Path
    effect: bool = True
    jobs: int = 1
    fresh: bool = False
    model: str | None = None
    """Who is asked about each claim that passes; `relay:FOLDER` has a folder for each case."""

    @property
    def file(self) -> Path:
        """Results of another reenact are in another file."""
        kind = "effect" if self.effect else "gates"
        if self.model is not None:
            kind += "-asked"
        return self.folder / "hypotheses-cases" / f"{kind}-{code_identity('.')}.jsonl"

    def asked(self, case: ClaimCase) -> Asked:
        model = self.model
        if model is not None and model.startswith(RELAY):
            # A reader sees the requests of one case alone, and no word on whether the claim is right.
            model = f"{model}/{case.identity}"
        return Asked(case, self.effect, self.folder / JOURNAL, self.fresh, model)


def measure_all(
    cases: Sequence[ClaimCase],
    plan: Plan,
    *,
    tell: Tell,
    stop: Stop,
    effect: Callable[[Asked, Stop], ClaimResult] = run_case,
) -> list[ClaimResult]:
    """Results in the order of the cases. `fresh`: those cases are run again, whatever is known
    of them.
    """
    known = {} if plan.fresh else read_results(plan.file)
    found = {case.id: known[case.id] for case in cases if _is_of(known.get(case.id), case)}
    wanted = {case.id: plan.asked(case) for case in cases if case.id not in found}
    minutes = SECONDS[plan.effect] * len(wanted) / 60 / plan.jobs
    tell(Progress(WHAT, 0, len(wanted), f"about {minutes:.0f} minutes"))
    plan.file.parent.mkdir(parents=True, exist_ok=True)
    for results in several(wanted, effect, what=WHAT, jobs=plan.jobs, tell=tell, stop=stop):
        for name, result in results.items():
            found[name] = result
            _append(result, plan.file)
    return [found[case.id] for case in cases]


def known_results(
    cases: Sequence[ClaimCase], plan: Plan, file: Path = STORED
) -> dict[str, ClaimResult]:
    """What is known of these cases without executing anything: results of this reenact, else stored
    ones. A verdict on a case that has changed since is none.
    """
    stored = read_results(file) if plan.effect else {}
    found = {**stored, **read_results(plan.file)}
    return {case.id: found[case.id] for case in cases if _is_of(found.get(case.id), case)}


def store(results: Sequence[ClaimResult], file: Path = STORED) -> None:
    """Keep these verdicts, beside those of other cases, for a table that executes nothing."""
    known = {**read_results(file), **{result.case: result for result in results}}
    lines = [json.dumps(asdict(known[name])) + "\n" for name in sorted(known)]
    file.write_text("".join(lines), encoding="utf-8")


def read_results(file: Path) -> dict[str, ClaimResult]:
    """The last result of each case; a line that a kill tore counts as not written."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[str, ClaimResult] = {}
    for line in lines:
        try:
            result = RESULT.validate_python(json.loads(line))
        except (ValueError, ValidationError):
            continue
        found[result.case] = result
    return found


def _is_of(result: ClaimResult | None, case: ClaimCase) -> bool:
    return result is not None and result.identity == case.identity


def _append(result: ClaimResult, file: Path) -> None:
    # A torn line before this one must not take it along.
    torn = file.exists() and not file.read_bytes().endswith(b"\n") and file.stat().st_size > 0
    with file.open("a", encoding="utf-8") as out:
        out.write(("\n" if torn else "") + json.dumps(asdict(result)) + "\n")
