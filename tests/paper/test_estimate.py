"""What a paper is to cost is stated before the first request, and is near what the recorded
papers took.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.papers.cases import PaperCase, load_cases
from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.journal import Journal
from reenact.llm.ask import Usage
from reenact.llm.recording import Recorder, read_recording
from reenact.llm.scripted import Scripted
from reenact.paper.estimate import fingerprint_estimate, paper_estimate
from reenact.paper.fingerprint.pipeline import run_fingerprint
from reenact.paper.options import Goal, PaperAblations, PaperOptions
from reenact.sandbox.choose import choose
from reenact.types import Progress

NEAR = 1.6
"""How many times more or less an estimate may be off on the recorded papers."""
RECORDED = [
    one for one in load_cases() if one.twin is None and (one.folder / "recordings").is_dir()
]


class TwoDollars(Scripted):
    """Asks two dollars for a million tokens."""

    def price(self, usage: Usage) -> Decimal | None:
        return Decimal(usage.tokens) * 2 / 1_000_000


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.id)
def test_it_is_near_what_a_recorded_paper_took(case: PaperCase) -> None:
    paper = read_paper(str(case.folder / "paper"), box=choose(trust_code=True))
    options = PaperOptions(goal=case.goal.goal)
    records = read_recording(case.folder / "recordings" / "whole.jsonl")
    first = [one for one in records if "/revision[" not in one["step"]]

    def tokens(under: str) -> int:
        used = [one["answer"]["usage"] for one in first if one["step"].startswith(under)]
        return sum(one["input_tokens"] + one["output_tokens"] for one in used)

    whole = paper_estimate(paper, options, Scripted([])).whole
    taken = fingerprint_estimate(paper, options.parts, Scripted([]))
    assert len(first) / NEAR < whole.requests < len(first) * NEAR
    for estimate, real in ((whole, tokens("")), (taken, tokens("paper/fingerprint"))):
        assert real / NEAR < estimate.tokens_in + estimate.tokens_out < real * NEAR


def test_less_is_asked_less_is_stated(paper: Paper) -> None:
    model, options = Scripted([]), PaperOptions()

    def tokens(options: PaperOptions) -> int:
        return paper_estimate(paper, options, model).whole.tokens_in

    without = replace(options, parts=PaperAblations.without("fingerprint"))
    assert tokens(replace(options, goal=Goal(task="moons"))) < tokens(options)
    assert tokens(without) < tokens(replace(options, exemplars=0)) < tokens(options)
    assert "each revision, at most 3: about" in paper_estimate(paper, options, model).sentence
    assert "revision" not in paper_estimate(paper, without, model).sentence


def test_money_is_stated_where_there_is_a_price(paper: Paper, tmp_path: Path) -> None:
    recorded = Recorder(TwoDollars([]), tmp_path / "answers.jsonl")
    priced = fingerprint_estimate(paper, PaperAblations(), recorded)
    assert priced.money == Decimal(priced.tokens_in + priced.tokens_out) * 2 / 1_000_000
    assert f"${priced.money:.2f} where nothing is cached" in priced.sentence
    assert "$" not in fingerprint_estimate(paper, PaperAblations(), Scripted([])).sentence


def test_a_fingerprint_states_it_before_the_first_request(paper: Paper) -> None:
    model, seen = Scripted(lambda _: {"items": []}), list[tuple[str, int]]()

    def tell(progress: Progress) -> None:
        seen.append((progress.note, len(model.calls)))

    with Journal.in_memory() as journal:
        taken = run_fingerprint(
            paper,
            Goal(),
            model,
            journal,
            parts=PaperAblations(),
            what="gentle",
            tell=tell,
        )
    assert seen[0] == (f"cost: {taken.estimate.sentence}", 0)
    assert taken.to_dict()["estimate"]["requests"] == taken.estimate.requests  # type: ignore[index, call-overload]
