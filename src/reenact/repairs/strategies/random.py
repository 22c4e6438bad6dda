"""random: points of the space by chance, one training each, as many as the budget allows."""

from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.strategies.strategy import Scoreboard
from reenact.repairs.study import Study, StudyPoint

GOOD = 0.99
"""The study stops at this accuracy."""
LEAST = 0.25
"""Trainings' worth below which no point is asked for."""
TOO_EXPENSIVE = 30
"""Points that cost more than what is left may come so often in a row."""


class Random:
    """The baseline of the study."""

    name = "random"

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        import optuna

        study = Study(
            context,
            optuna.samplers.RandomSampler(seed=context.sampler_seed),
        )
        return best_of(study, context)


def best_of(study: Study, context: SearchContext) -> list[Patch]:
    """Ask, train, tell, several at once, until the budget is spent or the metric is good."""
    base = context.base()
    board = Scoreboard()
    while asked := _affordable(study, context):
        scores = context.scores([one.patch for one in asked])
        for one, score in zip(asked, scores, strict=True):
            study.tell(one, score)
        board.add([one.patch for one in asked], scores)
        if context.trainer.bounded and max(scores) >= GOOD:
            break
    return board.worth_verifying(base, context.better)


def _affordable(study: Study, context: SearchContext) -> list[StudyPoint]:
    """The next points, as many as are trained at once; one that is too expensive makes way for
    the next.
    """
    chosen: list[StudyPoint] = []
    planned = 0.0
    for _ in range(TOO_EXPENSIVE):
        if len(chosen) == context.at_once or not context.within_budget(planned + LEAST):
            break
        one = study.ask()
        cost = context.cost(one.patch)
        if context.within_budget(planned + cost):
            chosen.append(one)
            planned += cost
        else:
            study.tell(one, None)
    return chosen


STRATEGY = Random
