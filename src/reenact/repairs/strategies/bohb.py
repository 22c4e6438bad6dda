"""bohb: a tree-structured Parzen estimator proposes, Hyperband ends what is hopeless (Falkner et
al. 2018).

Starts from the faulty configuration. A rung is a training from its start with a share of the
epochs, because a program that is not ours cannot be paused between two rungs.
"""

from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.strategies.random import GOOD
from reenact.repairs.strategies.strategy import Scoreboard
from reenact.repairs.study import Study, StudyPoint

RUNGS = (1, 3, 9)
"""Ninths of the epochs."""


class Bohb:
    """TPE and Hyperband of Optuna."""

    name = "bohb"

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        import optuna

        sampler = optuna.samplers.TPESampler(
            seed=context.sampler_seed, n_startup_trials=5, constant_liar=True
        )
        pruner = optuna.pruners.HyperbandPruner(
            RUNGS[0],
            RUNGS[-1],
            reduction_factor=3,
        )
        study = Study(context, sampler, pruner)
        base = context.base()
        board = Scoreboard()
        least = RUNGS[0] / RUNGS[-1] if context.can_shorten else 1.0
        while context.within_budget(least):
            asked = study.ask()
            reached = _climb(asked, study, context)
            if reached is None:
                continue
            board.add([asked.patch], [reached])
            if context.trainer.bounded and reached >= GOOD:
                break
        return board.worth_verifying(base, context.better)


def _climb(asked: StudyPoint, study: Study, context: SearchContext) -> float | None:
    """Rung by rung; none when it was ended on the way."""
    score = 0.0
    for rung in RUNGS if context.can_shorten else RUNGS[-1:]:
        share = rung / RUNGS[-1]
        if not context.within_budget(context.cost(asked.patch, share=share)):
            study.tell(asked, None)
            return None
        score = context.scores([asked.patch], share=share)[0]
        if study.should_end(asked, score, rung) and rung < RUNGS[-1]:
            study.tell(asked, None)
            return None
    study.tell(asked, score)
    return score


STRATEGY = Bohb
