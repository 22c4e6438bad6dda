"""Every number that the paper reports for the task: a model points at it, code looks whether it is
there.

Where results are is hidden from anyone who writes the code, so that no number can be copied. Next to
the place of each claim: tables that hold claimed values, and sentences and captions that state one.
A setting may happen to be the same number as a result: a number alone hides nothing unless it is
unmistakable. Of definitions only those are hidden that have such a number in them, or that a claim
was read in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from pydantic import BaseModel, ConfigDict, Field

from reenact.asking import ask_with_retry
from reenact.errors import AnswerUnusable, InputError
from reenact.intake.papers.paper import Figure, Paper, Table, plain
from reenact.journal import Scope
from reenact.llm.ask import Model, bounded
from reenact.llm.prompts import load_prompt
from reenact.paper.bearing import read_text
from reenact.paper.criterion import Criterion
from reenact.paper.fingerprint.vocabulary import words_of
from reenact.paper.grounding import in_order, known, text_at
from reenact.paper.options import Goal
from reenact.paper.quantity import Quantity, has_numbers, quantities

UNMISTAKABLE = 3
"""Digits that count, with a point among them, from which a number is taken for the claim itself."""
COMMON = frozenset({0.0, 0.5, 1.0, 100.0})
"""Numbers that stand in definitions and settings everywhere: alone they never hide a sentence."""
SEVERAL = 2
"""Different claimed values in one table."""
WITHHELD = "(withheld: it is among the results of the paper)"
"""In place of a quote."""
_COMPARED = re.compile(
    r"(?i)\b(?:points?|better|worse|outperform\w*|improv\w*|gains?|gap|higher|lower|margin|above|below)\b"
)
_DEFINES = re.compile(
    r"(?i)\b(?:we|is|are|be) (?:define|denote|call|say that|termed)|\bdenotes?\b|\bby "
    r"definition\b|\blet \$"
    r"|:=|\\coloneqq|\\triangleq"
)
"""A sentence that says what something is: without it no one can write the code."""
PLACE = "given"
"""Where such a claim is: with the user, not in the paper."""
FORM = "METRIC of METHOD on DATA > NUMBER"
"""`>=`, `<`, `<=` and `=` too; `on DATA` may be left out; `%` after the number where it is in
per cent.
"""
SMALLER = re.compile(
    r"\b(?:loss|error|r?mse|mae|perplexity|nll|fid|wer|distance|seconds?|time)\b", re.I
)
"""Metrics of which the smaller value is the better."""
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_CLAIM = re.compile(
    rf"(?i)(?P<metric>\S.*?)\s+of\s+(?P<method>\S.*?)(?:\s+on\s+(?P<dataset>\S.*?))?"
    rf"\s*(?P<sign>>=|<=|>|<|=)\s*(?P<value>{_NUMBER})\s*(?P<unit>%?)"
)


class Stated(BaseModel):
    """One reported number."""

    metric: str = Field(min_length=1, max_length=200, description="As the paper names it.")
    value: float = Field(description="The number as it is printed: 12.5 for 12.5 %.")
    unit: str = Field(
        default="",
        max_length=20,
        description="% where the paper gives per cent; else empty.",
    )
    higher_is_better: bool
    method: str = Field(max_length=200, description="Whose number it is, as the paper names it.")
    dataset: str = Field(default="", max_length=200)
    setting: str = Field(
        default="",
        max_length=500,
        description="What else decides it, as the paper says.",
    )
    spread: float | None = Field(
        default=None, ge=0, description="What stands after the plus-minus sign."
    )
    place: str = Field(max_length=80, description="Id of the table or sentence.")
    quote: str = bounded(
        1000, "The table cell as it stands, or words of the sentence.", min_length=1
    )
    asked: bool = Field(
        default=True,
        description=(
            "False when what is to be reproduced leaves this number out: another method or setting."
        ),
    )


class PaperClaim(Stated):
    """A number that was found at its place in the paper: what is compared with what was measured. Whether it
    is asked for is decided before anything is measured."""

    model_config = ConfigDict(frozen=True)

    id: str
    """`C1`, `C2`, ... in the order of the paper; `R1`, ... read off a figure; `G1`, ... of the
    user.
    """
    bound: str = ""
    """`>` or `<` where only a bound is claimed: the user's alone."""
    read_off: bool = False
    """Read off a figure: `spread` is the uncertainty of the reading."""

    @property
    def quantity(self) -> Quantity:
        return Quantity(self.value, bool(self.unit))

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.value:g}{self.unit} of {self.method} on {self.dataset} "
            f"[{self.place}]"
        )


