"""A number that the paper states: what is compared with what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One number of the paper, and where it stands."""

    id: str
    """`C1`, `C2`, ... in the order of the paper."""
    metric: str
    """As the paper names it: accuracy, RMSE, ..."""
    value: float
    unit: str
    """`%` where the paper gives per cent; else empty."""
    higher_is_better: bool
    method: str
    """Whose number it is: the paper's own method, a baseline, an ablation; as the paper names it."""
    dataset: str
    setting: str
    """What else decides it, in the paper's words: epochs, split, size."""
    spread: float | None
    """What the paper gives after the plus-minus sign."""
    place: str
    """Id of the sentence or table."""
    quote: str
    """The cell or the words; found in the paper mechanically."""
    asked: bool = True
    """Whether what is to be reproduced asks for it; decided before anything is measured."""

    def __str__(self) -> str:
        return f"{self.metric} {self.value:g}{self.unit} of {self.method} on {self.dataset} [{self.place}]"
