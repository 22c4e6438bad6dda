"""CR08 needs-a-launcher

What
    The program joins a group of processes, and nobody started the group.
Why
    `init_process_group` reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT from the environment. A launcher
    such as torchrun sets them for every process that it starts.
Symptom
    The program ends in `torch.distributed`, or at `os.environ["LOCAL_RANK"]`, before it trains.
Example
    import os
    from reenact.testing.toys import blobs

    x, y = blobs()
    rank = int(os.environ["LOCAL_RANK"])
    print(rank, len(x[rank::2]))
Instead
    - rank = int(os.environ["LOCAL_RANK"])
    + rank = int(os.environ.get("LOCAL_RANK", "0"))
Fix safety
    Safe: start it with the launcher that it was written for.
Sources
    Documentation of torchrun (Elastic Launch) and of torch.distributed.init_process_group.
"""

import shlex

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
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_values import needs_group

FAULT = Fault(
    code="CR08",
    name="needs-a-launcher",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE908",
    "needs-a-launcher",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The program is one process of a group that a launcher starts.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def needs_a_launcher(detector: Detector, evidence: Evidence) -> Findings:
    """The program joins a group of processes, and nobody started the group.

    Documentation of torchrun (Elastic Launch) and of torch.distributed.init_process_group.
    """
    words = evidence.program.launch.words if evidence.program is not None else ("PROGRAM",)
    start = f"reenact diagnose -- torchrun --nproc-per-node=2 {shlex.join(words)}"
    unset = evidence.crash.facts.unset if evidence.crash is not None else ()
    more = f"; not set: {', '.join(unset)}" if unset else ""
    joins = ""
    if evidence.crash is not None and needs_group(evidence.crash):
        joins = " It must call torch.distributed.init_process_group() first."
    yield from crashed(
        detector,
        evidence,
        CrashKind.LAUNCHER,
        more,
        why=f"{detector.why}{joins} Start it with: {start}",
    )
