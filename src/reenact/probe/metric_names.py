"""What people call the same thing: `Loss/train`, `train_loss_step` and `epoch_loss` are one metric."""

from __future__ import annotations

import re

SPLITS = {
    "train": "", "training": "", "trainer": "",
    "val": "val_", "valid": "val_", "validation": "val_", "validate": "val_", "dev": "val_",
    "eval": "val_", "evaluation": "val_",
    "test": "test_", "testing": "test_",
}  # fmt: skip
"""Prefix of a metric, by the word that names the split."""
_LEVELS = frozenset({"epoch", "step", "batch", "iteration"})
_SAME = {"acc": "accuracy", "lr": "learning_rate", "top1": "accuracy"}
_SILENT = frozenset({"metric", "metrics"})
_BREAKS = re.compile(r"[/_\-. :]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def metric_name(logged: str) -> str:
    """The metric behind a tag or a column: `loss`, `val_accuracy`, `learning_rate`, or the logged name."""
    words = [word for word in _BREAKS.split(_HUMP.sub("_", logged).lower()) if word]
    prefix, kept = "", []
    for word in words:
        if word in SPLITS:
            prefix = SPLITS[word] or prefix
        elif word not in _SILENT and (word not in _LEVELS or len(words) == 1):
            kept.append(_SAME.get(word, word))
    name = "_".join(kept)
    if kept[:1] == ["learning_rate"] or name == "learning_rate":
        # The rate belongs to no split; a library adds the name of the optimizer (`lr-Adam`).
        return "learning_rate"
    return prefix + name if name else logged
