"""From fitted gradient boosting to the shipped forest, with its calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.detector.dataset import Dataset
from reenact.diagnosis.learned.findings import Forest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POINTS = 21
SUREST = 0.95
"""No calibration from a few hundred trainings warrants more."""


def exported(model: Any, data: Dataset, held_out: NDArray[np.float64]) -> Forest:
    """The trees of fitted gradient boosting as arrays; `held_out` are probabilities for programs
    not learned from. Scikit-learn shows these trees under private names only: a test compares the
    answers.
    """
    import numpy as np

    trees = [
        (owner, stage[0].nodes)
        for owner, booster in enumerate(model.estimators_)
        for stage in booster._predictors
    ]
    sizes = [len(nodes) for _, nodes in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    nodes = np.concatenate([nodes for _, nodes in trees])
    offset = np.repeat(roots, sizes)
    leaf = nodes["is_leaf"].astype(bool)
    curves = [curve(held_out[:, at], data.y[:, at]) for at in range(len(data.classes))]
    return Forest(
        names=data.names,
        codes=tuple(one.code for one in data.classes),
        roots=roots.astype(np.int32),
        owner=np.array([owner for owner, _ in trees], dtype=np.int16),
        prior=np.array(
            [float(booster._baseline_prediction.ravel()[0]) for booster in model.estimators_]
        ),
        feature=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int16),
        threshold=_down(nodes["num_threshold"]),
        left=np.where(leaf, 0, nodes["left"] + offset).astype(np.int32),
        right=np.where(leaf, 0, nodes["right"] + offset).astype(np.int32),
        value=np.where(leaf, nodes["value"], 0).astype(np.float32),
        curve_x=np.array([xs for xs, _ in curves], dtype=np.float32),
        curve_y=np.array([ys for _, ys in curves], dtype=np.float32),
    )


def curve(
    confidences: NDArray[np.float64], truth: NDArray[np.int64]
) -> tuple[NDArray[np.float64], ...]:
    """How often a class is right when the trees say so much: isotonic, on programs not learned
    from.
    """
    import numpy as np
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(y_min=0.0, y_max=SUREST, out_of_bounds="clip").fit(
        confidences, truth
    )
    points = np.linspace(0, 1, POINTS)
    return points, fitted.predict(points)


def _down(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """The next float32 not above: rows are float32, so that `<=` keeps its meaning."""
    import numpy as np

    near = threshold.astype(np.float32)
    return np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near).astype(
        np.float32
    )
