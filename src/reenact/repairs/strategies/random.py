"""random: points of the space by chance, one training each, as many as the budget allows."""

from __future__ import annotations

import random

from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.space import space_of
from reenact.repairs.strategies.scoreboard import Scoreboard
from reenact.repairs.study import Study, StudyPoint

GOOD = 0.99
"""The study stops at this accuracy."""
LEAST = 0.25
"""Trainings' worth below which no point is asked for."""
TOO_DEAR = 30
"""Points that cost more than what is left may come so often in a row."""


class Random:
    """The baseline of the study."""

    name = "random"

    def search(self, bench: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        import optuna

        chance = random.Random(bench.wishes.chance)  # noqa: S311 - a search, no secret
        space = space_of(bench.knobs, bench.wishes.space, chance)
        study = Study(bench, space, optuna.samplers.RandomSampler(seed=bench.wishes.chance))
        return best_of(study, bench)


def best_of(study: Study, bench: SearchContext) -> list[Patch]:
    """Ask, train, tell, several at once, until the budget or the wish for more is spent."""
    base, board = bench.base(), Scoreboard()
    while asked := _affordable(study, bench):
        scores = bench.scores([one.patch for one in asked])
        for one, score in zip(asked, scores, strict=True):
            study.tell(one, score)
        board.add([one.patch for one in asked], scores)
        if bench.trainer.bounded and max(scores) >= GOOD:
            break
    best = board.best(base)
    return [best] if best is not None and bench.better(base, board.score(best, base)) else []


def _affordable(study: Study, bench: SearchContext) -> list[StudyPoint]:
    """The next points, as many as are trained at once; one that is too dear makes way for the next."""
    chosen: list[StudyPoint] = []
    planned = 0.0
    for _ in range(TOO_DEAR):
        if len(chosen) == bench.at_once or not bench.affords(planned + LEAST):
            break
        one = study.ask()
        cost = bench.cost(one.patch)
        if bench.affords(planned + cost):
            chosen.append(one)
            planned += cost
        else:
            study.drop(one)
    return chosen
