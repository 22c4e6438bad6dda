"""Two runs side by side: their facts, what was asked of each, and what each pipeline shows of it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse

from reenact.errors import InputError
from reenact.journal import JournalReader, Run
from reenact.report.document import Beside, Block, Section, Text, mapped
from reenact.report.recorded import Stored, document_of
from reenact.report.run_report import headline
from reenact.report.run_words import cost_of, steps_of, time_of
from reenact.web.render import moment
from reenact.web.state import state_of

ASKED = "asked"
AT = {"what": "", "verdict": "", "steps": "#steps", "cost": "#talk"}
"""Facts that lead to the run itself, and where on its page they stand."""
CLOCK = ("time", "started")
"""Facts in which any two runs differ."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of the table: what it is called, and what is so of either run."""

    name: str
    values: tuple[str, str]
    hrefs: tuple[str, str]
    """Where it stands; empty: nowhere else."""

    @property
    def anchor(self) -> str:
        return f"fact-{self.name}"

    @property
    def differs(self) -> bool:
        return self.name not in CLOCK and self.values[0] != self.values[1]


def compare_page(request: Request) -> HTMLResponse:
    """The whole page."""
    state = state_of(request)
    names = request.query_params.getlist("run")
    if len(names) != 2:
        raise InputError(
            f"Two runs are compared. Received: {len(names)}.", next_step="Tick two in the list of runs."
        )
    with state.shelf() as shelf:
        left, right = (shelf.find(name) for name in names)
        shown = [document_of(Stored(shelf, run, state.runs_dir)).sections for run in (left, right)]
        facts = list(_facts((left, right), shelf))
    asked = difflib.unified_diff(_lines(left), _lines(right), left.id, right.id, lineterm="", n=2)
    sections = [Section("What was asked", [Text("\n".join(asked) or "The same.", is_diff=True)], ASKED)]
    sections += _beside((left, right), shown)
    return state.page("compare.html", left=left, right=right, facts=facts, sections=sections)


def _facts(runs: tuple[Run, Run], shelf: JournalReader) -> Iterator[Fact]:
    one, two = (_run_facts(run, shelf) for run in runs)
    for name in one:
        hrefs = (_where(name, one[name], runs[0]), _where(name, two[name], runs[1]))
        yield Fact(name, (one[name], two[name]), hrefs)


def _where(name: str, value: str, run: Run) -> str:
    return f"/runs/{run.id}{AT[name]}" if name in AT and value not in ("", "-") else ""


def _run_facts(run: Run, shelf: JournalReader) -> dict[str, str]:
    return {
        "pipeline": run.pipeline,
        "what": run.what,
        "status": shelf.status_of(run),
        "verdict": headline(run),
        "steps": steps_of(run),
        "cost": cost_of(run.money, run.tokens_in + run.tokens_out, run.unpriced),
        "time": time_of(run.worked_s),
        "started": moment(run.started_at),
        "version": f"reenact {run.version}, Python {run.python}",
    }


def _lines(run: Run) -> list[str]:
    return json.dumps(run.request_data(), indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def _beside(runs: tuple[Run, Run], shown: Sequence[tuple[Section, ...]]) -> Iterator[Section]:
    """Sections of the same name beside one another, each leading to where it stands in its run."""
    named = [{section.title: section for section in sections} for sections in shown]
    for title in {**named[0], **named[1]}:
        one, two = (sections.get(title) for sections in named)
        if one is not None and two is not None:
            both = Beside(within(one.blocks, "left"), within(two.blocks, "right"))
            yield Section(title, [both], one.anchor, [_lead(runs[0], one), _lead(runs[1], two)])
        elif one is not None:
            yield _alone(runs[0], one, "left")
        elif two is not None:
            yield _alone(runs[1], two, "right")


def _alone(run: Run, section: Section, side: str) -> Section:
    leads = [_lead(run, section, "only in ")]
    return Section(section.title, within(section.blocks, side), f"{side}-{section.anchor}", leads)


def _lead(run: Run, section: Section, how: str = "") -> tuple[str, str]:
    return f"{how}{run.id}", f"/runs/{run.id}#{section.anchor}"


def within(blocks: Sequence[Block], side: str) -> list[Block]:
    """The blocks of one side: places that both runs have are named apart, and lead to their own side."""
    return [mapped(block, partial(_on_side, side)) for block in blocks]


def _on_side(side: str, name: str, text: str) -> str:
    """An anchor or a link of a block, on its own side of the page."""
    if name == "anchor" and text:
        return f"{side}-{text}"
    return f"#{side}-{text[1:]}" if name in ("href", "hrefs") and text.startswith("#") else text
