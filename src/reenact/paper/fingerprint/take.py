"""Take the fingerprint of a paper: guides, scan, grounding, atoms, one of each, numbered."""

from __future__ import annotations

from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.paper.criterion import Level
from reenact.paper.fingerprint.fingerprint import Dropped, Fingerprint, Item, numbered
from reenact.paper.fingerprint.proposals import sifted
from reenact.paper.fingerprint.questions import guide, scan, split
from reenact.paper.fingerprint.similar import distinct
from reenact.paper.options import Goal, PaperAblations
from reenact.paper.places import in_order

__all__ = ["Dropped", "Fingerprint", "take_fingerprint"]


def take_fingerprint(
    paper: Paper, goal: Goal, model: Model, run: Scope, parts: PaperAblations
) -> Fingerprint:
    """Criteria, each grounded in the paper's words; all that was proposed and not kept has its reason."""
    here = run.under("fingerprint")
    items: list[Item] = []
    dropped: list[Dropped] = []
    for level in (Level.FRAMEWORK, Level.CONFIGURATION):
        proposed, lost = guide(level, paper, goal, model, here, atomic=parts.atomicity)
        found, refused = sifted(proposed, level, paper)
        items += found
        dropped += [*lost, *refused]
    if parts.scan:
        proposed, lost = scan(paper, goal, items, model, here, atomic=parts.atomicity)
        found, refused = sifted(proposed, Level.PARAGRAPH, paper)
        items += found
        dropped += [*lost, *refused]
    if parts.atomicity:
        items = split(items, model, here)
    kept, repeated = distinct(items)
    return Fingerprint(numbered(kept, in_order(paper)), (*dropped, *repeated))
