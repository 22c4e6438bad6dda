"""One row per gearbox still running at the landmark."""
import numpy as np

from .records import EXTRACT_DAY, KINDS

LANDMARK = 365
FEATURES = ["rating", "wind", "installed"] + [f"n_{kind}" for kind in KINDS] + ["share_stop"]


def event_counts(fleet, until):
    """Log entries of each kind per gearbox, up to the calendar day `until`."""
    limit = np.broadcast_to(until, fleet.installed.shape)
    keep = fleet.log_day <= limit[fleet.log_unit]
    counts = np.zeros((len(fleet.installed), len(KINDS)))
    np.add.at(counts, (fleet.log_unit[keep], fleet.log_kind[keep]), 1.0)
    return counts


def feature_table(fleet):
    """Returns features, remaining days after the landmark, and whether the gearbox failed."""
    counts = event_counts(fleet, until=EXTRACT_DAY)
    share_stop = counts[:, 2] / np.maximum(counts.sum(axis=1), 1.0)
    table = np.column_stack([fleet.rating, fleet.wind, fleet.installed / EXTRACT_DAY,
                             np.log1p(counts), share_stop])
    at_risk = fleet.lifetime > LANDMARK
    return (table[at_risk].astype(np.float32),
            (fleet.lifetime[at_risk] - LANDMARK).astype(np.float32),
            fleet.failed[at_risk].astype(np.float32))
