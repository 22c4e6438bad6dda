"""The questions of a fingerprint: two guides over the whole paper, a scan of every portion, facts split.

Compound facts are taken apart; equations and algorithms stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Block, Figure, Paper, Paragraph
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.ask_with_retry import ask_with_retry
from reenact.paper.criterion import Kind, Level
from reenact.paper.fingerprint.fingerprint import Dropped, Item
from reenact.paper.fingerprint.proposals import Atom, Guide, Proposed, Sort, Splits, checked, objections
from reenact.paper.options import Goal
from reenact.paper.quantity import Quantity, quantities
from reenact.settings import field_texts

Fill: TypeAlias = Callable[[str], Prompt]
"""A prompt from the objections to an earlier answer."""

TOLERATED = 10
"""One ungrounded fact in so many is dropped without asking again."""
LOOK = {
    Level.FRAMEWORK: (
        "Describe the parts of the system and how they work together, in the order in which they act: where"
        " the data come from and how they are prepared; the model, part by part; what is computed and"
        " minimised, each equation and each algorithm whole; the order of the steps of training; the"
        " baselines and ablations; how the outcome is evaluated. Leave plain settings (rates, sizes, counts)"
        " to a later list."
    ),
    Level.CONFIGURATION: (
        "List the settings: sizes of data and splits, layers and their sizes, activations, initial values,"
        " optimiser, learning rate and schedule, batch size, number of epochs or steps, regularisation,"
        " constants of the method, thresholds, seeds and number of runs, and what is measured and how it is"
        " averaged. Read the tables of settings cell by cell. Where a setting differs between data sets,"
        " methods or experiments, give one fact for each, with its scope."
    ),
}
ATOMIC = (
    "One fact says one thing: one setting with its value, one step, one part. What is true of two things is"
    " two facts. An equation or an algorithm is one fact and stays whole."
)
COMPOUND = "What the paper says together may stay together in one fact."


def guide(
    level: Level, paper: Paper, goal: Goal, model: Model, run: Scope, *, atomic: bool
) -> tuple[list[Proposed], list[Dropped]]:
    """What the paper says at this level; nothing, and the reason, when the model cannot say it."""
    template = load_prompt("reenact.paper.fingerprint", "prompts/guide.md")

    def fill(objections: str) -> Prompt:
        return template.fill(
            paper=paper.text(),
            goal=goal.text(),
            addendum=goal.addendum or "There is none.",
            look=LOOK[level],
            grain=grain(atomic=atomic),
            sorts=listing(Sort),
            kinds=listing(Kind),
            objections=objections,
        )

    return proposed(run, model, level.value, fill, level, paper)


def proposed(
    run: Scope, model: Model, name: str, fill: Fill, level: Level, paper: Paper
) -> tuple[list[Proposed], list[Dropped]]:
    """The facts of one question, asked twice when many are not grounded."""
    try:
        said = ask_with_retry(
            run,
            model,
            name,
            fill,
            Guide,
            wrong=lambda one: objections(one, paper),
            tolerate=lambda one: len(one.items) // TOLERATED,
        )
    except AnswerUnusable as error:
        return [], [Dropped(f"(everything that {name} would have found)", level, error.sentence)]
    return said.items, []


def grain(*, atomic: bool) -> str:
    """How much one fact may say, in our words."""
    return ATOMIC if atomic else COMPOUND


def listing(owner: type[Sort] | type[Kind]) -> str:
    """The members of an enumeration with what they mean."""
    return "\n".join(f"  - {owner[name].value}: {words}" for name, words in field_texts(owner).items())


PORTION = 12000
"""Characters of the paper that one question holds; a single longer block is asked about alone."""
SILENT = re.compile(
    r"^\W*(?:references|bibliography|acknowledge?ments?|author contributions?|funding|ethics statement"
    r"|broader impacts?|impact statement)\b",
    re.IGNORECASE,
)
"""Sections that say nothing about the method."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some blocks in a row."""

    text: str
    ids: frozenset[str]


def scan(
    paper: Paper, goal: Goal, items: Sequence[Item], model: Model, run: Scope, *, atomic: bool
) -> tuple[list[Proposed], list[Dropped]]:
    """Facts that no item holds yet."""
    template = load_prompt("reenact.paper.fingerprint", "prompts/scan.md")
    found: list[Proposed] = []
    dropped: list[Dropped] = []
    for number, portion in enumerate(portions(paper)):

        def fill(objections: str, portion: Portion = portion) -> Prompt:
            return template.fill(
                title=paper.title,
                goal=goal.text(),
                portion=portion.text,
                known=_known(portion, items),
                grain=grain(atomic=atomic),
                sorts=listing(Sort),
                kinds=listing(Kind),
                objections=objections,
            )

        here = run.under("scan", attempt=number)
        more, lost = proposed(here, model, "paragraphs", fill, Level.PARAGRAPH, paper)
        found += more
        dropped += lost
    return found, dropped


