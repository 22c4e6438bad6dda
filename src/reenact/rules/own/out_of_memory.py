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

from reenact.rules.own._crash import CrashKind, CrashRule


class OutOfMemory(CrashRule):
    code, name, family = "RE905", "out-of-memory", "reenact"
    kind, confidence = CrashKind.MEMORY, 0.9
    why = "Memory grows with the batch and with what is kept for the way back."
