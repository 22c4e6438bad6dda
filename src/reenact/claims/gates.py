"""The gates of a claim that are executions of its check: red and green, controls, persistence.

Red to green is cheap and nearly always possible, for wrong claims too. What follows it is the work:
programs in other words, irrelevant edits, other settings, later steps, another fix. The first gate
that is not passed ends it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from reenact.claims import controls
from reenact.claims.claim import Claim
from reenact.claims.look import INSIDE, CheckRun, Look, Looker
from reenact.claims.restated import restated, written
from reenact.claims.script import objections
from reenact.claims.verdict import ClaimVerdict, Gate, GateName, sentence_of
from reenact.journal import Kind, Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.trials.trial import Trial
from reenact.types import Progress, Tell, tell_nobody

SEEDS = (1, 2, 3)
OTHER_SEEDS = (101, 102)
LATER = 2
"""Times as far as the script goes, for what must not be gone after some steps."""


@dataclass(frozen=True)
class Looks:
    """The looks at one claim, each a step of the journal."""

    claim: Claim
    program: Program
    looker: Looker
    run: Scope

    def at(self, *looks: Look) -> list[tuple[CheckRun, ...]]:
        """The check on programs; those that are not known yet share a box."""
        claim = self.claim
        by_name = {one.name: one for one in looks}

        def effect(missing: tuple[str, ...]) -> Iterator[Mapping[str, tuple[CheckRun, ...]]]:
            wanted = [by_name[name] for name in missing]
            yield self.looker(self.program, claim.script, claim.check, wanted)

        inputs = {
            name: {
                "program": Trial(one.program).key,
                "script": claim.script,
                "check": claim.check.model_dump(mode="json"),
                "seeds": list(one.seeds),
                "later": one.later,
                "watcher": _watcher(),
            }
            for name, one in by_name.items()
        }
        found: Mapping[str, tuple[CheckRun, ...]] = self.run.many(
            inputs,
            effect,
            kind=Kind.BOX,
            returns=tuple[CheckRun, ...],
            still=lambda seen: all(one.was_run for one in seen),
        )
        return [found[one.name] for one in looks]


def read(claim: Claim, program: Program) -> ClaimVerdict:
    """A claim after the gates that need no execution."""
    wrong = objections(claim.script, claim.check)
    said = [f"{one.sentence} (line {one.line})" if one.line else one.sentence for one in wrong]
    gates = [Gate(GateName.SCRIPT, not wrong, " ".join(said))]
    if not wrong:
        how = restated(claim, program)
        gates.append(Gate(GateName.RESTATED, not how, how))
    return ClaimVerdict(claim, tuple(gates), diff=claim.patch.diff(program))


def executed(
    claim: Claim,
    program: Program,
    looker: Looker,
    run: Scope,
    *,
    second: Patch | None = None,
    tell: Tell = tell_nobody,
) -> ClaimVerdict:
    """A claim after the gates that are executions of its check; the effect is not measured here.

    `second`: another fix, by somebody who has not seen the first. Raises PatchRefused where it does not
    fit, SandboxFailed and Stopped.
    """
    begun = read(claim, program)
    if begun.failed is not None:
        return begun
    red: tuple[CheckRun, ...] = ()
    green: tuple[CheckRun, ...] = ()
    passed = list(begun.gates)
    looks = Looks(claim, program, looker, run)
    patched = claim.patch.apply(program)
    other = second.apply(program) if second is not None else None
    for gate, seen in _gates(looks, program, patched, other):
        tell(Progress("test", len(passed), len(GateName), gate.name.value))
        passed.append(gate)
        if gate.name is GateName.RED:
            red = seen
        elif gate.name is GateName.GREEN:
            green = seen
        if gate.passed is False:
            break
    return replace(begun, gates=tuple(passed), red=red, green=green)


def _gates(
    looks: Looks, program: Program, patched: Program, second: Program | None
) -> Iterator[tuple[Gate, tuple[CheckRun, ...]]]:
    red, green = looks.at(Look("red", program, SEEDS), Look("green", patched, SEEDS))
    yield _red(red), red
    yield _green(red, green, program, patched), green
    tried = dict(_controls(looks.claim, program, patched, second))
    seen = dict(zip(tried, looks.at(*tried.values()), strict=True))
    yield _rewritten(seen), ()
    yield _irrelevant(seen), ()
    yield _mutants(seen), ()
    yield _persists(seen), ()
    if second is not None:
        yield _second(seen), ()


def _controls(
    claim: Claim, program: Program, patched: Program, second: Program | None
) -> Iterator[tuple[str, Look]]:
    """Every control program that can be made."""
    made = {
        "red-rewritten": controls.rewritten(program, claim.script),
        "green-rewritten": controls.rewritten(patched, claim.script),
        "irrelevant": controls.irrelevant(program, patched),
        "second": second,
    }
    for name, one in made.items():
        if one is not None:
            yield name, Look(name, one)
    for number, mutant in enumerate(controls.mutants(program, patched)):
        yield mutant.name, Look(f"mutant-{number}", mutant.program)
    for name, one in (("red", program), ("green", patched)):
        yield f"{name}-later", Look(f"{name}-later", one, OTHER_SEEDS, LATER)
        yield f"{name}-seeds", Look(f"{name}-seeds", one, OTHER_SEEDS)


def _red(red: Sequence[CheckRun]) -> Gate:
    undecided = next((one for one in red if not one.decided), None)
    green = next((one for one in red if one.is_green), None)
    if green is not None:
        return Gate(
            GateName.RED, False, f"the property holds on the unchanged program ({green.sentence})"
        )
    if undecided is not None:
        return Gate(GateName.SCRIPT, False, f"on the unchanged program {undecided.sentence}")
    if not all(one.reached for one in red):
        return Gate(GateName.SCRIPT, False, "it looks at nothing of the program")
    return Gate(GateName.RED, True, sentence_of(red))


def _green(
    red: Sequence[CheckRun], green: Sequence[CheckRun], program: Program, patched: Program
) -> Gate:
    undecided = next((one for one in green if not one.decided), None)
    still = next((one for one in green if one.is_red), None)
    if still is not None:
        return Gate(
            GateName.GREEN, False, f"the property does not hold after it ({still.sentence})"
        )
    if undecided is not None:
        return Gate(GateName.SCRIPT, False, f"after the edit {undecided.sentence}")
    if red[0].kinds.get("observed") != green[0].kinds.get("observed"):
        kinds = " and ".join(str(one.kinds.get("observed")) for one in (red[0], green[0]))
        return Gate(GateName.SCRIPT, False, f"it observes two different kinds of things: {kinds}")
    before, after = written(program, patched)
    if red[0].number in before and green[0].number in after:
        shown = f"{red[0].number:g} and {green[0].number:g}"
        return Gate(
            GateName.RESTATED, False, f"it observes the numbers that the edit writes: {shown}"
        )
    return Gate(GateName.GREEN, True, sentence_of(green))


def _rewritten(seen: Mapping[str, Sequence[CheckRun]]) -> Gate:
    """Red and green whatever the programs look like."""
    for name, which in (("red", "unchanged"), ("green", "after the edit")):
        looks = seen.get(f"{name}-rewritten")
        if looks is None:
            return Gate(GateName.REWRITTEN, None, "it could not be rewritten")
        if not (looks[0].is_red if name == "red" else looks[0].is_green):
            saw = f"on the program {which}, in other words, {looks[0].sentence}"
            return Gate(GateName.REWRITTEN, False, saw)
    return Gate(GateName.REWRITTEN, True, "other names of locals, no comments, other lines")


def _irrelevant(seen: Mapping[str, Sequence[CheckRun]]) -> Gate:
    looks = seen.get("irrelevant")
    if looks is None:
        return Gate(GateName.IRRELEVANT, None, "none could be made")
    return Gate(GateName.IRRELEVANT, looks[0].is_red, looks[0].sentence)


def _mutants(seen: Mapping[str, Sequence[CheckRun]]) -> Gate:
    tried = {name: looks[0] for name, looks in seen.items() if name.startswith(controls.WITH)}
    red = next((name for name, one in tried.items() if one.is_red), None)
    if red is not None:
        return Gate(GateName.MUTANTS, False, f"{red} {tried[red].sentence}")
    count = sum(one.is_green for one in tried.values())
    if not count:
        return Gate(GateName.MUTANTS, None, "the program has no other setting to try")
    return Gate(GateName.MUTANTS, True, f"{count} other settings")


def _persists(seen: Mapping[str, Sequence[CheckRun]]) -> Gate:
    """The property fails later too, and with other seeds, and holds there after the edit. Where a
    program ends before it is later, the seeds alone tell.
    """
    for name, where in (("red", "there"), ("green", "after the edit, there,")):
        later = seen[f"{name}-later"]
        looks = [*seen[f"{name}-seeds"], *([] if any(one.unreached for one in later) else later)]
        other = next(
            (one for one in looks if not (one.is_red if name == "red" else one.is_green)), None
        )
        if other is not None:
            return Gate(GateName.PERSISTS, False, f"{where} {other.sentence}")
    return Gate(GateName.PERSISTS, True, sentence_of(seen["red-seeds"]))


def _second(seen: Mapping[str, Sequence[CheckRun]]) -> Gate:
    one = seen["second"][0]
    return Gate(GateName.SECOND, one.is_green, one.sentence)


def _watcher() -> str:
    """What an older watcher saw is not taken for what this one would see."""
    inside = files("reenact.claims.inside")
    texts = [inside.joinpath(name).read_bytes() for name in INSIDE]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]
