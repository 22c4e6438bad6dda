"""Lines in which programs report their training, in whatever style: `epoch 3 of 10, training loss 0.2`,
`[sgd] Epoch [3/10] Step [10/20] Loss: 0.2 | Val acc: 91.2%`, `{'loss': 0.2, 'epoch': 3}`, Keras's two lines.

A number is named by the words before it. Numbers without a name, times, seeds and rates are no curves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from reenact.paper.measure.curves.curve import EPOCH, STEP, Point
from reenact.probe.past.names import SPLITS, understand

AXES = {
    "epoch": EPOCH, "epochs": EPOCH, "ep": EPOCH,
    "step": STEP, "steps": STEP, "global_step": STEP, "iter": STEP, "iteration": STEP, "iterations": STEP,
    "it": STEP, "update": STEP, "updates": STEP, "batch": STEP,
}  # fmt: skip
NO_CURVE = frozenset(
    {
        "time", "s", "sec", "secs", "second", "seconds", "ms", "min", "minutes", "eta", "elapsed",
        "timestamp", "seed", "size", "samples", "examples", "memory", "gpu", "params", "parameters",
        "workers",
    }
)  # fmt: skip
"""Last words of names that are told beside curves and are none."""
SILENT = frozenset(
    {"method", "model", "run", "name", "variant", "training", "info", "debug", "warning", "root"}
)
"""Words before a name that say what kind of name follows."""
JOINS = frozenset({"after", "at", "in", "for", "on"})
"""`loss after epoch 3: 0.2`: the name stands before the epoch."""
MOST_WORDS = 5
LASTS = 3
"""Lines below one that tells the epoch alone which are still about it."""
_NUMBER = re.compile(
    r"(?<![\w.\-@^])(?P<value>[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?))"
    r"(?:\s*(?:/|of)\s*(?P<total>\d+))?\s?%?(?!\w|\.\d)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;|{}\[\]()\t]|\s[-–—>]+\s|:\s|\s{2,}|=(?=[A-Za-z'\"])")
_ENDS = " \t:=[({<\"'~≈>→"
_EDGES = " \t\"'`*#.:=]})>-"


@dataclass(slots=True)
class _Line:
    """What is known of a line while it is read."""

    label: str = ""
    split: str = ""
    waits: str = ""
    """A name whose number comes after that of the epoch."""
    axes: dict[str, tuple[float, float]] = field(default_factory=dict)
    values: list[tuple[str, float]] = field(default_factory=list)

    def take(self, parts: list[str], value: float, total: float) -> None:
        """One number with the words before it."""
        parts = [self.waits] if self.waits and parts in ([], ["is"]) else parts
        self.waits = ""
        if not parts:
            return
        *before, name = parts
        words = name.split()
        axis = AXES.get(words[-1].lower())
        if axis is not None:
            self._placed(before, words[:-1])
            self.axes.setdefault(axis, (value, total))
            return
        self._named(before)
        if len(words) <= MOST_WORDS and is_curve(name):
            self.values.append((f"{self.split} {name}".strip(), value))

    def _placed(self, before: Sequence[str], words: list[str]) -> None:
        """Words before an epoch or a step."""
        if words and words[-1].lower() in JOINS:
            self.waits, words = " ".join(words[:-1]), []
        self._named([*before, " ".join(words)])

    def _named(self, before: Sequence[str]) -> None:
        """Words before a name: which part of the data, else which training."""
        for part in before:
            words = [word for word in part.split() if word.lower() not in SILENT]
            if len(words) == 1 and words[0].lower() in SPLITS:
                self.split = words[0]
            elif words and not self.label and len(words) <= MOST_WORDS and is_curve(words[0]):
                self.label = " ".join(words)


def read_line(line: str) -> Point | None:
    """What a line tells; none when it has no number with a name."""
    found, end = _Line(), 0
    for number in _NUMBER.finditer(line):
        parts = [part.strip(_EDGES) for part in _BREAK.split(line[end : number.start()].rstrip(_ENDS))]
        worth = [part for part in parts if re.search(r"^[^\W\d_]", part)]
        found.take(worth, float(number["value"]), float(number["total"] or 0))
        end = number.end()
    if not found.axes and not found.values:
        return None
    epoch, (step, total) = found.axes.get(EPOCH), found.axes.get(STEP, (None, 0.0))
    share = step / total if step is not None and total else None
    return Point(tuple(found.values), found.label, epoch[0] if epoch else None, step, share)


def read_lines(lines: Sequence[str]) -> Iterator[Point]:
    """Points of a whole output; a line that tells the epoch alone is about those that follow it."""
    above, left = None, 0
    for line in lines:
        point = read_line(line)
        left -= 1
        if point is None:
            continue
        told = point.epoch is not None or point.step is not None
        if told and not point.values:
            above, left = point, LASTS + 1
        elif told:
            yield point
        elif above is not None and left > 0:
            yield replace(above, values=point.values)


def is_curve(name: str) -> bool:
    """Whether a value of this name is worth a curve: a loss or a metric."""
    last = name.lower().replace("_", " ").split()[-1:]
    rate = understand(name).metric == "learning_rate"
    return bool(last) and last[0] not in NO_CURVE and not last[0].endswith(("/s", "/step")) and not rate
