"""What people call the same thing: `Loss/train`, `train_loss_step` and `epoch_loss` are one metric."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What one logged value stands for."""

    STEP = "step"
    EPOCH = "epoch"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Name:
    """A metric in the words of a trace."""

    metric: str
    """`loss`, `val_accuracy`, `learning_rate`, or the logged name itself."""
    level: Level

    @property
    def held_out(self) -> bool:
        return self.metric.startswith(("val_", "test_"))


SPLITS = {
    "train": "", "training": "", "trainer": "",
    "val": "val_", "valid": "val_", "validation": "val_", "validate": "val_", "dev": "val_",
    "eval": "val_", "evaluation": "val_",
    "test": "test_", "testing": "test_",
}  # fmt: skip
"""Prefix of a metric, by the word that names the split."""
_LEVELS = {"epoch": Level.EPOCH, "step": Level.STEP, "batch": Level.STEP, "iteration": Level.STEP}
_SAME = {"acc": "accuracy", "lr": "learning_rate", "top1": "accuracy"}
_SILENT = frozenset({"metric", "metrics"})
_BREAKS = re.compile(r"[/_\-. :]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def understand(logged: str, split: str = "") -> Name:
    """The name behind a tag or a column; `split` is the prefix that the place of the log implies."""
    words = [word for word in _BREAKS.split(_HUMP.sub("_", logged).lower()) if word]
    level, kept = Level.UNKNOWN, []
    for word in words:
        if word in SPLITS:
            split = SPLITS[word] or split
        elif word in _LEVELS and len(words) > 1:
            level = _LEVELS[word]
        elif word not in _SILENT:
            kept.append(_SAME.get(word, word))
    name = "_".join(kept)
    if kept[:1] == ["learning_rate"] or name == "learning_rate":
        # The rate belongs to no split; a library adds the name of the optimizer (`lr-Adam`).
        return Name("learning_rate", level)
    return Name(split + name if name else logged, level)
