"""What stood at the ends of epochs: where DeepDiagnosis looks."""

from __future__ import annotations

from reenact.probe.columns import Columns
from reenact.rules import Evidence


def epoch_ends(evidence: Evidence, rows: Columns) -> Columns:
    """The last row of each epoch; all rows when there is no sign of epochs."""
    import numpy as np

    trace = evidence.trace
    if trace is None or not trace.epoch_count or trace.epoch_count < 2:
        return rows
    epoch = dict(zip(trace.steps["step"].tolist(), trace.steps["epoch"].tolist(), strict=True))
    last = {max(0, epoch.get(step, 0)): number for number, step in enumerate(rows["step"].tolist())}
    keep = np.array(sorted(last.values()), dtype=np.int64)
    return Columns(rows.columns, rows.rows[keep])
