"""bohb: a tree-structured Parzen estimator proposes, Hyperband ends what is hopeless (Falkner et al. 2018).

Starts from the faulty configuration. A rung is a training from its start with a share of the epochs, because
a program that is not ours cannot be paused between two rungs.
"""

from __future__ import annotations

import random

from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.space import space_of
from reenact.repairs.strategies.random import GOOD
from reenact.repairs.strategies.scoreboard import Scoreboard
from reenact.repairs.study import Study, StudyPoint, finite

RUNGS = (1, 3, 9)
"""Ninths of the epochs."""


class Bohb:
    """TPE and Hyperband of Optuna."""

    name = "bohb"

    def search(self, bench: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        import optuna

        chance = random.Random(bench.wishes.chance)  # noqa: S311 - a search, no secret
        space = space_of(bench.knobs, bench.wishes.space, chance)
        study = Study(
            bench,
            space,
            optuna.samplers.TPESampler(seed=bench.wishes.chance, n_startup_trials=5, constant_liar=True),
            pruner=optuna.pruners.HyperbandPruner(RUNGS[0], RUNGS[-1], reduction_factor=3),
            from_faulty=True,
        )
        base, board = bench.base(), Scoreboard()
        while bench.affords(self._least(bench)):
            asked = study.ask()
            reached = _climb(asked, study, bench)
            if reached is None:
                continue
            board.add([asked.patch], [reached])
            if bench.trainer.bounded and reached >= GOOD:
                break
        best = board.best(base)
        return [best] if best is not None and bench.better(base, board.score(best, base)) else []

    def _least(self, bench: SearchContext) -> float:
        return RUNGS[0] / RUNGS[-1] if bench.can_shorten else 1.0


def _climb(asked: StudyPoint, study: Study, bench: SearchContext) -> float | None:
    """Rung by rung; none when it was ended on the way."""
    score = 0.0
    for rung in RUNGS if bench.can_shorten else RUNGS[-1:]:
        share = rung / RUNGS[-1]
        if not bench.affords(bench.cost(asked.patch, share=share)):
            study.drop(asked)
            return None
        score = bench.scores([asked.patch], share=share)[0]
        asked.trial.report(finite(score), rung)
        if rung < RUNGS[-1] and asked.trial.should_prune():
            study.drop(asked)
            return None
    study.tell(asked, score)
    return score
