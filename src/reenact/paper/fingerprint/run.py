"""A fingerprint taken as a run that an interruption does not lose."""

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, Run, mark
from reenact.llm.ask import Model
from reenact.paper.bearing import with_added
from reenact.paper.estimate import CostEstimate, fingerprint_estimate
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.fingerprint.pipeline import take_fingerprint
from reenact.paper.options import Goal, PaperAblations
from reenact.result import Result, encoded
from reenact.types import ExitCode, JsonValue, Progress, Tell, tell_nobody


@dataclass(frozen=True, slots=True)
class FingerprintRun(Result):
    """A fingerprint, the paper it is of, and the run that took it."""

    paper: Paper
    fingerprint: Fingerprint
    run: Run
    estimate: CostEstimate
    """What it was to cost, as stated before the first request."""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.OK if self.fingerprint.criteria else ExitCode.INCONCLUSIVE

    def to_dict(self) -> dict[str, JsonValue]:
        """The fingerprint, its paper, and what it cost."""
        return {
            "paper": {"title": self.paper.title, "source": self.paper.source, "form": self.paper.form},
            **self.fingerprint.to_dict(),
            "lost": [encoded(one) for one in self.paper.lost],
            "tokens": self.run.tokens_in + self.run.tokens_out,
            "money": None if self.run.unpriced else str(self.run.money),
            "estimate": encoded(self.estimate),
            "run": self.run.id,
        }


def run_fingerprint(
    paper: Paper,
    goal: Goal,
    model: Model,
    journal: Journal,
    *,
    parts: PaperAblations,
    what: str,
    argv: Sequence[str] = (),
    fresh: bool = False,
    tell: Tell = tell_nobody,
) -> FingerprintRun:
    """Take it, as a run that an interruption does not lose."""
    request = {
        "paper": mark(paper.text()), "goal": goal.text(), "addendum": mark(goal.addendum),
        "without": sorted(name for name in parts.names() if not getattr(parts, name)), "model": model.name,
    }  # fmt: skip
    with journal.run(pipeline="fingerprint", request=request, argv=argv, what=what, fresh=fresh) as run:
        paper = with_added(paper, goal)
        estimate = fingerprint_estimate(paper, parts, model)
        tell(Progress("fingerprint", note=f"cost: {estimate.sentence}"))
        taken = take_fingerprint(paper, goal, model, run, parts)
        run.note("result", taken)
        result = FingerprintRun(paper, taken, run.record, estimate, run.reused)
        run.finish({"criteria": len(taken.criteria), "dropped": len(taken.dropped)}, result.exit_code)
    return result
