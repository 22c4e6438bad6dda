"""Controls of a measured number: what became of it without training, and who says so.

A number that the paper says was trained for is a measurement only if it goes away when the training
does. Which claims that concerns follows from the claim: quantities that no training makes
(parameters, time, memory) and methods that are not trained need no control; in doubt it counts as
trained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from reenact.paper.review.claims import PaperClaim

_NOT_TRAINED_FOR = re.compile(
    r"(?i)\b(?:parameters?|params|flops?|macs|multiply.adds|operations|latency|throughput|seconds?|minutes?|hours?"
    r"|(?:training|running|inference|wall.?clock|cpu|gpu) time|run.?time|memory|(?:model|file) "
    r"size|[kmg]i?b"
    r"|speed.?up|number of (?!errors|mistakes)\w+)\b"
)
"""Quantities that are so large whether or not anything was learned."""
_LEARNED = re.compile(
    r"(?i)accuracy|error|mistake|correct|loss|score|precision|recall|\bf1\b|\bauc\b|perplexity|likelihood|reward"
    r"|regret|\b(?:steps|epochs|time|seconds|minutes|hours) (?:to|until)\b|\b(?:to|until) "
    r"(?:reach|converge)"
)
"""Words of quantities that are learned, whatever else is in the name: accuracy per million
parameters.
"""
_UNTRAINED = re.compile(r"(?i)\b(?:untrained|un-trained|(?:not|never) trained)\b")
"""Where the name of a method or of a setting has it, nothing is trained there."""
_CONSTANT = re.compile(
    r"(?i)(?:the |always (?:the )?)?(?:majority(?:.class)?|most.frequent(?:.class)?"
    r"|(?:random )?chance(?:.level)?|random (?:guess(?:es|ing)?|answers?)|mean predictor"
    r"|constant (?:answer|prediction|predictor)"
    r"|(?:before|no|without(?: any)?) training)(?: baseline| classifier)?"
)
"""Whole methods or settings in which nothing is trained. As a part it may mean anything: pruning
before training, majority voting.
"""


class ControlStatus(StrEnum):
    """What control runs gave."""

    PASSED = "worse without training"
    NOT_NEEDED = "not trained for"
    SAME = "as good without updates"
    PERMUTED = "as good with labels permuted"
    UNCHANGED = "no parameter changed"
    OTHER = "another number when observed"
    SEED = "worse with a seed that was not asked for"
    IMPOSSIBLE = "no control possible"


class Source(StrEnum):
    """Who says the number."""

    RECOMPUTED = "recomputed from predictions"
    NOT_CONFIRMED = "not confirmed by the predictions of the run"
    AS_REPORTED = "as reported by the program"


REFUSED = (
    ControlStatus.SAME,
    ControlStatus.PERMUTED,
    ControlStatus.UNCHANGED,
    ControlStatus.OTHER,
    ControlStatus.SEED,
)


@dataclass(frozen=True, slots=True)
class NumberControl:
    """What the controls of one number gave; values are in the claim's unit."""

    status: ControlStatus
    source: Source
    why: str = ""
    """What was seen, where the status alone does not say it."""
    trained: float | None = None
    """At the scale of the control."""
    untrained: float | None = None
    """Without updates."""
    permuted: float | None = None
    """With labels permuted."""
    other_seed: float | None = None
    """Mean with seeds that no full run had; only where the number was not recomputed."""
    at: str = ""
    """The scale at which they were compared: `dry run` or `full run`."""
    constant: float | None = None
    """What a constant answer gives on the labels that were seen."""
    constant_is_as_good: bool = False
    """As good as the claim, within the tolerance by which a claim holds."""
    should_recompute: bool = False
    """The metric is of a known family and torch was used: its predictions could have been seen."""

    @property
    def refused(self) -> bool:
        """Whether the number is not a measurement."""
        return self.status in REFUSED or self.source is Source.NOT_CONFIRMED

    @property
    def doubt(self) -> str:
        """Why a number that agrees with the paper shows nothing; empty when it does."""
        if self.status is ControlStatus.IMPOSSIBLE:
            return f"no control was possible: {self.why}"
        if self.constant_is_as_good:
            return f"a constant answer gives {self.constant:.4g}, as good as what the paper claims"
        return ""

    @property
    def is_only_reported(self) -> bool:
        """Whether only the program says a number that could have been seen."""
        return self.source is Source.AS_REPORTED and self.should_recompute

    def sentence(self, metric: str) -> str:
        """One line for a reader."""
        parts = [f"control: {self.status.value}"]
        values = (
            ("without updates", self.untrained),
            ("with labels permuted", self.permuted),
            ("trained", self.trained),
        )
        listed = ", ".join(f"{value:.4g} {words}" for words, value in values if value is not None)
        if listed:
            parts = [f"control: {metric} {listed} ({self.at})"]
            if self.status is not ControlStatus.PASSED:
                parts.append(self.status.value)
        if self.why:
            parts.append(self.why)
        if self.other_seed is not None:
            parts.append(f"{self.other_seed:.4g} with other seeds")
        parts.append(self.source.value)
        if self.constant is not None:
            parts.append(f"a constant answer gives {self.constant:.4g}")
        elif self.status is ControlStatus.IMPOSSIBLE:
            parts.append("no constant answer is known either")
        return "; ".join(parts)


def is_trained_for(claim: PaperClaim) -> bool:
    """Whether the number needs a training to come out, as far as the paper's words tell; in
    doubt it does.
    """
    if _NOT_TRAINED_FOR.search(claim.metric) and not _LEARNED.search(claim.metric):
        return False
    names = (claim.method.strip(), claim.setting.strip())
    return not any(_UNTRAINED.search(one) or _CONSTANT.fullmatch(one) for one in names)
