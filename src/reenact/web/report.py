"""A run as one file that can be mailed: the same sections, the style inside, no script, nothing fetched."""

from __future__ import annotations

from markupsafe import Markup

from reenact.journal import Kind
from reenact.report.run_words import counted, steps_of, tree
from reenact.version import __version__
from reenact.web.assets import OWN
from reenact.web.head import about
from reenact.web.paint import render
from reenact.web.stored import Stored
from reenact.web.talk import talk
from reenact.web.views.choose import sections_of

MOST_TALK = 200
MOST_STEPS = 2000


def report_page(stored: Stored) -> str:
    """The whole file."""
    shelf, run = stored.shelf, stored.run
    asked = talk(stored, limit=MOST_TALK, whole=True)
    rest = shelf.some_steps(run, kind=Kind.LLM, after=asked[-1][0].nr, limit=10**6) if asked else []
    steps = shelf.some_steps(run, limit=MOST_STEPS)
    more = f"\n... and {run.steps - len(steps)} more" if run.steps > len(steps) else ""
    return render(
        "report.html",
        alone=True,
        **about(run, shelf),
        version=__version__,
        # Our own file: it holds no markup.
        style=Markup((OWN / "style.css").read_text("utf-8")),  # noqa: S704
        sections=sections_of(stored),
        talk=[fold for _, fold in asked],
        left_out=len(rest),
        steps=f"{tree(steps)}{more}",
        counted=f"{counted(run.steps, 'step')}: {steps_of(run)}",
    )
