"""Which metric of the code is which claim of the paper: declared by the research role, checked here.

Whoever matches sees neither the paper's numbers nor the measured ones, so that nothing can be chosen for its
value; only whether all values of a metric lie between 0 and 1, which tells a share from per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.claim import Claim
from reenact.paper.measure.runs import FullRun, metric_names, values


class Match(BaseModel):
    """One claim and its metric."""

    claim: str = Field(max_length=20, description="Id of the claim, such as `C1`.")
    metric: str = Field(max_length=200, description="Name in metrics.json.")
    differs: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="One sentence each: settings of this measure that are not those of the claim.",
    )


class Matches(BaseModel):
    """All claims that the code measures; claims that it does not measure are left out."""

    matches: list[Match] = Field(default_factory=list, max_length=200)


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and the metric that is it."""

    claim: str
    metric: str
    times: float = 1.0
    """Factor from the measured value to the claim's unit: 100 for a share against per cent."""
    differs: tuple[str, ...] = ()


def matched(
    claims: Sequence[Claim], runs: Sequence[FullRun], project: Project, model: Model, run: Scope
) -> tuple[tuple[Pair, ...], str]:
    """The declared matching, and why there is none when no usable answer came."""
    names = metric_names(runs)
    if not names or not claims:
        return (), ""
    prompt = load_prompt("reenact.paper.measure", "prompts/match.md").fill(
        claims="\n".join(_told(claim) for claim in claims),
        metrics="\n".join(names),
        project=project.text(),
    )
    known = {claim.id: claim for claim in claims}

    def check(answer: Matches) -> None:
        _check(answer, known, names)

    try:
        answer = ask(run, model, "match", prompt, Matches, check=check)
    except AnswerUnusable as error:
        return (), f"Nobody could say which metric is which claim: {error.sentence}"
    pairs = (
        Pair(one.claim, one.metric, times(known[one.claim], values(runs, one.metric)), tuple(one.differs))
        for one in answer.matches
    )
    return tuple(pairs), ""


def times(claim: Claim, measured: Sequence[float]) -> float:
    """100 where the claim is in per cent and the measure is a share: its values all lie between 0 and 1, and
    the claim does not."""
    share = all(0 <= value <= 1 for value in measured)
    return 100.0 if claim.unit == "%" and share and claim.value > 1 else 1.0


def _check(answer: Matches, known: dict[str, Claim], names: Sequence[str]) -> None:
    seen: set[str] = set()
    for one in answer.matches:
        if one.claim not in known:
            raise ValueError(f"There is no claim {one.claim!r}. The claims are: {', '.join(known)}.")
        if one.metric not in names:
            raise ValueError(f"There is no metric {one.metric!r}. The metrics are: {', '.join(names)}.")
        if one.claim in seen:
            raise ValueError(f"The claim {one.claim} is matched twice. A claim has one metric.")
        seen.add(one.claim)


def _told(claim: Claim) -> str:
    """A claim without its number."""
    unit = " in per cent" if claim.unit == "%" else ""
    parts = [f"{claim.id}: {claim.metric}{unit} of {claim.method} on {claim.dataset}", claim.setting]
    return "; ".join(part for part in parts if part)
