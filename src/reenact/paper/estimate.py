"""What a paper will cost, before the first large request: by its length, and by the questions to be
asked.

The sizes are those of the shipped recordings, at four characters a token. Left out, because no one
knows how often: fixing code that does not run, and answers that are asked for twice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from reenact.intake.papers.paper import Paper
from reenact.llm.ask import CHARACTERS_PER_TOKEN, Model, Usage
from reenact.llm.budget import Priced
from reenact.paper.bearing import portions, read_text
from reenact.paper.options import PaperAblations, PaperOptions

Question: TypeAlias = tuple[float, float, int]
"""How many of a kind, and tokens that one of them sends and receives."""
WORDS = 1_000
"""Our own words in a question, with the form of its answer."""
LONGEST_CITED = 20_000
"""Tokens that are read of a cited paper."""
EXEMPLAR = 1_700
REVIEW = 1_500
CRITERIA = 2_800
STATE = 1_800
CODE = 4_200
"""Tokens: of a cited work, of the review, of all criteria, of what the roles know, of the
finished code.
"""
HAD = 2 / 3
"""Share of the cited works that can be had."""
BEARING = 0.6
"""Share of the paper that goes to anyone who writes code for a part of it."""
JUDGED, JUDGED_AGAIN = 3, 2
"""Questions to the first judge and to the second."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """About how much."""

    requests: int
    tokens_in: int
    tokens_out: int
    money: Decimal | None
    """US dollars, nothing cached; none when the model has no price."""

    @property
    def sentence(self) -> str:
        """The line to read."""
        money = ""
        if self.money is not None:
            money = f", ${self.money:.2f} where nothing is cached"
        # To two digits: it is an estimate.
        tokens = int(float(f"{self.tokens_in + self.tokens_out:.1e}"))
        return f"about {self.requests} requests and {tokens:,} tokens{money}"


@dataclass(frozen=True, slots=True)
class PaperEstimate:
    """What every run asks, and what a revision adds."""

    whole: CostEstimate
    revision: CostEstimate
    rounds: int
    """Revisions at most."""

    @property
    def sentence(self) -> str:
        """The line to read."""
        more = ""
        if self.rounds:
            more = f"; each revision, at most {self.rounds}: {self.revision.sentence}"
        return f"{self.whole.sentence}{more}; fixing code that does not run comes on top"


def fingerprint_estimate(paper: Paper, parts: PaperAblations, model: Model) -> CostEstimate:
    """What taking the fingerprint costs."""
    return _summed(_fingerprint(paper, parts), model)


def paper_estimate(paper: Paper, options: PaperOptions, model: Model) -> PaperEstimate:
    """What the whole costs."""
    parts = options.parts
    long = len(read_text(paper)) / CHARACTERS_PER_TOKEN
    # Not every cited work that is asked for can be had.
    cited = HAD * options.exemplars if parts.lineage else 0
    known = REVIEW + (CRITERIA if parts.fingerprint else 0) + EXEMPLAR * cited
    # What every question of development begins with; what a judge reads: code, criteria, some cited
    # work.
    brief = (1 if options.goal.is_all else BEARING) * long + known + WORDS
    judged = CODE + 2 * WORDS + EXEMPLAR * cited / 2
    verified: list[Question] = [
        (1, CODE + WORDS, 200),
        (JUDGED, judged, 2_400),
    ]
    asked: list[Question] = [(2, long + WORDS, 2_500)]
    if cited:
        asked += [
            (1, WORDS + len(paper.references) * 40, 200),
            (cited, WORDS, 150),
        ]
        asked.append(
            (
                cited,
                WORDS + min(long, LONGEST_CITED) / 2,
                400,
            )
        )
    if parts.fingerprint:
        asked += _fingerprint(paper, parts)
    # Before data, method and experiment are written there is less code than after; a reviewer has
    # it all.
    asked += [
        (1, brief, 1_300),
        (6, brief + STATE + CODE / 2, 1_200),
        (1, CODE + WORDS, 100),
    ]
    if parts.fingerprint:
        asked += [*verified, (JUDGED_AGAIN, judged, 3_500)]
    revision = _summed(
        [(2, brief + STATE + CODE, 600), *verified],
        model,
    )
    refines = parts.refine and parts.fingerprint
    return PaperEstimate(
        _summed(asked, model),
        revision,
        options.rounds if refines else 0,
    )


def _fingerprint(paper: Paper, parts: PaperAblations) -> Iterator[Question]:
    yield 2, len(read_text(paper)) / CHARACTERS_PER_TOKEN + 1.5 * WORDS, 2_800
    if parts.scan:
        for text, _ in portions(paper):
            yield 1, len(text) / CHARACTERS_PER_TOKEN + 2 * WORDS, 300
    if parts.atomicity:
        yield 1, 1_400, 700


def _summed(questions: Iterable[Question], model: Model) -> CostEstimate:
    listed = list(questions)
    sent, received = (round(sum(one[0] * one[at] for one in listed)) for at in (1, 2))
    money = None
    if isinstance(model, Priced):
        money = model.price(Usage(sent, received))
    return CostEstimate(
        round(sum(one[0] for one in listed)),
        sent,
        received,
        money,
    )
