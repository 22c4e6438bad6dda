"""Take the fingerprint of a paper: guides, scan, grounding, atoms, one of each, numbered; and as a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, Run, Scope, mark
from reenact.llm.ask import Model
from reenact.paper.criterion import Level
from reenact.paper.fingerprint.fingerprint import Dropped, Fingerprint, Item, numbered, sifted
from reenact.paper.fingerprint.questions import guide, scan, split
from reenact.paper.fingerprint.similar import distinct
from reenact.paper.grounding import in_order
from reenact.paper.options import Goal, PaperAblations
from reenact.result import Result, encoded
from reenact.types import ExitCode, JsonValue


def take_fingerprint(
    paper: Paper, goal: Goal, model: Model, run: Scope, parts: PaperAblations
) -> Fingerprint:
    """Criteria, each grounded in the paper's words; all that was proposed and not kept has its reason."""
    here, atomic = run.under("fingerprint"), parts.atomicity
    items: list[Item] = []
    dropped: list[Dropped] = []
    for level in Level if parts.scan else (Level.FRAMEWORK, Level.CONFIGURATION):
        if level is Level.PARAGRAPH:
            proposed, lost = scan(paper, goal, items, model, here, atomic=atomic)
        else:
            proposed, lost = guide(level, paper, goal, model, here, atomic=atomic)
        found, refused = sifted(proposed, level, paper)
        items += found
        dropped += [*lost, *refused]
    if parts.atomicity:
        items = split(items, model, here)
    kept, repeated = distinct(items)
    return Fingerprint(numbered(kept, in_order(paper)), (*dropped, *repeated))


@dataclass(frozen=True, slots=True)
class FingerprintRun(Result):
    """A fingerprint, the paper it is of, and the run that took it."""

    paper: Paper
    fingerprint: Fingerprint
    run: Run
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
) -> FingerprintRun:
    """Take it, as a run that an interruption does not lose."""
    request = {
        "paper": mark(paper.text()), "goal": goal.text(), "addendum": mark(goal.addendum),
        "without": sorted(name for name in parts.names() if not getattr(parts, name)), "model": model.name,
    }  # fmt: skip
    with journal.run(pipeline="fingerprint", request=request, argv=argv, what=what, fresh=fresh) as run:
        taken = take_fingerprint(paper, goal, model, run, parts)
        run.note("result", taken)
        result = FingerprintRun(paper, taken, run.record, run.reused)
        run.finish({"criteria": len(taken.criteria), "dropped": len(taken.dropped)}, result.exit_code)
    return result
