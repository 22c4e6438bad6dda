"""RE905 out-of-memory

What
    The memory of the machine or of the accelerator did not suffice.
Why
    Activations of all layers are kept for the way back: memory grows with the batch and with the size of
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

from reenact.probe.crash import Crash
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_kind import CrashKind


class OutOfMemory(CrashRule):
    code, name, family = "RE905", "out-of-memory", "reenact"
    kind, confidence = CrashKind.MEMORY, 0.9
    why = "Out of memory: use a smaller batch, gradient checkpointing or mixed precision."

    def check(self, evidence: Evidence) -> Findings:
        crash = evidence.crash
        if crash is None:
            return
        memory = crash.facts.memory
        total = memory.total if memory is not None else None
        asked = _asked(crash)
        too_large = asked is not None and total is not None and asked > total
        why = "This one array is larger than the memory: check its shape." if too_large else ""
        yield from self.crashed(evidence, _numbers(crash), why=why)


_ASKED = re.compile(r"tried to allocate (\d+) bytes")
"""What the allocator of torch writes: its exception holds no number."""


def _asked(crash: Crash) -> int | None:
    memory = crash.facts.memory
    if memory is not None and memory.asked is not None:
        return memory.asked
    written = _ASKED.search(crash.message)
    return int(written[1]) if written is not None else None


def _numbers(crash: Crash) -> str:
    memory, asked = crash.facts.memory, _asked(crash)
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
    return f"{number / 1e9:,.1f} GB" if number >= 1e8 else f"{number / 1e6:,.1f} MB"
