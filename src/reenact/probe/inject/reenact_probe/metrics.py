"""Metrics that the program reports itself: printed lines, what Lightning logs, what torchmetrics computes.

Nothing that is printed is touched.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from reenact_probe.guard import after, guarded, patch, state
from reenact_probe.recorder import Recorder
from reenact_probe.types import Function, Library

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DEFAULT = re.compile(
    r"\b(?P<split>train(?:ing)?|val(?:id(?:ation)?)?|test|eval)?[\s_.-]*"
    r"(?P<name>accuracy|acc|loss|error|f1|auc|mae|mse|rmse|r2|perplexity|ppl|bleu|mrr|map|precision|recall)"
    r"\b\s*[:=]?\s*(?P<value>" + _NUMBER + r")\s*(?P<percent>%?)",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"\bepochs?\b\W{0,3}(\d+)", re.IGNORECASE)
_SPLITS = {"t": "train_", "v": "val_", "e": "val_"}
_MAX_LINE = 2000


class Tap:
    """Listens to `write` of one stream."""

    def __init__(self, stream: Any, recorder: Recorder, keras_drives: Callable[[], bool]) -> None:
        self.recorder = recorder
        self.keras_drives = keras_drives
        """Whether Keras's progress bar prints: it only repeats what its callbacks tell."""
        self.patterns = [re.compile(text) for text in recorder.config.patterns]
        self._rest = ""
        original = stream.write

        def write(text: Any) -> Any:
            written = original(text)
            self._printed(text)
            return written

        # On the instance: the stream stays the same object, with the same buffer, encoding and file number.
        stream.write = write
        state.undo.append(lambda: stream.__dict__.pop("write", None))

    @guarded("output")
    def _printed(self, text: str) -> None:
        if not isinstance(text, str):
            return
        lines = (self._rest + text).replace("\r", "\n").split("\n")
        self._rest = lines.pop()[-_MAX_LINE:]
        for line in lines:
            if any(character.isdigit() for character in line):
                self._line(line[:_MAX_LINE])

    def _line(self, line: str) -> None:
        for pattern in self.patterns:
            for match in pattern.finditer(line):
                self._named(match)
        if self.keras_drives():
            return
        epoch = _EPOCH.search(line)
        if epoch:
            self.recorder.event("printed-epoch", number=int(epoch.group(1)[:9]))
        for match in _DEFAULT.finditer(line):
            self._default(match)

    def _named(self, match: re.Match[str]) -> None:
        groups = match.groupdict() or {"metric": match.group(1 if match.re.groups else 0)}
        for name, value in groups.items():
            if value is not None:
                self.recorder.metric(name, value, "pattern")

    def _default(self, match: re.Match[str]) -> None:
        split = match.group("split") or ""
        prefix = "test_" if split.lower() == "test" else _SPLITS.get(split[:1].lower(), "")
        name = match.group("name").lower().replace("accuracy", "acc").replace("acc", "accuracy")
        value = float(match.group("value")) / (100 if match.group("percent") else 1)
        self.recorder.metric(prefix + name, value, "output")


def tap_output(recorder: Recorder, keras_drives: Callable[[], bool]) -> None:
    """Listen to standard output."""
    if sys.stdout is not None and hasattr(sys.stdout, "__dict__"):
        Tap(sys.stdout, recorder, keras_drives)


_MOMENTS = frozenset({"on_train_epoch_end", "on_validation_end", "on_test_end"})


def watch_lightning(package: str, recorder: Recorder) -> None:
    """Read what a trainer logs, through the one function that every callback hook goes through."""
    seen: dict[tuple[str, int], float] = {}

    @guarded("lightning")
    def read(trainer: Any) -> None:
        if getattr(trainer, "sanity_checking", False):
            return
        for name, value in dict(trainer.callback_metrics).items():
            number, key = float(value), (name, recorder.epoch)
            # Old values stay in the dictionary: only what changed, or belongs to a new epoch, is news.
            if seen.get(key) != number:
                seen[key] = number
                recorder.metric(name, number, "lightning")

    def hooks_called(_: Any, trainer: Any, hook_name: str, *args: Any, **kwargs: Any) -> None:  # noqa: ARG001
        if hook_name in _MOMENTS:
            read(trainer)

    after(importlib.import_module(package + ".trainer.call"), "_call_callback_hooks", hooks_called)


def watch_torchmetrics(torchmetrics: Library, recorder: Recorder) -> None:
    """Read what metrics compute, through what wraps every metric's `compute`."""

    @guarded("torchmetrics")
    def note(metric: Any, value: Any) -> None:
        # Inside `forward` a value belongs to one batch, not to the epoch.
        if getattr(metric, "_to_sync", True) is False or getattr(value, "numel", lambda: 0)() != 1:
            return
        name = type(metric).__name__
        for prefix in ("Multiclass", "Multilabel", "Binary"):
            name = name[len(prefix) :] if name.startswith(prefix) else name
        recorder.metric(re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), value.detach(), "torchmetrics")

    def wrap(original: Function) -> Function:
        def _wrap_compute(metric: Any, compute: Function) -> Function:
            wrapped = original(metric, compute)

            def computed(*args: Any, **kwargs: Any) -> Any:
                value = wrapped(*args, **kwargs)
                note(metric, value)
                return value

            return computed

        return _wrap_compute

    patch(torchmetrics.Metric, "_wrap_compute", wrap)
