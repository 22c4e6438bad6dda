"""hebo: Bayesian optimisation by HEBO (Cowen-Rivers et al. 2022), from the faulty configuration.

HEBO cannot be installed in the usual way: its pins are older than what it runs with. The recipe
stands in the documentation; without it this strategy refuses, and nothing else takes its name.
"""

import math
from importlib import import_module
from typing import Any

from reenact.errors import MissingPart
from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.space import Dimension, Space, patch_at, space_of
from reenact.repairs.strategies.random import GOOD
from reenact.repairs.strategies.strategy import Scoreboard
from reenact.repairs.study import FAILED

RECIPE = "pip install GPy==1.15.0 gpytorch pymoo catboost disjoint-set"
RECIPE += ", then pip install --no-deps HEBO==0.3.6"


class Hebo:
    """The optimiser of the package HEBO."""

    name = "hebo"

    def search(self, context: SearchContext) -> list[Patch]:
        """See `Strategy.search`."""
        space = space_of(
            context.hyperparameters,
            context.options.space,
            context.options.chance,
        )
        optimizer, frame = _optimizer(space, context.options.chance)
        base = context.base()
        board = Scoreboard()
        optimizer.observe(
            frame([{one.name: one.start for one in space}]),
            _losses([base]),
        )
        while True:
            wanted = optimizer.suggest(n_suggestions=1)
            point = {one.name: one.value_at(float(wanted.iloc[0][one.name])) for one in space}
            patch = patch_at(space, point, context.applies)
            if not context.within_budget(context.cost(patch)):
                break
            score = context.scores([patch])[0]
            optimizer.observe(wanted, _losses([score]))
            board.add([patch], [score])
            if context.trainer.bounded and score >= GOOD:
                break
        return board.worth_verifying(base, context.better)


def _optimizer(space: Space, seed: int) -> tuple[Any, Any]:
    try:
        pandas = import_module("pandas")
        design_space = import_module("hebo.design_space.design_space")
        optimizers = import_module("hebo.optimizers.hebo")
    except ImportError as error:
        why = f"The strategy hebo needs the package HEBO, which is not installed ({error})."
        raise MissingPart(why, next_step=RECIPE) from error
    design = design_space.DesignSpace().parse([_parameter(one) for one in space])
    return optimizers.HEBO(design, scramble_seed=seed), pandas.DataFrame


def _parameter(one: Dimension) -> dict[str, Any]:
    if one.is_range:
        kind = {"type": "pow", "base": 10} if one.logarithmic else {"type": "num"}
        return {
            "name": one.name,
            "lb": one.low,
            "ub": one.high,
            **kind,
        }
    return {
        "name": one.name,
        "type": "cat",
        "categories": list(range(len(one.values))),
    }


def _losses(scores: list[float]) -> Any:
    """HEBO makes things small."""
    import numpy as np

    return np.array([[-score if math.isfinite(score) else -FAILED] for score in scores])


STRATEGY = Hebo
