"""RE913 index-out-of-range

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
    There is nothing to change automatically: widen the table, or map rare words to one index.
Sources
    Documentation of torch.nn.Embedding.
"""

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_kind import CrashKind
from reenact.rules.own._crash_values import outside


class IndexOutOfRange(CrashRule):
    code, name, family = "RE913", "index-out-of-range", "reenact"
    kind = CrashKind.INDEX
    why = "Every index must be below the number of rows of the embedding."

    def check(self, evidence: Evidence) -> Findings:
        beyond = outside(evidence.crash) if evidence.crash is not None else None
        if beyond is None:
            return
        indices, size = beyond
        more = f"; indices are {indices.minimum} to {indices.maximum}, the embedding has {size} rows"
        yield from self.crashed(evidence, more)
