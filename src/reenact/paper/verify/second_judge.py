"""A second judge reads the kept code and knows nothing of the first: how far the two agree is stated.

Asked are the criteria that no program could decide. The answers change no verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.codegen.project import Project
from reenact.errors import BudgetSpent
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.evaluate.people import cohen_kappa
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.verify.mechanical import CodeFinding
from reenact.paper.verify.verify import ask_judge

AT_ONCE = 40
"""Criteria a question: more than the first judge has, because the code is sent with each."""
SAMPLE = 1
"""The first judge's answers are sample 0."""


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """Two judges beside one another."""

    asked: int
    """Criteria that the first judge decided."""
    judged: int
    """Of these the ones that the second decided too."""
    same: int
    kappa: float | None
    """Cohen's; none where one verdict alone was given."""
    apart: tuple[str, ...]
    """Criteria on which they differ."""

    @property
    def sentence(self) -> str:
        """The line to read."""
        if not self.judged:
            return f"a second judge decided none of the {self.asked} criteria that the first one decided"
        beyond = "not defined, all are alike" if self.kappa is None else f"{self.kappa:.2f}"
        differ = f"; they differ on {', '.join(self.apart)}" if self.apart else ""
        return f"two agree on {self.same} of {self.judged} criteria (Cohen's kappa {beyond}){differ}"


def second_judge(
    criteria: Sequence[Criterion], judged: Sequence[Judged], project: Project, model: Model, run: Scope,
    exemplars: Sequence[Exemplar] = (),
) -> JudgesAgreement | None:  # fmt: skip
    """Judge again what a judge decided; none where no judge decided anything, or no budget is left."""
    first = {one.criterion: _verdict(one) for one in judged if one.by == "judge" and _verdict(one)}
    asked = [one for one in criteria if one.id in first]
    if not asked:
        return None
    unseen = {one.id: CodeFinding(None, "", ()) for one in asked}
    try:
        answers = ask_judge(
            asked, unseen, project, model, run.under("second"), exemplars, most=AT_ONCE, sample=SAMPLE
        )
    except BudgetSpent:
        return None
    second = {one.criterion: verdict for one in answers if (verdict := _verdict(one))}
    both = [one.id for one in asked if one.id in second]
    apart = tuple(name for name in both if first[name] != second[name])
    kappa = cohen_kappa([first[name] for name in both], [second[name] for name in both])
    return JudgesAgreement(len(asked), len(both), len(both) - len(apart), kappa, apart)


def _verdict(one: Judged) -> str:
    """Pass or fail, as the judge decided; empty for neither."""
    return {Value.PASS: "pass", Value.FAIL: "fail", Value.CONTRADICTED: "fail"}.get(one.value, "")
