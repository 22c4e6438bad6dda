"""Training in a process made by fork: it is not observed, but the trace says that it happened.

The child shares the parent's recording and must not write to it. It leaves one small file at its first
optimiser step; the parent finds the file when it ends. Loading workers never step, so they leave none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.folder import Folder
    from reenact_probe.recorder import Recorder

NOTE = "forked.json"
SENTENCE = "a process made by fork trained: what happens in it is not observed (one made by spawn is)"


def listen(folder: Folder) -> None:
    """In the child: note the first step of an optimiser of torch."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    def stepped(*_: Any) -> None:
        handle.remove()
        try:
            os.makedirs(folder.path, exist_ok=True)
            folder.write_json(NOTE, {"pid": os.getpid()})
        except OSError:
            # Nothing of the probe may reach the program, a full disk least of all.
            return

    handle = register_optimizer_step_post_hook(stepped)


def mention(recorder: Recorder) -> None:
    """In the parent, at its end: name the training that nobody saw."""
    if os.path.exists(os.path.join(recorder.folder.path, NOTE)) and recorder.owned:
        recorder.note_missing(SENTENCE)
