"""What the two roles share: the summary, what was decided where the paper is silent, what is still open."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

LONGEST = 4000


class Learnt(BaseModel):
    """What the research role answers."""

    summary: str = Field(
        min_length=1,
        max_length=12_000,
        description="What is to be built and measured, in the order of building; complete by itself.",
    )
    decisions: list[str] = Field(
        default_factory=list,
        max_length=60,
        description="One sentence each: what was chosen where the paper is silent, and why.",
    )
    questions: list[str] = Field(
        default_factory=list, max_length=40, description="One sentence each: what is still open."
    )


@dataclass(frozen=True, slots=True)
class State:
    """One state of knowledge; a new one replaces it."""

    summary: str = ""
    decisions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    """What executions showed: not an opinion, and never replaced by one."""
    assumed: tuple[str, ...] = ()
    """What the code role took for granted: kept for the report, whatever research thinks of it later."""

    def learnt(self, answer: Learnt) -> State:
        """With the research role's new words; what was observed stays."""
        return State(
            answer.summary,
            tuple(_short(one) for one in answer.decisions),
            tuple(_short(one) for one in answer.questions),
            self.observed,
            self.assumed,
        )

    def saw(self, *facts: str) -> State:
        """With what an execution showed."""
        new = tuple(fact for fact in facts if fact and fact not in self.observed)
        return replace(self, observed=(*self.observed, *new))

    def assuming(self, *sentences: str) -> State:
        """With what the code takes for granted."""
        new = tuple(_short(one) for one in sentences if _short(one) and _short(one) not in self.assumed)
        return replace(self, assumed=(*self.assumed, *new))

    def text(self) -> str:
        """The state as a model sees it."""
        parts = [
            ("Summary", self.summary),
            ("Decided where the paper is silent", _listed(self.decisions)),
            ("Still open", _listed(self.questions)),
            ("Assumed by the code", _listed(self.assumed)),
            ("Observed by running", _listed(self.observed)),
        ]
        return "\n\n".join(f"{head}:\n{body}" for head, body in parts if body) or "nothing yet"


def _listed(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _short(text: str) -> str:
    return text.strip()[:LONGEST]
