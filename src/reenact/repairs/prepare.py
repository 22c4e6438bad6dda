"""From a diagnosis to a search: can this program be repaired at all, what does one training cost,
what judges, what may the strategy use.
"""

from dataclasses import dataclass, field, replace

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judgement import on_stand_in, why_unjudged
from reenact.diagnosis.pipeline import ending_of
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import Inconclusive, InputError
from reenact.journal import Scope
from reenact.probe.outcome import CUT_OFF, OutcomeKind
from reenact.probe.trace import Trace
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.options import RepairOptions
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.repairs.shared_study import SharedStudy
from reenact.repairs.study import recorder_of
from reenact.repairs.verdict import Judging, judging_by
from reenact.trials.executor import Executor
from reenact.trials.metric import LEARNING, choose_measure
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Part, Trial

WITHOUT_STUDY = ("guided", "autotrainer", "autotrainer-scratch", "llm")
"""Strategies that ask no sampler: what they look at is written into a study of theirs."""
CHOOSING, JUDGING = 40, 1000
"""Seeds apart between two repairs with another chance: those that choose, those that judge."""
FIRST_TO_TRAIN = 4
"""Suggestions that are tried to let a program train which crashes."""
UNKNOWN_SECONDS = 25.0
"""What a training is taken to last while none has come to its end."""
FOR_MINIMISING = 0.15
"""Share of the budget that the search leaves."""
SAME = 1e-6
"""Relative difference that arithmetic in another order may make."""


@dataclass(frozen=True)
class RepairServices(DiagnoseServices):
    """What a repair needs besides what its diagnosis needs; the model is asked by the diagnosis and
    by the strategy `llm`.
    """

    studies: bool = True
    """Keep the search as an Optuna study."""
    around: str = ""
    """Mark of what trainings depend on besides the program's text, where they run elsewhere, as in a
    box; empty: of the surroundings here.
    """
    study_url: str = field(default="", repr=False)
    """Database of a study that several repairs share; a secret. Empty: a file a run."""
    shared: bool = True
    """Take over what finished runs have trained with equal inputs."""

    def shared_study(
        self,
        program: Program,
        options: RepairOptions,
        run: str,
    ) -> SharedStudy | None:
        """The same for every driver that searches the same space of the same program with the same
        strategy."""
        if not self.study_url or not self.studies:
            return None
        parts = [
            options.strategy,
            options.space,
            options.metric,
            Trial(program).content[:12],
        ]
        return SharedStudy(
            self.study_url,
            "-".join(filter(None, parts)),
            run,
        )


def fit_for_repair(found: Diagnosis) -> Trace:
    """The trace of its training; raises Inconclusive when there is none that came to its end,
    InputError when nothing can be changed. A crash after the training is not an obstacle.
    """
    evidence = found.evidence
    program = evidence.program
    outcome = evidence.outcome
    assert program is not None
    if outcome is not None and outcome.crash is not None and ending_of(found.evidence) is None:
        raise _crashes(found)
    if outcome is not None and outcome.kind in CUT_OFF:
        none = (
            f"Not decided: no training came to its end, so none can be compared. {outcome.sentence}"
        )
        longer = "Give a larger --max-time or --training-time, or train for fewer epochs."
        if outcome.kind is OutcomeKind.INTERRUPTED:
            longer = "Run the same command and let one training end, or train for fewer epochs."
        raise Inconclusive(none, next_step=longer)
    if evidence.trace is None or not evidence.trace.step_count:
        why = why_unjudged(evidence, found.depth) or "no training step was seen"
        killed = outcome is not None and outcome.kind is OutcomeKind.KILLED
        memory = " Programs are ended so when memory does not suffice." if killed else ""
        sentence = on_stand_in(
            found.stand_in_data,
            f"Nothing could be judged: {why}.{memory}",
        )
        raise Inconclusive(sentence, next_step=f"reenact watch {program.entry} shows the run.")
    if not any(param.changeable and param.alternatives for param in hyperparameters_of(program)):
        none = (
            "Nothing in this program can be changed by reenact: it finds no hyper-parameter in the "
            "source."
        )
        listed = (
            f"reenact params {program.entry} lists what was found, and why it cannot be changed."
        )
        raise InputError(none, next_step=listed)
    return evidence.trace


def against_crash(found: Diagnosis) -> list[Patch]:
    """Changes that may let a program train which crashes before: what its findings suggest, each by
    itself, then the first of each together. None for other programs.
    """
    outcome = found.evidence.outcome
    if (
        outcome is None
        or outcome.kind is not OutcomeKind.CRASHED
        or ending_of(found.evidence) is not None
    ):
        return []
    single = [one.edits[0].patch for one in found.findings if one.edits]
    together = (
        sum(
            single[1:],
            single[0],
        )
        if len(single) > 1
        else NOTHING
    )
    return [
        *single[:FIRST_TO_TRAIN],
        *([together] if together else []),
    ]


