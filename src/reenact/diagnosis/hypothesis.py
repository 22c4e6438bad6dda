"""A hypothesis is tested: the gates of its check, then both programs over fresh seeds.

Everything that an edit or a check touches runs in the sandbox; where none confines, nothing is
executed and the hypothesis stays an opinion. The unchanged program is watched once where it
belongs, to see which files it reads and which metric it logs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TypeAlias

from reenact.claims import gates
from reenact.claims.claim import Claim, Expected
from reenact.claims.look import Looker
from reenact.claims.verdict import ClaimVerdict, Gate, GateName, MetricEffect, Moved
from reenact.diagnosis.observe import watched_run
from reenact.diagnosis.options import TrainingOptions
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError, TimeSpent
from reenact.faults.evidence import Evidence
from reenact.journal import Kind, Scope
from reenact.probe.opened import Opened
from reenact.probe.read import read_trace
from reenact.probe.trace import Trace
from reenact.probe.watch import program_root
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.sandbox.box import Mount, Sandbox
from reenact.trials.boxed import Boxed
from reenact.trials.budget import TrainingBudget
from reenact.trials.folder import MOST_FILE_BYTES
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.statistics import ALPHA, compare
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial, TrialLimits
from reenact.trials.verify import Verification, verify
from reenact.types import Progress

FRESH_SEEDS = tuple(range(201, 211))
"""Seeds that judge the effect: six, and four more where these do not settle it."""
MOST_MOUNTS = 200
_CACHES = frozenset({".cache", ".keras", ".torch", ".local"})
"""Hidden folders in which data lie; what lies in others is not shown to a box."""
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev", "/tmp")  # noqa: S108
FIRST_LOSS = 0.05
"""Share by which the first loss of a training may change before losses cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisOptions(TrainingOptions):
    """What the user of a test may ask for."""

    effect: bool = True
    """Train both programs over fresh seeds."""
    seeds: int = len(FRESH_SEEDS)
    """The most of them."""


def put_to_test(
    program: Program,
    claim: Claim,
    options: HypothesisOptions,
    services: DiagnoseServices,
    sandbox: Callable[[], Sandbox],
    second: Patch | None = None,
    asked: Asked | None = None,
) -> ClaimVerdict:
    """All of it, as a run of its own; the same call after an interruption continues it. `asked` are
    others who look for a reason against the claim.
    """
    request = {
        **Trial(program).identity,
        "claim": claim.json_fields(),
        "edit": claim.patch.to_json(),
        "second": second.to_json() if second is not None else None,
        "effect": options.effect,
        "metric": options.metric,
        "seeds": options.seeds,
        "model": services.model.name if asked is not None and services.model is not None else None,
    }
    with services.open_run("test-hypothesis", program, request) as run:
        tested = put_to_test_within(
            program, claim, options, services, run, sandbox(), second, asked
        )
        run.note("result", tested)
        run.finish(f"{tested.status.value}: {claim.says}"[:200], tested.exit_code)
    return tested


def put_to_test_within(
    program: Program,
    claim: Claim,
    options: HypothesisOptions,
    services: DiagnoseServices,
    run: Scope,
    box: Sandbox,
    second: Patch | None = None,
    asked: Asked | None = None,
) -> ClaimVerdict:
    """The same as steps of a run that somebody else has opened."""
    begun = gates.read(claim, program)
    if begun.failed is not None:
        return begun
    services.tell(Progress("test", 0, len(GateName), "watch the program once"))
    kept, trace = watched_run(program, options, services, run, bare=True)
    evidence = Evidence(
        program=program,
        trace=trace,
        outcome=kept.outcome,
        opened=kept.opened,
        stand_in_data=kept.stand_in_data,
    )
    tester = Tester(evidence, options, services, box)
    found = tester.executed(claim, run, second)
    if asked is not None and found.failed is None:
        services.tell(
            Progress("test", len(GateName) - 2, len(GateName), "ask for reasons against it")
        )
        found = with_answers(found, asked(tester, found, run))
    return tester.measured(found, run)


def with_answers(found: ClaimVerdict, gates: Iterable[Gate]) -> ClaimVerdict:
    """The claim after what others answered, as far as the first answer that speaks against it."""
    for gate in gates:
        found = replace(found, gates=(*found.gates, gate))
        if gate.passed is False:
            break
    return found


