"""All that is known before the first line of code is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from reenact.paper.criterion import Criterion
from reenact.paper.wishes import Wishes


@dataclass(frozen=True, slots=True)
class Brief:
    """What both roles are given; the paper's results are not in it."""

    paper_text: str
    """The paper without its results."""
    goal: str
    """What is to be reproduced."""
    review: str = ""
    """The three summaries, as text."""
    exemplars: str = ""
    """Cited work and its code, as text."""
    criteria: tuple[Criterion, ...] = ()
    addendum: str = ""
    """What authors or user add to the paper."""
    data: str = ""
    """What the user's folders hold, as a listing; empty when none were given."""
    wishes: Wishes = field(default_factory=Wishes)

    @property
    def scale(self) -> float:
        """Share of the paper's training that is done."""
        return self.wishes.scale

    def shared(self) -> dict[str, str]:
        """The variables that every prompt of the room begins with."""
        return {
            "paper": self.paper_text,
            "goal": self.goal or "All experiments and baselines of the paper.",
            "review": self.review or "none",
            "exemplars": self.exemplars or "none",
            "criteria": criteria_text(self.criteria) or "none",
            "addendum": self.addendum or "none",
            "data": self.data or "The user gave no folder of data.",
        }


def criteria_text(criteria: tuple[Criterion, ...]) -> str:
    """Criteria as a model sees them, a line each."""
    return "\n".join(
        f"{one.id} (weight {one.weight}; {one.scope}): {one.fact} [{', '.join(one.places)}: {one.quote}]"
        for one in criteria
    )