def of_another(table: Table, quote: str, method: str) -> str:
    """The row or column of somebody else that all such cells stand in; empty when none contradicts.
    A contradiction needs a heading that is the method's name, and cells that are under other
    headings: tables that call the method `ours` are not judged.
    """
    name = words_of(method)
    # The corner says what kind of thing the rows are, and heads nothing.
    heads = [row[0] for row in table.rows[table.heads :] if row]
    heads += [cell for row in table.rows[: table.heads] for cell in row[1:]]
    if not name or name not in map(words_of, heads):
        return ""
    theirs: list[list[str]] = []
    for cells in table.rows:
        # Words of the row that are not numbers, and what is over the cell.
        words = [one for one in cells if not quantities(one)] or [*cells[:1]]
        for at in (at for at, cell in enumerate(cells) if plain(quote) in plain(cell)):
            theirs.append(
                words + [above[at] for above in table.rows[: table.heads] if at < len(above)]
            )
    if not theirs or any(name <= words_of(" ".join(around)) for around in theirs):
        return ""
    return " / ".join(head for head in theirs[0] if head)


def withheld(paper: Paper, claims: Sequence[PaperClaim]) -> frozenset[str]:
    """Ids of tables, sentences and figures that state what the paper claims."""
    hidden = {claim.place for claim in claims}
    for block in paper.blocks():
        holds = isinstance(block, Table) and _holds(block, claims)
        if holds or (isinstance(block, Table | Figure) and _tells(block.caption, claims)):
            hidden.add(block.id)
    # With the difference of two claims of one metric, as far as it is printed, numbers could be
    # guessed.
    pairs = [
        pair for pair in combinations(claims, 2) if len({plain(one.metric) for one in pair}) == 1
    ]
    apart = [
        Quantity(value)
        for one, other in pairs
        if (
            value := round(
                abs(one.value - other.value),
                6,
            )
        )
    ]
    for one in paper.sentences():
        defines = _DEFINES.search(one.text) is not None
        numbers = []
        if not defines and _COMPARED.search(one.text):
            numbers = quantities(one.text)
        compares = any(number.equals(other) for number in numbers for other in apart)
        if compares or _tells(one.text, claims, surely=defines):
            hidden.add(one.id)
    return frozenset(hidden)


def without_results(
    criteria: Sequence[Criterion], claims: Sequence[PaperClaim], hidden: frozenset[str]
) -> tuple[Criterion, ...]:
    """Criteria for anyone who writes code: none that states a claim, and no quote from a hidden
    place.
    """
    kept = (one for one in criteria if not _tells(one.fact, claims))
    shown = (
        (
            one,
            hidden.intersection(one.places) or _tells(one.quote, claims),
        )
        for one in kept
    )
    return tuple(replace(one, quote=WITHHELD) if tells else one for one, tells in shown)


def _holds(table: Table, claims: Sequence[PaperClaim]) -> bool:
    cells = [one for row in table.rows for cell in row for one in quantities(cell)]
    met = [claim for claim in claims if any(claim.quantity.equals(one) for one in cells)]
    heads = " ".join(
        [
            table.caption,
            *(cell for row in table.rows[: max(table.heads, 1)] for cell in row),
        ]
    )
    return len({claim.value for claim in met}) >= SEVERAL or any(
        _named(claim, heads) for claim in met
    )


def _tells(text: str, claims: Sequence[PaperClaim], *, surely: bool = False) -> bool:
    """Whether a claim stands in it; `surely`: that no other number can be meant."""
    for one in quantities(text):
        digits = re.sub(r"[eE].*|\D", "", one.written).lstrip("0")
        unmistakable = "." in one.written and len(digits) >= UNMISTAKABLE
        met = [claim for claim in claims if one.value not in COMMON and claim.quantity.equals(one)]
        if met and (unmistakable or (not surely and any(_named(claim, text) for claim in met))):
            return True
    return False


