"""The classifiers: those of DeepFD with its settings, and two of ours. Only this and scores.py need
scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reenact.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Probabilities = NDArray[np.float64]

TREES, LEAF = 60, 2


def require_sklearn() -> None:
    """Raises MissingExtra with the command that installs it."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise MissingExtra("scikit-learn", "learn")


def neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=5))


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="gini", max_depth=5, random_state=0)


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=32, max_depth=10, max_features=60, random_state=0)


def extra_trees() -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(
        n_estimators=TREES, min_samples_leaf=LEAF, max_features=0.3, random_state=0
    )


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.multioutput import MultiOutputClassifier

    return MultiOutputClassifier(
        HistGradientBoostingClassifier(
            max_iter=50,
            learning_rate=0.12,
            max_bins=32,
            max_leaf_nodes=8,
            min_samples_leaf=8,
            max_features=0.2,
            random_state=0,
        )
    )


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "k nearest neighbours": neighbours,
    "decision tree": tree,
    "random forest": forest,
    "extra trees": extra_trees,
    "gradient boosting": boosting,
}
PAPER = ("k nearest neighbours", "decision tree", "random forest")
"""DeepFD takes the union of what these three say."""
SHIPPED = "gradient boosting"


def fitted(name: str, x: NDArray[np.float32], y: NDArray[np.int64]) -> Any:
    """A classifier that has learned. On one thread: several that wait for each other are slower on
    a busy machine.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return CLASSIFIERS[name]().fit(x, y)


def probabilities(model: Any, x: NDArray[np.float32]) -> Probabilities:
    """Probability of each class for each row; a class that the model never saw has 0."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        by_class = model.predict_proba(x)
    columns = []
    for columns_of in by_class:
        columns.append(columns_of[:, 1] if columns_of.shape[1] == 2 else np.zeros(len(x)))
    return np.stack(columns, axis=1)
