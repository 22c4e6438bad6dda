"""Variants from a paper to code, side by side: the whole method, parts left out, fewer rounds,
one shot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reenact.errors import InputError
from reenact.paper.options import PaperAblations, PaperOptions

REPAIR = "repair"
"""Not a part of the writing: what follows a gap that is too large."""
LEAVABLE = (*PaperAblations.names(), REPAIR)
ONE_SHOT = "one-shot"
"""As PaperCoder plans: written once from the paper, nothing verified, run or repaired before
the full run.
"""
BASELINES = {ONE_SHOT: ("lineage", "fingerprint", "debug", "refine", REPAIR)}


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table."""

    without: tuple[str, ...] = ()
    """Parts that are left out together."""
    baseline: str = ""
    rounds: int | None = None
    """Revisions after verification; none: as the options say."""

    @property
    def name(self) -> str:
        if self.baseline:
            return self.baseline
        parts = [f"without {' and '.join(self.without)}"] if self.without else []
        parts += [f"{self.rounds} rounds"] if self.rounds is not None else []
        return ", ".join(parts) or "the whole method"

    @property
    def key(self) -> str:
        """The name as part of a file's or a step's name."""
        return (
            "whole"
            if self == WHOLE
            else self.name.replace(",", "").replace(" and ", " ").replace(" ", "-")
        )

    def recording(self, run: int) -> str:
        """The file in a case's folder of recordings that holds the answers of this variant."""
        return f"{self.key}.jsonl" if run == 0 else f"{self.key}-{run + 1}.jsonl"

    @property
    def gone(self) -> frozenset[str]:
        """All parts that are left out."""
        return frozenset(BASELINES[self.baseline] if self.baseline else self.without)

    def options(self, options: PaperOptions) -> PaperOptions:
        """The options with the parts left out."""
        return replace(
            options,
            parts=PaperAblations.without(*(name for name in sorted(self.gone) if name != REPAIR)),
            repair=options.repair and REPAIR not in self.gone,
            rounds=options.rounds if self.rounds is None else self.rounds,
        )


WHOLE = Variant()


def variants_of(
    without: Sequence[str] = (),
    baselines: Sequence[str] = (),
    rounds: Sequence[int] = (),
    *,
    whole: bool = True,
) -> tuple[Variant, ...]:
    """The whole method unless it is not wanted, then a way for each; `lineage+repair` leaves
    out both.
    """
    asked = [Variant(without=_parts(one)) for one in without]
    asked += [Variant(baseline=one) for one in baselines]
    asked += [Variant(rounds=one) for one in rounds]
    return tuple(dict.fromkeys([*([WHOLE] if whole or not asked else []), *asked]))


def _parts(words: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(word.strip() for word in words.split("+")))
    if unknown := [name for name in names if name not in LEAVABLE]:
        raise InputError(
            f"There is no part {unknown[0]!r} to leave out.",
            next_step=f"Name one of: {', '.join(LEAVABLE)}.",
        )
    return names
