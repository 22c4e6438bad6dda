"""One program and its rewrites: what each shows, where it does the same."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from benchmarks.blind.cases import Case
from benchmarks.blind.rewrites.every import rewritten
from benchmarks.blind.rewrites.text import Project
from benchmarks.blind.transcript import Transcript, run
from benchmarks.blind.verdict import Diagnosed, Shown, Verdict, diagnose, lost
from benchmarks.blind.warm.interpreter import warm
from benchmarks.dataset.scoring import Pair
from benchmarks.dataset.training import Training, Truth
from benchmarks.identity import code_identity
from benchmarks.several import several
from benchmarks.warm import end_with_parent
from reenact.types import Stop, Tell

SAME, UNCHANGED, NOT_COMPARABLE = "same", "unchanged", "not comparable"
BESIDE_S = 8.0
"""Processor seconds of a diagnosis besides the training: reading the program, and experiments."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What is shown of one rewrite of a program."""

    rewrite: str
    state: str
    """`same` where it does the same, `unchanged` where there was nothing to rewrite, `not
    comparable` where it does not do the same, or that could not be seen.
    """
    why: str = ""
    """Why it is not comparable."""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A program before and after."""

    program: str
    identity: str
    """What was compared by what."""
    original: Verdict
    rewrites: tuple[Rewritten, ...]

    def of(self, rewrite: str) -> Rewritten | None:
        """One rewrite, where it was made and does the same."""
        found = (one for one in self.rewrites if one.rewrite == rewrite)
        return next((one for one in found if one.state == SAME), None)


def gone(compared: Compared, one: Rewritten) -> tuple[Shown, ...]:
    """What is no longer shown."""
    return lost(compared.original.shown, one.verdict.shown) if one.verdict else ()


def come(compared: Compared, one: Rewritten) -> tuple[Shown, ...]:
    """What is shown of the rewritten program alone."""
    return lost(one.verdict.shown, compared.original.shown) if one.verdict else ()


def is_changed(compared: Compared, one: Rewritten) -> bool:
    """Whether the set of faults at their lines is another."""
    return bool(
        gone(compared, one)
        or come(compared, one)
        or (one.verdict is not None and bool(one.verdict.failed) != bool(compared.original.failed))
    )


def named(training: Training, verdict: Verdict | None) -> tuple[Truth, ...]:
    """The true faults that a diagnosis names."""
    reported = verdict.diagnosis if verdict is not None else None
    if reported is None:
        return ()
    return tuple(
        truth for truth in training.fault if Pair(replace(training, fault=(truth,)), reported).true
    )


def compare(case: Case, depth: str) -> Compared:
    """Diagnose the program, and each of its rewrites that does the same."""
    project = case.project(str(warm(case.modules).python))
    original = Original(case, depth, diagnose(case, depth))
    results = []
    for name in case.rewrites:
        try:
            other = rewritten(project, name)
        except (ValueError, NotImplementedError, SyntaxError) as error:
            results.append(Rewritten(name, NOT_COMPARABLE, f"not rewritten: {error}"))
            continue
        if _is_equal(project, other):
            results.append(Rewritten(name, UNCHANGED))
        else:
            results.append(original.beside(name, other))
    return Compared(case.name, identity(case, depth), original.seen.verdict, tuple(results))


@dataclass
class Original:
    """A program and what is shown of it."""

    case: Case
    depth: str
    seen: Diagnosed

    def beside(self, name: str, project: Project) -> Rewritten:
        """What is shown of a rewrite of it.

        Two watched runs that print and differentiate the same settle that it does the same. Where
        they differ, the watching may be the reason, and the programs are run alone.
        """
        if self.depth == "static":
            why = self._differs_alone(project)
            return (
                Rewritten(name, NOT_COMPARABLE, why)
                if why
                else Rewritten(name, SAME, verdict=diagnose(self.case, self.depth, project).verdict)
            )
        found = diagnose(self.case, self.depth, project)
        before, after = self.seen.transcript, found.transcript
        if before is None or after is None or before.differs(after):
            why = self._differs_alone(project)
            if why:
                return Rewritten(name, NOT_COMPARABLE, why)
        return Rewritten(name, SAME, verdict=found.verdict)

    def _differs_alone(self, project: Project) -> str:
        return self._alone.differs(run(self.case, project))

    @cached_property
    def _alone(self) -> Transcript:
        return run(self.case)


def _is_equal(project: Project, other: Project) -> bool:
    return all(project.files[path].text == source.text for path, source in other.files.items())


def identity(case: Case, depth: str) -> str:
    """Another program, depth, reenact or rewriter is another comparison."""
    return f"{depth}-{code_identity('.')}-{code_identity('benchmarks/blind')}-{case.digest}"


def minutes(cases: Sequence[Case], depth: str) -> float:
    """What these are expected to take, one after another."""
    seconds = 0.0
    for case in cases:
        # Watched, a program is run once in each form; its transcript comes of the same run.
        one = case.seconds + (0.0 if depth == "static" else BESIDE_S)
        seconds += (1 + len(case.rewrites)) * one
    return seconds / 60


@dataclass(frozen=True)
class Asked:
    """A case that is compared in a process of its own, and where its result is kept."""

    case: Case
    depth: str
    kept: Path


def compare_one(asked: Asked, _stop: Stop) -> Compared:
    """One case; its result is kept at once, so that an end of the whole loses no other case."""
    end_with_parent()
    result = compare(asked.case, asked.depth)
    _write(result, _file(asked.case, asked.depth, asked.kept))
    return result


def compare_all(
    cases: Sequence[Case],
    depth: str,
    kept: Path,
    *,
    jobs: int = 1,
    tell: Tell,
    stop: Stop,
) -> list[Compared]:
    """Case by case, or several at once; what was compared before is read."""
    compared = {case.name: found for case in cases if (found := read(case, depth, kept))}
    waiting = {case.name: Asked(case, depth, kept) for case in cases if case.name not in compared}
    for results in several(
        waiting,
        compare_one,
        what="bench blind",
        jobs=jobs,
        tell=tell,
        stop=stop,
    ):
        compared.update(results)
    return [compared[case.name] for case in cases]


def read(case: Case, depth: str, kept: Path) -> Compared | None:
    """What was compared before; none where it was not, or was something else."""
    try:
        found = _COMPARED.validate_json(_file(case, depth, kept).read_bytes())
    except (OSError, ValueError, ValidationError):
        return None
    return found if found.identity == identity(case, depth) else None


def _file(case: Case, depth: str, kept: Path) -> Path:
    return kept / f"{depth}-{'-'.join((case.name, case.digest))}.json"


def _write(compared: Compared, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(compared), indent=1), encoding="utf-8")
    part.replace(target)


_COMPARED = TypeAdapter(Compared)
