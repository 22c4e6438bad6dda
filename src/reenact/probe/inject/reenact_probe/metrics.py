"""What the program reports itself: metrics in printed lines, logged by Lightning, computed by
torchmetrics; warnings of libraries.

Nothing that is printed is touched.
"""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

from reenact_probe.guard import after, guarded, patch, state
from reenact_probe.places import around_probe, caller, is_library
from reenact_probe.recorder import Recorder
from reenact_probe.types import Function, Library

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DEFAULT = re.compile(
    r"\b(?P<split>train(?:ing)?|val(?:id(?:ation)?)?|test|eval|dev)?[\s_./-]*"
    r"(?P<name>accuracy|acc|prec(?=@)|loss|error|f1|auc|mae|mse|rmse|r2|perplexity|ppl|bleu|mrr|map"
    r"|precision|recall)\b(?:@(?P<at>\d+))?"
    r"['\"]?\s*[:=]?\s*['\"]?(?P<value>" + _NUMBER + r")\s*(?P<percent>%?)",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\b\w*Warning:")
_CODE = re.compile(r"error\s+\d+\s*$", re.IGNORECASE)
"""`Error 304`: a code, no measure."""
_EPOCH = re.compile(r"\bepochs?\b\W{0,3}(\d+)", re.IGNORECASE)
_SPLITS = {
    "t": "train_",
    "v": "val_",
    "e": "val_",
    "d": "val_",
}
_MAX_LINE = 2000


class Tap:
    """Listens to `write` of one stream."""

    def __init__(
        self,
        stream: Any,
        recorder: Recorder,
        keras_drives: Callable[[], bool],
    ) -> None:
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

        # On the instance: the stream stays the same object, with the same buffer, encoding and file
        # number.
        stream.write = write
        state.undo.append(lambda: stream.__dict__.pop("write", None))

    @guarded("output")
    def _printed(self, text: str) -> None:
        if not isinstance(text, str):
            return
        lines = (self._rest + text).split("\n")
        *bars, self._rest = lines.pop().rsplit("\r", 1)
        self._rest = self._rest[-_MAX_LINE:]
        for line in lines:
            # What was overwritten is a progress bar; what stays behind its last return is a line.
            *over, line = line.rsplit("\r", 1)
            bars += over
            if any(character.isdigit() for character in line):
                self._line(line[:_MAX_LINE])
        for line in bars[-1:]:
            for match in _DEFAULT.finditer(line[-_MAX_LINE:]):
                self._default(match, "progress")

    def _line(self, line: str) -> None:
        for pattern in self.patterns:
            for match in pattern.finditer(line):
                groups = match.groupdict() or {
                    "metric": match.group(1 if match.re.groups else 0),
                }
                for name, value in groups.items():
                    if value is not None:
                        self.recorder.metric(name, value, "pattern")
        if self.keras_drives() or _WARNING.search(line):
            return
        epoch = _EPOCH.search(line)
        if epoch:
            self.recorder.event(
                "printed-epoch",
                number=int(epoch.group(1)[:9]),
            )
        for match in _DEFAULT.finditer(line):
            self._default(match)

    def _default(self, match: re.Match[str], source: str = "output") -> None:
        split, name, at, number, percent = match.group("split", "name", "at", "value", "percent")
        if at not in (None, "1") or _CODE.search(match.group()):
            return
        split = (split or "").lower()
        value = float(number)
        prefix = "test_" if split == "test" else _SPLITS.get(split[:1], "")
        name = "accuracy" if name.lower() in ("acc", "prec") else name.lower()
        # `Acc@1 94.00` is a share of a hundred, by custom; so is an accuracy above one.
        hundred = percent or at or (name == "accuracy" and 1 < value <= 100)
        self.recorder.metric(
            prefix + name,
            value / (100 if hundred else 1),
            source,
        )


def tap_output(recorder: Recorder, keras_drives: Callable[[], bool]) -> None:
    """Listen to standard output, and to standard error: progress bars and loggers write there."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "__dict__"):
            Tap(stream, recorder, keras_drives)


def watch_warnings(recorder: Recorder) -> None:
    """Note what libraries warn of, with the line of the program that made them; where a function of
    the probe stands in between, the warning is shown with the file and line that it has without the
    probe.
    """

    @guarded("warning")
    def note(
        message: Any,
        category: type,
        filename: str,
        line: int,
        *_: Any,
        **__: Any,
    ) -> None:
        place = caller() if is_library(filename) else [filename, line, 0, 0, 0]
        recorder.event(
            "warning",
            category=category.__name__,
            message=str(message)[:500],
            place=place,
        )

    without_probe = guarded("warning-place")(around_probe)

    def showing(original: Function) -> Function:
        def show(
            message: Any,
            category: type,
            filename: str,
            line: int,
            *args: Any,
            **kwargs: Any,
        ) -> Any:
            note(message, category, filename, line)
            shown = without_probe(sys._getframe(1), filename, line) or (filename, line)
            return original(message, category, *shown, *args, **kwargs)

        return show

    patch(warnings, "showwarning", showing)


_MOMENTS = frozenset({"on_train_epoch_end", "on_validation_end", "on_test_end"})


@guarded("lightning-import")
def watch_lightning(recorder: Recorder, module: Library) -> None:
    """Read what a trainer logs, through the one function that every callback hook goes through."""
    recorder.note_framework("lightning", module.__version__)
    seen: dict[tuple[str, int], float] = {}

    @guarded("lightning")
    def hooks_called(
        _: Any,
        trainer: Any,
        hook_name: str,
        *args: Any,  # noqa: ARG001
        **kwargs: Any,  # noqa: ARG001
    ) -> None:
        if hook_name not in _MOMENTS or getattr(trainer, "sanity_checking", False):
            return
        for name, value in dict(trainer.callback_metrics).items():
            number = float(value)
            key = (name, recorder.epoch)
            # Old values stay in the dictionary: only what changed, or belongs to a new epoch, is
            # news.
            if seen.get(key) != number:
                seen[key] = number
                recorder.metric(name, number, "lightning")

    after(
        importlib.import_module(module.__name__ + ".trainer.call"),
        "_call_callback_hooks",
        hooks_called,
    )


@guarded("torchmetrics-import")
def watch_torchmetrics(recorder: Recorder, torchmetrics: Library) -> None:
    """Read what metrics compute, through what wraps every metric's `compute`."""

    @guarded("torchmetrics")
    def note(metric: Any, value: Any) -> None:
        # Inside `forward` a value belongs to one batch, not to the epoch.
        if getattr(metric, "_to_sync", True) is False or getattr(value, "numel", lambda: 0)() != 1:
            return
        name = type(metric).__name__
        for prefix in ("Multiclass", "Multilabel", "Binary"):
            name = name[len(prefix) :] if name.startswith(prefix) else name
        recorder.metric(
            re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(),
            value.detach(),
            "torchmetrics",
        )

    def wrap(original: Function) -> Function:
        def _wrap_compute(metric: Any, compute: Function) -> Function:
            wrapped = original(metric, compute)

            def computed(*args: Any, **kwargs: Any) -> Any:
                note(
                    metric,
                    value := wrapped(*args, **kwargs),
                )
                return value

            return computed

        return _wrap_compute

    patch(torchmetrics.Metric, "_wrap_compute", wrap)