@dataclass(frozen=True)
class Tester:
    """Executes claims about a program that was watched."""

    evidence: Evidence
    options: HypothesisOptions
    services: DiagnoseServices
    box: Sandbox

    @property
    def program(self) -> Program:
        assert self.evidence.program is not None
        return self.evidence.program

    @cached_property
    def mounts(self) -> tuple[Mount, ...]:
        """Data that the program reads, as a box sees them."""
        opened = self.evidence.opened
        return data_of(opened, self.program) if opened is not None else ()

    @cached_property
    def looker(self) -> Looker:
        return Looker(
            self.box,
            python=self.options.python,
            mounts=self.mounts,
            stop=self.services.stop,
        )

    def read(self, claim: Claim) -> ClaimVerdict:
        """A claim after the gates that need no execution."""
        return gates.read(claim, self.program)

    def executed(self, claim: Claim, run: Scope, second: Patch | None = None) -> ClaimVerdict:
        """A claim after the gates that are executions of its check."""
        return gates.executed(
            claim, self.program, self.looker, run, second=second, tell=self.services.tell
        )

    def measured(self, found: ClaimVerdict, run: Scope) -> ClaimVerdict:
        """The same with the effect over fresh seeds, where it was asked for."""
        if found.failed is not None or not self.options.effect:
            return found
        step = len(GateName) - 1
        self.services.tell(Progress("test", step, len(GateName), "train both over fresh seeds"))
        with Boxed(sandbox=self.box, python=self.options.python, mounts=self.mounts) as executor:
            return _Measured(self, found.claim, run).after(found, executor)


Asked: TypeAlias = Callable[[Tester, ClaimVerdict, Scope], Iterator[Gate]]
"""Others are asked about a claim that has passed what can be executed."""


def data_of(
    opened: Opened, program: Program, *, system: tuple[str, ...] = SYSTEM
) -> tuple[Mount, ...]:
    """Files outside of the program's folder that it reads: shown to a box, read-only, at their own
    place. What lies in hidden folders is not, but in those of caches.
    """
    own = [program.folder.resolve(), program.working.resolve()]
    found = []
    for one in opened.files:
        path = Path(one.path)
        hidden = any(part.startswith(".") and part not in _CACHES for part in path.parts)
        # A large file of its own is a link in the copy of the folder.
        inside = one.size <= MOST_FILE_BYTES and any(path.is_relative_to(folder) for folder in own)
        ours = one.path.startswith(system) or "site-packages" in path.parts
        if one.kind == "file" and not (hidden or inside or ours) and path.is_file():
            found.append(Mount(path, str(path)))
    return tuple(found[:MOST_MOUNTS])


@dataclass
class _Measured:
    """The effect of an edit, and whether it leaves alone what it is not about."""

    tester: Tester
    claim: Claim
    run: Scope

    def after(self, tested: ClaimVerdict, executor: Boxed) -> ClaimVerdict:
        """The claim with the last two gates."""
        before, after = (self._watched(executor, patch) for patch in (Patch(), self.claim.patch))
        unchanged = frozen(before, after, self.claim)
        tested = replace(tested, gates=(*tested.gates, unchanged))
        if unchanged.passed is False:
            return tested
        effect = self._effect(executor, before.outcome, after.outcome)
        passed = {Moved.UNMEASURED: None, Moved.AS_EXPECTED: True}.get(effect.moved)
        saw = effect.why or effect.moved.value
        gate = Gate(GateName.EFFECT, passed, saw)
        return replace(tested, gates=(*tested.gates, gate), effect=effect)

    def _watched(self, executor: Boxed, patch: Patch) -> WatchedTraining:
        """One training in a box, seen closely: its metrics and its rows."""
        trial = Trial(
            self.tester.program,
            patch,
            seed=0,
            limits=TrialLimits(self.tester.options.training_time),
            preset="normal",
            keep_trace=True,
            stand_ins=self.tester.evidence.stand_in_data,
        )

        def effect() -> WatchedTraining:
            (outcome,) = executor.run([trial], stop=self.tester.services.stop)
            folder = outcome.trace
            seen: tuple[JudgedRows, ...] = ()
            if folder is not None:
                root = program_root(trial.patched, folder)
                seen = _rows_of(read_trace(folder, root=root))
            return WatchedTraining(replace(outcome, trace=None), seen)

        return self.run.step(
            f"seen-{'after' if patch else 'before'}",
            effect,
            kind=Kind.TRIAL,
            inputs={"trial": trial.key},
            returns=WatchedTraining,
        )

    def _effect(self, executor: Boxed, before: Outcome, after: Outcome) -> MetricEffect:
        if not before.trained:
            why = f"in the sandbox no training is seen to its end ({_ending(before)})"
            return MetricEffect(Moved.UNMEASURED, why=why)
        try:
            measure = self._measure(before)
        except InputError as error:
            return MetricEffect(Moved.UNMEASURED, why=error.sentence.rstrip("."))
        other = other_loss(measure, before, after)
        if other and not self.claim.about.is_correctness:
            return MetricEffect(Moved.UNMEASURED, measure.name, why=other)
        trainer = BudgetedTrainer(
            self.tester.program,
            executor,
            measure=measure,
            budget=TrainingBudget(),
            one_training=max(before.cpu_seconds, 1e-3),
            one_wall=max(before.seconds, 1e-3),
            trials=self.run.under("effect"),
            stop=self.tester.services.stop,
            stand_ins=self.tester.evidence.stand_in_data,
            training_time=self.tester.options.training_time,
        )
        seeds = FRESH_SEEDS[: self.tester.options.seeds]
        found, late = verify([self.claim.patch], trainer, seeds, begin=lambda _: None)
        if not found:
            why = late.sentence.rstrip(".") if isinstance(late, TimeSpent) else "no training ended"
            return MetricEffect(Moved.UNMEASURED, measure.name, why=why)
        return _judged(found[0], trainer, self.claim.expected)

    def _measure(self, before: Outcome) -> Measure:
        wanted = self.tester.options.metric or None
        return choose_measure(before, self.tester.evidence.task, wanted)


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """A set of rows that the model was asked about."""

    rows: int
    content: str


