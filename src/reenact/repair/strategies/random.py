"""random: points of the space by chance, one training each, as many as the budget allows."""

from __future__ import annotations

import random

from reenact.program.patch import Patch
from reenact.repair.board import Board
from reenact.repair.space import space_of
from reenact.repair.study import Study
from reenact.repair.workbench import Workbench

GOOD = 0.99
"""The study stops at this accuracy."""


class Random:
    """The baseline of the study."""

    name = "random"

    def search(self, bench: Workbench) -> list[Patch]:
        """See `Strategy.search`."""
        import optuna

        chance = random.Random(bench.wishes.chance)  # noqa: S311 - a search, no secret
        space = space_of(bench.knobs, bench.wishes.space, chance)
        study = Study(bench, space, optuna.samplers.RandomSampler(seed=bench.wishes.chance))
        return best_of(study, bench)


def best_of(study: Study, bench: Workbench) -> list[Patch]:
    """Ask, train, tell, several at once, until the budget or the wish for more is spent."""
    base, board = bench.base(), Board()
    while True:
        asked = [study.ask() for _ in range(bench.at_once)]
        cost = sum(bench.cost(one.patch) for one in asked)
        if not bench.affords(cost):
            asked = asked[:1]
            if not bench.affords(bench.cost(asked[0].patch)):
                break
        scores = bench.scores([one.patch for one in asked])
        for one, score in zip(asked, scores, strict=True):
            study.tell(one, score)
        board.add([one.patch for one in asked], scores)
        if bench.attempts.bounded and max(scores) >= GOOD:
            break
    best = board.best(base)
    return [best] if best is not None and bench.better(base, board.score(best, base)) else []
