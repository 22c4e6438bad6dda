"""CR05 out-of-memory

What
    The memory of the machine or of the accelerator did not suffice.
Why
    Activations of all layers are kept for the backward pass: memory grows with the batch and with the size of
    the inputs.
Symptom
    The program ends with an exception that speaks of memory, or is killed.
Example
    import numpy as np
    from reenact.testing.toys import blobs

    x, y = blobs()
    pairs = np.zeros((len(x), 10**9, 10**6), dtype="float32")
    print(pairs.mean())
Instead
    - pairs = np.zeros((len(x), 10**9, 10**6), dtype="float32")
    + pairs = np.zeros((len(x), len(x), 10), dtype="float32")
Fix safety
    Unsafe: a smaller batch is another training.
Sources
    Documentation of torch.cuda (memory management).
"""

import re

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
from reenact.probe.crash import Crash
from reenact.probe.crash_kind import CrashKind

_ASKED = re.compile(r"tried to allocate ([\d.]+) (bytes|[KMGT]iB)", re.IGNORECASE)
"""What the allocators of torch write, of the machine and of the GPU: their exceptions hold no
number.
"""
_BYTES = {
    "bytes": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
FAULT = Fault(
    code="CR05",
    name="out-of-memory",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE905",
    "out-of-memory",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="Out of memory: use a smaller batch, gradient checkpointing or mixed precision.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def out_of_memory(detector: Detector, evidence: Evidence) -> Findings:
    """The memory of the machine or of the accelerator did not suffice.

    Documentation of torch.cuda (memory management).
    """
    crash = evidence.crash
    if crash is None:
        return
    memory = crash.facts.memory
    total = memory.total if memory is not None else None
    asked = _asked(crash)
    too_large = asked is not None and total is not None and asked > total
    why = "This one array is larger than the memory: check its shape." if too_large else ""
    yield from crashed(
        detector,
        evidence,
        CrashKind.MEMORY,
        _numbers(crash),
        why=why,
    )


def _asked(crash: Crash) -> int | None:
    memory = crash.facts.memory
    if memory is not None and memory.asked is not None:
        return memory.asked
    written = _ASKED.search(crash.message)
    if written is None:
        return None
    return int(float(written[1]) * _BYTES[written[2].lower()])


def _numbers(crash: Crash) -> str:
    memory = crash.facts.memory
    asked = _asked(crash)
    if memory is None:
        return ""
    parts = []
    if asked is not None:
        parts.append(f"asked for {_size(asked)}")
    if memory.used is not None:
        parts.append(f"{_size(memory.used)} in use")
    if memory.total is not None:
        parts.append(f"there are {_size(memory.total)} in all")
    return f"; {', '.join(parts)}" if parts else ""


def _size(number: int) -> str:
    if number >= 1e8:
        return f"{number / 1e9:,.1f} GB"
    return f"{number / 1e6:,.1f} MB"