@dataclass(frozen=True, slots=True)
class WatchedTraining:
    """One training in a box."""

    outcome: Outcome
    judged: tuple[JudgedRows, ...]


def _rows_of(trace: Trace) -> tuple[JudgedRows, ...]:
    rows = trace.books.rows if trace.books is not None else None
    sets = rows.sets if rows is not None else ()
    return tuple(sorted((JudgedRows(one.rows, one.content) for one in sets), key=str))


def frozen(before: WatchedTraining, after: WatchedTraining, claim: Claim) -> Gate:
    """Steps and rows that judge are as they were, unless the claim is about them."""
    if claim.about.is_correctness:
        return Gate(GateName.FROZEN, None, f"the claim is about {claim.about.value}")
    steps = (before.outcome.steps, after.outcome.steps)
    if before.outcome.trained and not after.outcome.trained:
        return Gate(GateName.FROZEN, False, "after the edit the program does not train to its end")
    if steps[0] != steps[1]:
        saw = f"after the edit it takes {steps[1]} steps in place of {steps[0]}"
        return Gate(GateName.FROZEN, False, saw)
    sizes = [sorted(one.rows for one in run.judged) for run in (before, after)]
    if sizes[0] != sizes[1]:
        saw = f"after the edit {sizes[1]} rows judge in place of {sizes[0]}"
        return Gate(GateName.FROZEN, False, saw)
    if before.judged != after.judged:
        return Gate(GateName.FROZEN, None, "as many rows judge, but others")
    return Gate(GateName.FROZEN, True, f"{steps[0]} steps, and the rows that judge are the same")


def _ending(outcome: Outcome) -> str:
    crash = outcome.crash
    said = f": {crash.type}: {crash.message[:200]}" if crash is not None else ""
    words = said or (f": {outcome.note[-200:]}" if outcome.note else "")
    return f"{outcome.kind.value}{words}".rstrip(".")


def other_loss(measure: Measure, before: Outcome, after: Outcome) -> str:
    """Why losses of the two programs cannot be compared; empty where they can."""
    if not measure.is_loss:
        return ""
    curves = [one.curve("step_loss") for one in (before, after)]
    if not all(curves):
        return ""
    first = [curve[0][1] for curve in curves]
    if math.isclose(first[0], first[1], rel_tol=FIRST_LOSS):
        return ""
    return (
        f"only a loss is logged, and the edit changes what it is: at the first step "
        f"{first[0]:.4g} before, {first[1]:.4g} after"
    )


def _judged(one: Verification, trainer: BudgetedTrainer, expected: Expected) -> MetricEffect:
    """What the metric did, against what was expected."""
    sign = 1.0 if trainer.measure.larger_is_better else -1.0
    before, after = one.comparison.before, one.comparison.after
    worse = compare(after, before).p_value
    middle = (median(before), median(after))
    moves = all(map(math.isfinite, middle)) and trainer.improves(middle[1], middle[0])
    is_better = one.holds
    is_worse = worse < ALPHA / 2 and moves
    return MetricEffect(
        moved_as(expected, better=is_better, worse=is_worse),
        trainer.measure.name,
        tuple(sign * value for value in before),
        tuple(sign * value for value in after),
        min(one.p_value, worse) if is_worse else one.p_value,
        one.shortfall,
    )


def moved_as(expected: Expected, *, better: bool, worse: bool) -> Moved:
    wanted: Sequence[bool] = {
        Expected.BETTER: (better, worse),
        Expected.LOWER: (worse, better),
        Expected.OTHER: (better or worse, False),
        Expected.SAME: (False, better or worse),
    }[expected]
    if wanted[0]:
        return Moved.AS_EXPECTED
    return Moved.AGAINST if wanted[1] else Moved.NOT