def _crashes(found: Diagnosis, tried: int = 0) -> Inconclusive:
    outcome = found.evidence.outcome
    program = found.evidence.program
    assert outcome is not None
    assert program is not None
    changes = (
        f" Changes that were tried against that: {tried}; none lets it train." if tried else ""
    )
    why = "this program crashes before its training ends, so no training can be compared."
    why = f"Nothing could be judged: {why} {outcome.sentence}{changes}"
    instead = (
        f"reenact diagnose {program.entry} names the cause; repair it by hand, then run again."
    )
    if outcome.stand_in_exists:
        instead = f"reenact repair --stand-in-data {program.entry} repairs it on made-up data."
    return Inconclusive(on_stand_in(found.stand_in_data, why), next_step=instead)


def prepare(
    program: Program,
    found: Diagnosis,
    trace: Trace | None,
    options: RepairOptions,
    services: RepairServices,
    executor: Executor,
    run: Scope,
    *,
    watched: bool,
) -> tuple[SearchContext, Judging, tuple[str, ...]]:
    """Train the unchanged program, once or twice; `watched` says that its diagnosis counts too.
    Without a trace it crashes: the first change that lets it train says what judges and what one
    training costs. What the search begins with, how it is judged, and notes.
    """
    wanted = options.metric or None
    task = found.evidence.task
    ending = ending_of(found.evidence)
    seconds = trace.seconds if trace is not None else UNKNOWN_SECONDS
    trainer = services.trainer(
        found.evidence,
        executor,
        run,
        options.python,
        around=services.around,
        budget=options.allowed,
        measure=choose_measure(trace, task, wanted) if trace is not None else LEARNING,
        seconds=seconds,
        seeds=choosing_seeds(options.chance),
        part=Part.SEARCH,
        shared=services.shared,
        training_time=options.training_time,
        ending=ending,
        prunes=options.prune,
    )
    asked = trainer.trial(NOTHING, trainer.seeds[0])
    if trace is None:
        first = _first_that_trains(trainer, found)
        trainer.measure = choose_measure(first, task, wanted)
    else:
        first = trainer.measure_cost()
    judging = judging_by(trainer.measure, first)
    trainer.judge_by(judging.search, judging.search_part)
    # Where nothing could be halved, asking for a half changes nothing: the first training counts as
    # whole.
    same = judging.search_part is asked.part or not first.halved
    base = asked if same else trainer.trial(NOTHING, trainer.seeds[0])
    twice = _not_the_same_twice(trainer.apart(), base)
    shared = services.shared_study(program, options, run.run_id)
    shared_note = f"The search is shared: study {shared}." if shared is not None else ""
    ends = ending and (
        f"The program ends with {ending.type} at {ending.place}, after its training; trainings "
        "that end in the same way count as trained."
    )
    notes = tuple(note for note in (ends, trainer.budget.note, twice, shared_note) if note)
    if watched:
        trainer.charge(trainer.one_training)
    suspects = (*found.findings, *found.low_confidence, *found.opinions)
    studies = services.traces.parent / "studies" / run.run_id if services.studies else None
    weights = services.traces.parent / "weights" / run.run_id
    weights.mkdir(parents=True, exist_ok=True)
    context = SearchContext(
        found.evidence,
        suspects,
        trainer,
        options,
        services.tell,
        note=lambda best: run.note(
            f"best/{len(context.evaluations)}",
            best,
        ),
        studies=studies,
        shared_study=shared,
        write=recorder_of(studies, options.search_name, shared)
        if options.strategy in WITHOUT_STUDY
        else None,
        scratch=weights,
        model=services.model,
        questions=run.under("model"),
        at_once=options.at_once,
        begun_with=base,
        reserve=FOR_MINIMISING * trainer.balance[1],
    )
    return context, judging, notes


def _first_that_trains(trainer: BudgetedTrainer, found: Diagnosis) -> Outcome:
    """What comes of the first suggested change with which the program trains; raises
    Inconclusive.
    """
    patches = [patch for patch in against_crash(found) if trainer.applies(patch)]
    for outcome in trainer.outcomes([trainer.trial(patch, trainer.seeds[0]) for patch in patches]):
        if outcome.trained:
            trainer.set_cost(outcome)
            return outcome
    raise _crashes(found, len(patches))


def _not_the_same_twice(trainer: BudgetedTrainer, first: Trial) -> str:
    """A note when a training that was done already comes out differently when it is done again."""
    once, again = trainer.scored([first, replace(first, repeat=1)])[0]
    if once == again or abs(once - again) <= SAME * max(abs(once), abs(again)):
        return ""
    twice = f"The metric is not the same twice for one seed ({abs(once):.4g} and {abs(again):.4g})"
    return f"{twice}: something in the program is left to chance that no seed sets."


def choosing_seeds(chance: int) -> tuple[int, ...]:
    """Screening seeds of a search, by its random seed; none of them judges."""
    return tuple(range(11 + CHOOSING * chance, 17 + CHOOSING * chance))


def judging_seeds(chance: int, count: int) -> tuple[int, ...]:
    """Fresh seeds that judge what a search has found, by its random seed; none of them chooses."""
    return tuple(range(1001 + JUDGING * chance, 1001 + JUDGING * chance + count))
