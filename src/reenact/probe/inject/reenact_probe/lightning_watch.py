"""Metrics that a Lightning module logs, read where Lightning itself hands them to its callbacks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, patch
from reenact_probe.types import Function

if TYPE_CHECKING:
    from reenact_probe.recorder import Recorder

_MOMENTS = frozenset({"on_train_epoch_end", "on_validation_end", "on_test_end"})


class LightningWatch:
    """Wraps the one function through which every callback hook goes."""

    def __init__(self, package: str, recorder: Recorder) -> None:
        self.recorder = recorder
        self._seen: dict[tuple[str, int], float] = {}
        call = importlib.import_module(package + ".trainer.call")
        patch(call, "_call_callback_hooks", self._wrap)

    def _wrap(self, original: Function) -> Function:
        def _call_callback_hooks(trainer: Any, hook_name: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(trainer, hook_name, *args, **kwargs)
            if hook_name in _MOMENTS:
                self._read(trainer)
            return result

        return _call_callback_hooks

    @guarded("lightning")
    def _read(self, trainer: Any) -> None:
        if getattr(trainer, "sanity_checking", False):
            return
        for name, value in dict(trainer.callback_metrics).items():
            number = float(value)
            key = (name, self.recorder.epoch)
            # Old values stay in the dictionary: only what changed, or belongs to a new epoch, is news.
            if self._seen.get(key) != number:
                self._seen[key] = number
                self.recorder.metric(name, number, "lightning")
