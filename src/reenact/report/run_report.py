"""A run as one file that can be mailed: what its page shows, the style inside, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.journal import Kind
from reenact.report.as_html import blocks, contents, escaped, page
from reenact.report.conversation import talk
from reenact.report.document import Block, Fold, Section, Text
from reenact.report.run_head import head_of
from reenact.report.run_words import counted, steps_of, tree
from reenact.report.stored import Stored
from reenact.report.views import document_of

MOST_TALK = 200
MOST_STEPS = 2000


def report_page(stored: Stored) -> str:
    """The whole file."""
    head = head_of(stored.run, stored.shelf)
    sections = [*document_of(stored).sections, *_conversation(stored), _steps(stored)]
    above = (
        f"<h1>{escaped(head.title)}</h1>"
        f'<p class="verdict {head.tone}"><span class="status {head.standing}">{head.standing}</span> '
        f'{escaped(head.verdict)}</p><p class="command"><code>{escaped(head.command)}</code></p>'
    )
    content = f"{above}{blocks([head.facts])}{contents(sections)}{blocks(sections)}"
    return page(f"{stored.run.pipeline} {stored.run.id}", content)


def _conversation(stored: Stored) -> Iterator[Section]:
    asked = talk(stored, limit=MOST_TALK, whole=True)
    if not asked:
        return
    shown: list[Block] = [fold for _, fold in asked]
    rest = stored.shelf.some_steps(stored.run, kind=Kind.LLM, after=asked[-1][0].nr, limit=10**6)
    if rest:
        more = f"{len(rest)} more questions are in the journal: reenact runs show {stored.run.id}"
        shown.append(Text(more))
    yield Section("Conversation with the model", shown, "talk")


def _steps(stored: Stored) -> Section:
    run = stored.run
    steps = stored.shelf.some_steps(run, limit=MOST_STEPS)
    more = f"\n... and {run.steps - len(steps)} more" if run.steps > len(steps) else ""
    said = f"{counted(run.steps, 'step')}: {steps_of(run)}"
    return Section("Steps", [Fold(said, [Text(f"{tree(steps)}{more}")])], "steps")
