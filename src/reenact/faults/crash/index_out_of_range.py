"""CR13 index-out-of-range

What
    An embedding is asked for a row that its table does not have.
Why
    The table has one row for every index from 0 on; indices come from the data, and the size of the table is
    written in the program.
Symptom
    IndexError in the embedding, or an assertion of the GPU.
Example
    import torch
    from torch import nn

    words = torch.randint(0, 40, (64, 8))
    words[0, 0] = 39
    table = nn.Embedding(20, 4)
    print(table(words).mean())
Instead
    - table = nn.Embedding(20, 4)
    + table = nn.Embedding(40, 4)
Fix safety
    Unsafe: the table becomes as large as the largest number that was asked for; rare words may be mapped to
    one index instead.
Sources
    Documentation of torch.nn.Embedding.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.crash import crashed
from reenact.faults.fixes.drafting import with_fixes
from reenact.faults.fixes.layers import widen_table
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_values import outside

FAULT = Fault(
    code="CR13",
    name="index-out-of-range",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE913",
    "index-out-of-range",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="Every index must be below the number of rows of the embedding.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def index_out_of_range(detector: Detector, evidence: Evidence) -> Findings:
    """An embedding is asked for a row that its table does not have.

    Documentation of torch.nn.Embedding.
    """
    beyond = outside(evidence.crash) if evidence.crash is not None else None
    if beyond is None:
        return
    indices, size = beyond
    more = f"; indices are {indices.minimum} to {indices.maximum}, the embedding has {size} rows"
    for finding in crashed(detector, evidence, CrashKind.INDEX, more):
        yield with_fixes(finding, widen_table(evidence))
