"""What the detector sees of a training: named numbers in a fixed order, none of them NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reenact.diagnosis.learned.monitored import monitored
from reenact.diagnosis.learned.observed import observed
from reenact.diagnosis.learned.written import written
from reenact.rules.evidence import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def features(evidence: Evidence) -> dict[str, float]:
    """DeepFD's monitored features and ours; what is not known has a value that no known one has, or 0."""
    import numpy as np

    with np.errstate(all="ignore"):
        found = monitored(evidence) | written(evidence) | observed(evidence)
    return {name: _finite(value) for name, value in found.items()}


def matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> NDArray[np.float32]:
    """Rows of features as an array with these columns; what a row lacks is 0."""
    import numpy as np

    return np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float32)


def _finite(value: float) -> float:
    return max(-1e9, min(1e9, float(value))) if math.isfinite(value) else 0.0
