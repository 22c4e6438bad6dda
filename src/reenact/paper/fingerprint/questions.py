"""The questions of a fingerprint: two guides over the whole paper, a scan of every portion, facts split.

Compound facts are taken apart; equations and algorithms stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Block, Figure, Paper, Paragraph
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.asking import ask_with_retry, prompt_texts
from reenact.paper.criterion import Kind, Level
from reenact.paper.fingerprint.fingerprint import (
    Atom,
    Dropped,
    Guide,
    Item,
    Proposed,
    Sort,
    Splits,
    checked,
    objections,
)
from reenact.paper.options import Goal
from reenact.paper.quantity import has_numbers, quantities
from reenact.settings import field_texts

PACKAGE = "reenact.paper.fingerprint"
Proposals: TypeAlias = tuple[list[Proposed], list[Dropped]]
TOLERATED = 10
"""One ungrounded fact in so many is dropped without asking again."""
PORTION = 12000
"""Characters of the paper that one question holds; a single longer block is asked about alone."""
SILENT = re.compile(
    r"^\W*(?:references|bibliography|acknowledge?ments?|author contributions?|funding|ethics statement"
    r"|broader impacts?|impact statement)\b",
    re.IGNORECASE,
)
"""Sections that are not about the method."""
MOST_ATOMS = 6
"""A fact that falls into more stays whole: such a list is a description, not a compound."""
SPLIT_AT_ONCE = 40
"""Facts a question."""
_MATHS = re.compile(r"\$[^$]*\$")
_JOINED = re.compile(r";|\band\b|\bas well as\b|,.*,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Portion:
    """Some blocks in a row."""

    text: str
    ids: frozenset[str]


def guide(level: Level, paper: Paper, goal: Goal, model: Model, run: Scope, *, atomic: bool) -> Proposals:
    """What the paper states at this level; nothing, and the reason, when the model cannot tell."""
    values = {
        "paper": paper.text(),
        "goal": goal.text(),
        "addendum": goal.addendum or "There is none.",
        "look": prompt_texts(PACKAGE)["look"][level],
    }
    return _proposals("guide", values, level.value, level, paper, model, run, atomic)


def scan(
    paper: Paper, goal: Goal, items: Sequence[Item], model: Model, run: Scope, *, atomic: bool
) -> Proposals:
    """Facts that no item holds yet."""
    found: list[Proposed] = []
    dropped: list[Dropped] = []
    shared = {"title": paper.title, "goal": goal.text()}
    for number, portion in enumerate(portions(paper)):
        values = {**shared, "portion": portion.text, "known": _known(portion, items)}
        here = run.under("scan", attempt=number)
        more, lost = _proposals("scan", values, "paragraphs", Level.PARAGRAPH, paper, model, here, atomic)
        found += more
        dropped += lost
    return found, dropped


def _proposals(
    prompt: str, values: dict[str, Any], step: str, level: Level, paper: Paper, model: Model, run: Scope,
    atomic: bool,
) -> Proposals:  # fmt: skip
    """The facts of one question, asked twice when many are not grounded."""
    grain = prompt_texts(PACKAGE)["grain"]["atomic" if atomic else "compound"]
    try:
        answer = ask_with_retry(
            run,
            model,
            step,
            load_prompt(PACKAGE, f"prompts/{prompt}.md"),
            {**values, "grain": grain, "sorts": listing(Sort), "kinds": listing(Kind)},
            Guide,
            wrong=lambda one: objections(one, paper),
            tolerate=lambda one: len(one.items) // TOLERATED,
        )
    except AnswerUnusable as error:
        return [], [Dropped(f"(everything that {step} would have found)", level, error.sentence)]
    return answer.items, []


def listing(owner: type[Sort] | type[Kind]) -> str:
    """The members of an enumeration with what they mean."""
    return "\n".join(f"  - {owner[name].value}: {words}" for name, words in field_texts(owner).items())


def portions(paper: Paper) -> Iterator[Portion]:
    """The paper in portions, whole blocks each, never without the heading that they stand under."""
    lines: list[str] = []
    ids: set[str] = set()
    for heading, block in _blocks(paper):
        words = _words(block)
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


def _words(block: Block) -> str:
    if isinstance(block, Paragraph):
        return " ".join(f"[{one.id}] {one.text}" for one in block.sentences)
    return f"[{block.id}] {block.text}"


def _ids(block: Block) -> set[str]:
    return {block.id, *(one.id for one in (block.sentences if isinstance(block, Paragraph) else ()))}


def _known(portion: Portion, items: Sequence[Item]) -> str:
    """What was found in this portion already."""
    here = [item for item in items if portion.ids.intersection(item.places)]
    return "\n".join(f"- {one.fact} | {one.scope} [{', '.join(one.places)}]" for one in here) or "nothing yet"


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
    facts = "\n".join(
        f"{name}. {one.fact} | scope: {one.scope} | the paper: {one.quote!r}"
        for name, one in enumerate(portion.values(), start=1)
    )
    prompt = load_prompt(PACKAGE, "prompts/atoms.md").fill(facts=facts, kinds=listing(Kind), most=MOST_ATOMS)
    try:
        answer = ask(run, model, "split", prompt, Splits)
    except AnswerUnusable:
        return {}
    found: dict[int, list[Item]] = {}
    for one in answer.facts:
        number = order.get(one.number)
        if number is None or number in found or not 1 < len(one.atoms) <= MOST_ATOMS:
            continue
        if _holds(portion[number], one.atoms):
            found[number] = [_atom(portion[number], atom) for atom in one.atoms]
    return found


def _holds(item: Item, atoms: Sequence[Atom]) -> bool:
    """Nothing lost, nothing new: the atoms have the numbers of the fact, and only those of the paper."""
    facts = " | ".join(atom.fact for atom in atoms)
    return has_numbers(facts, item.fact) and has_numbers(f"{item.fact} {item.quote}", facts)


def _atom(item: Item, atom: Atom) -> Item:
    check = checked(atom.check, item.quote, whole=item.whole)
    scope = " ".join(atom.scope.split()) or item.scope
    return replace(item, fact=" ".join(atom.fact.split()), scope=scope, check=check)