def _named(claim: PaperClaim, text: str) -> bool:
    """Whether the metric is spoken of: all its words, so that `test accuracy` is not met by
    `test`.
    """
    flat = plain(text)
    words = [plain(word) for word in re.split(r"[^\w@]+", claim.metric) if len(plain(word)) > 1]
    return bool(words) and all(word in flat for word in words)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims that hold against the text, and what became of the others."""

    claims: tuple[PaperClaim, ...]
    dropped: tuple[str, ...]
    """A sentence each."""

    @property
    def asked(self) -> tuple[PaperClaim, ...]:
        """Those that what is to be reproduced asks for."""
        return tuple(one for one in self.claims if one.asked)

    def beside(self, given: Claims) -> Claims:
        """These, and those that the user states or figures show."""
        return Claims(
            (*self.claims, *given.claims),
            (*self.dropped, *given.dropped),
        )


class Reported(BaseModel):
    """All reported numbers."""

    claims: list[Stated] = Field(max_length=400)


def stated_claims(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
) -> Claims:
    """The claims, and a sentence for each that was dropped: these are in the journal as
    `claims-dropped`.
    """
    template = load_prompt("reenact.paper.review", "prompts/claims.md")
    values = {
        "paper": read_text(paper),
        "goal": goal.text(),
    }
    wrong = partial(_objections, paper=paper)
    try:
        answer = ask_with_retry(
            run,
            model=model,
            name="claims",
            template=template,
            values=values,
            answer=Reported,
            wrong=wrong,
        )
    except AnswerUnusable as error:
        found = Claims((), (f"No claims were read: {error.sentence}",))
    else:
        found = Claims(
            _numbered(answer, paper, goal),
            tuple(_objections(answer, paper)),
        )
    if found.dropped:
        run.note("claims-dropped", list(found.dropped))
    return found


def _numbered(
    answer: Reported,
    paper: Paper,
    goal: Goal,
) -> tuple[PaperClaim, ...]:
    order = in_order(paper)
    held = [(one, place) for one in answer.claims if isinstance(place := _place(one, paper), tuple)]
    found: dict[tuple[object, ...], PaperClaim] = {}
    for one, (place,) in sorted(
        held,
        key=lambda pair: order[pair[1][0]],
    ):
        key = (
            place,
            plain(one.metric),
            one.value,
            plain(one.method),
            plain(one.dataset),
            plain(one.setting),
        )
        spread = None
        if one.spread is not None and _has(one.quote, one.spread):
            spread = one.spread
        unit = ""
        if "%" in one.unit or "cent" in one.unit.lower():
            unit = "%"
        words = {name: text.strip() for name, text in one if isinstance(text, str)}
        seen = {
            "unit": unit,
            "spread": spread,
            "place": place,
            "asked": one.asked or goal.is_all,
        }
        given = {
            **one.model_dump(),
            **words,
            **seen,
            "id": f"C{len(found) + 1}",
        }
        found.setdefault(key, PaperClaim.model_construct(**given))
    return tuple(found.values())


def _objections(answer: Reported, paper: Paper) -> list[str]:
    wrong = [(one, why) for one in answer.claims if isinstance(why := _place(one, paper), str)]
    return [
        f"{one.metric} {one.value:g} of {one.method} [{one.place}]: {why}" for one, why in wrong
    ]


def _place(one: Stated, paper: Paper) -> tuple[str] | str:
    """The id it is at, or why it does not hold."""
    if not _has(one.quote, one.value):
        return f"the value is not in its quote ({one.quote[:80]!r})"
    named = known(paper, [one.place])
    found = [
        place for place in (*named, *paper.find(one.quote)) if _stands(one.quote, place, paper)
    ]
    if not found:
        if named:
            return "its quote is not in the paper"
        return "there is no such place in the paper"
    table = paper.by_id[found[0]]
    whose = ""
    if isinstance(table, Table):
        whose = of_another(table, one.quote, one.method)
    if whose:
        return f"its cell is under {whose!r}, not under {one.method!r}"
    return (found[0],)


def _stands(quote: str, place: str, paper: Paper) -> bool:
    """Whether the quote is in a cell of that table, or in those words."""
    wanted = plain(quote)
    block = paper.by_id[place]
    cells = []
    if isinstance(block, Table):
        cells = [cell for row in block.rows for cell in row]
    texts = cells or ([text_at(paper, place)] if wanted else [])
    return any(wanted in plain(text) and has_numbers(text, quote) for text in texts)


def _has(quote: str, value: float) -> bool:
    return any(one.equals(Quantity(value)) for one in quantities(quote))


def given_claims(stated: Sequence[str]) -> tuple[PaperClaim, ...]:
    """The user's claims, numbered `G1`, `G2`, ... Raises InputError for one that is not in this
    form.
    """
    claims = []
    for number, text in enumerate(stated, start=1):
        found = _CLAIM.fullmatch(" ".join(text.split()))
        if found is None:
            raise InputError(f"This is not a claim. Expected: {FORM}. Received: {text!r}.")
        part = found.groupdict(default="")
        bound = part.pop("sign").rstrip("=")
        higher = bound == ">" if bound else not SMALLER.search(part["metric"])
        known = {
            "id": f"G{number}",
            "bound": bound,
            "place": PLACE,
            "quote": text.strip(),
        }
        claims.append(
            PaperClaim.model_validate(
                {
                    **part,
                    **known,
                    "higher_is_better": higher,
                }
            )
        )
    return tuple(claims)
