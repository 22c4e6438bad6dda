"""One script over several seeds; each run is a step of the journal, several of them share a box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reenact.bug.case import Case
from reenact.bug.reproduction import SeedRun
from reenact.bug.run.box import Revision
from reenact.bug.run.classify import Seen, classify
from reenact.bug.run.sighting import Sighting
from reenact.bug.validate.flow import flowing_lines
from reenact.journal import Kind, Scope


def run_with(
    case: Case, run: Scope, script: str, revision: Revision, name: str, seeds: Sequence[int]
) -> tuple[SeedRun, ...]:
    """One run a seed, from the journal or from a box."""
    check = case.symptom.check if case.symptom.is_silent else None
    wanted = {f"{name}[{seed}]": seed for seed in seeds}

    def effect(missing: tuple[str, ...]) -> Iterator[Mapping[str, Sighting]]:
        seen = case.boxes.run(script, check, [wanted[one] for one in missing], revision)
        yield {one: seen[wanted[one]] for one in missing}

    inputs = {one: case.boxes.inputs(script, check, seed, revision) for one, seed in wanted.items()}
    found = run.many(inputs, effect, kind=Kind.BOX, returns=Sighting)
    lines = flowing_lines(script, case.project)

    def judged(seen: Sighting) -> Seen:
        return classify(seen, case.symptom, case.functions, revision.files, lines)

    return tuple(SeedRun(seed, found[one], judged(found[one])) for one, seed in wanted.items())


def run_seeds(case: Case, run: Scope, script: str, revision: Revision, name: str) -> tuple[SeedRun, ...]:
    """All seeds; after the first only those that may end differently."""
    case.say(f"run it ({name})")
    first = run_with(case, run, script, revision, name, (0,))
    rest = range(1, case.wishes.seeds)
    if first[0].seen.outcome.is_final or not rest:
        return first
    case.say(f"run it with {len(rest)} more seeds ({name})")
    return (*first, *run_with(case, run, script, revision, name, rest))
