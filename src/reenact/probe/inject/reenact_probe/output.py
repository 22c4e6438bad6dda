"""Reads metrics off the printed lines, without touching what is printed."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, state

if TYPE_CHECKING:
    from reenact_probe.boot import Session

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

    def __init__(self, stream: Any, session: Session) -> None:
        self.session = session
        self.recorder = session.recorder
        self.patterns = [re.compile(text) for text in session.config.patterns]
        self._rest = ""
        original = stream.write

        def write(text: Any) -> Any:
            written = original(text)
            self.heard(text)
            return written

        # On the instance: the stream stays the same object, with the same buffer, encoding and file number.
        stream.write = write
        state.undo.append(lambda: stream.__dict__.pop("write", None))

    @guarded("output")
    def heard(self, text: str) -> None:
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
        if self.session.keras_drives:
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


def install(session: Session) -> None:
    """Listen to standard output."""
    if sys.stdout is not None and hasattr(sys.stdout, "__dict__"):
        Tap(sys.stdout, session)
