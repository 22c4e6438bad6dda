"""Variants from a report to a script, side by side: the whole method, parts left out, baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reenact.bug.options import BugAblations, BugOptions

FIXED = "fixed"
"""Not a part of the method but a help to it: the fixed revision."""
LEAVABLE = (*BugAblations.names(), FIXED)
BASELINES = ("zero-shot", "no-context", "few-shot", "chain-of-thought")
PUBLISHED = {
    "": 80.19,
    "zero-shot": 21.70,
    "few-shot": 28.30,
    "chain-of-thought": 30.19,
    "relevance": 17.92,
    "plan": 21.70,
    "restructuring": 22.64,
    "static": 41.51,
    "execution": 46.23,
    "loop_order": 20.75,
    "modules": 23.58,
    "loops": 28.30,
    "rerank": 30.19,
    "dependencies": 34.91,
}
"""Per cent of 106 bugs that the RepGen paper says of each (Qwen2.5 7B). Its `execution` was
imagined.
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table."""

    without: str = ""
    """The part that is left out."""
    baseline: str = ""
    """A prompt alone: one answer, nothing is checked or refined."""

    @property
    def name(self) -> str:
        return self.baseline or (f"without {self.without}" if self.without else "the whole method")

    @property
    def key(self) -> str:
        """The name as part of a file's or a step's name."""
        return self.name.replace(" ", "-").replace("_", "-")

    @property
    def recording(self) -> str:
        """The file in a case's folder that holds the answers of this variant."""
        return "recording.jsonl" if self == WHOLE else f"recording-{self.key}.jsonl"

    @property
    def answers(self) -> str:
        """The recording that answers. The fix changes no question, so a variant that does not see
        it has the same answers, and those that it alone needs are kept with them.
        """
        return WHOLE.recording if self.without == FIXED else self.recording

    @property
    def sees_fixed(self) -> bool:
        return self.without != FIXED

    @property
    def published(self) -> float | None:
        return PUBLISHED.get(self.baseline or self.without)

    def options(self, options: BugOptions) -> BugOptions:
        """The options with the part left out."""
        names = () if self.without in ("", FIXED) else (self.without,)
        return replace(options, parts=BugAblations.without(*names))


WHOLE = Variant()
WITHOUT_FIXED = Variant(without=FIXED).name


def variants_of(
    without: tuple[str, ...] = (),
    baselines: tuple[str, ...] = (),
    *,
    whole: bool = True,
) -> tuple[Variant, ...]:
    """The whole method unless it is not wanted, then one variant a part and one a baseline."""
    asked = (
        *(Variant(without=one) for one in without),
        *(Variant(baseline=one) for one in baselines),
    )
    return tuple(dict.fromkeys([*([WHOLE] if whole or not asked else []), *asked]))
