"""Values that torchmetrics computes: the end of an epoch in most programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, patch
from reenact_probe.types import Function, Library

if TYPE_CHECKING:
    from reenact_probe.recorder import Recorder


class TorchmetricsWatch:
    """Wraps what every metric's `compute` goes through."""

    def __init__(self, torchmetrics: Library, recorder: Recorder) -> None:
        self.recorder = recorder
        patch(torchmetrics.Metric, "_wrap_compute", self._wrap)

    def _wrap(self, original: Function) -> Function:
        def _wrap_compute(metric: Any, compute: Function) -> Function:
            wrapped = original(metric, compute)

            def computed(*args: Any, **kwargs: Any) -> Any:
                value = wrapped(*args, **kwargs)
                self._note(metric, value)
                return value

            return computed

        return _wrap_compute

    @guarded("torchmetrics")
    def _note(self, metric: Any, value: Any) -> None:
        # Inside `forward` a value belongs to one batch, not to the epoch.
        if getattr(metric, "_to_sync", True) is False or getattr(value, "numel", lambda: 0)() != 1:
            return
        name = type(metric).__name__
        for prefix in ("Multiclass", "Multilabel", "Binary"):
            name = name[len(prefix) :] if name.startswith(prefix) else name
        self.recorder.metric(_snake(name), value.detach(), "torchmetrics")


def _snake(name: str) -> str:
    return "".join(("_" if i and letter.isupper() else "") + letter.lower() for i, letter in enumerate(name))