def portions(paper: Paper) -> Iterator[Portion]:
    """The paper in portions, whole blocks each, never without the heading that they stand under."""
    lines: list[str] = []
    ids: set[str] = set()
    for heading, block in _blocks(paper):
        words = _said(block)
        if ids and sum(map(len, lines)) + len(words) > PORTION:
            yield Portion("\n\n".join(lines), frozenset(ids))
            lines, ids = [], set()
        lines += [words] if heading in lines else [heading, words]
        ids |= _ids(block)
    if ids:
        yield Portion("\n\n".join(lines), frozenset(ids))


def _blocks(paper: Paper) -> Iterator[tuple[str, Block]]:
    for section in paper.sections:
        if SILENT.match(section.title):
            continue
        heading = f"{'#' * (section.level + 1)} {section.id} {section.title}"
        for block in section.blocks:
            if not isinstance(block, Figure) or block.caption:
                yield heading, block


def _said(block: Block) -> str:
    if isinstance(block, Paragraph):
        return " ".join(f"[{one.id}] {one.text}" for one in block.sentences)
    return f"[{block.id}] {block.text}"


def _ids(block: Block) -> set[str]:
    inner: Iterable[str] = (one.id for one in block.sentences) if isinstance(block, Paragraph) else ()
    return {block.id, *inner}


def _known(portion: Portion, items: Sequence[Item]) -> str:
    """What was found in this portion already."""
    here = [item for item in items if portion.ids.intersection(item.places)]
    return "\n".join(f"- {one.fact} | {one.scope} [{', '.join(one.places)}]" for one in here) or "nothing yet"


MOST_ATOMS = 6
"""A fact that falls into more stays whole: such a list is a description, not a compound."""
SPLIT_AT_ONCE = 40
"""Facts a question."""
_MATHS = re.compile(r"\$[^$]*\$")
_JOINED = re.compile(r";|\band\b|\bas well as\b|,.*,", re.IGNORECASE)


def split(items: Sequence[Item], model: Model, run: Scope) -> list[Item]:
    """All items, the compound ones in parts; an answer that does not hold leaves them as they are."""
    compound = [number for number, item in enumerate(items) if is_compound(item)]
    parts: dict[int, list[Item]] = {}
    for start in range(0, len(compound), SPLIT_AT_ONCE):
        portion = compound[start : start + SPLIT_AT_ONCE]
        here = run.under("atoms", attempt=start // SPLIT_AT_ONCE)
        parts |= _parts({number: items[number] for number in portion}, model, here)
    return [part for number, item in enumerate(items) for part in parts.get(number, [item])]


def is_compound(item: Item) -> bool:
    """Whether it may say more than one thing, as far as its words show."""
    words = _MATHS.sub(" ", item.fact)
    return not item.whole and (len(quantities(words)) > 1 or _JOINED.search(words) is not None)


def _parts(portion: dict[int, Item], model: Model, run: Scope) -> dict[int, list[Item]]:
    order = dict(enumerate(portion, start=1))
    told = "\n".join(f"{name}. {_item_text(portion[number])}" for name, number in order.items())
    prompt = load_prompt("reenact.paper.fingerprint", "prompts/atoms.md").fill(
        facts=told, kinds=listing(Kind), most=MOST_ATOMS
    )
    try:
        said = ask(run, model, "split", prompt, Splits)
    except AnswerUnusable:
        return {}
    found: dict[int, list[Item]] = {}
    for one in said.facts:
        number = order.get(one.number)
        if number is None or number in found or not 1 < len(one.atoms) <= MOST_ATOMS:
            continue
        if _holds(portion[number], one.atoms):
            found[number] = [_atom(portion[number], atom) for atom in one.atoms]
    return found


def _item_text(item: Item) -> str:
    return f"{item.fact} | scope: {item.scope} | the paper: {item.quote!r}"


def _holds(item: Item, atoms: Sequence[Atom]) -> bool:
    """Nothing lost, nothing new: the atoms have the numbers of the fact, and only those of the paper."""
    said = [one for atom in atoms for one in quantities(atom.fact)]
    return _within(quantities(item.fact), said) and _within(said, quantities(f"{item.fact} {item.quote}"))


def _within(wanted: Sequence[Quantity], there: Sequence[Quantity]) -> bool:
    return all(any(one.equals(other) for other in there) for one in wanted)


def _atom(item: Item, atom: Atom) -> Item:
    check = checked(atom.check, item.quote, whole=item.whole)
    scope = " ".join(atom.scope.split()) or item.scope
    return replace(item, fact=" ".join(atom.fact.split()), scope=scope, check=check)
