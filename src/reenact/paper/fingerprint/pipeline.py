"""Take the fingerprint of a paper: guides, scan, grounding, atoms, one of each, numbered.

Two guides over the whole paper, a scan of every portion for what they missed. Compound facts are taken apart;
equations and algorithms stay whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.intake.papers.paper import Block, Figure, Paper, Paragraph
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.asking import ask_with_retry, prompt_texts, side_by_side
from reenact.paper.bearing import SILENT, compact, heading, read_text
from reenact.paper.criterion import Kind, Level
from reenact.paper.fingerprint.fingerprint import (
    Atom,
    Dropped,
    Fingerprint,
    Guide,
    Item,
    Proposed,
    Sort,
    Splits,
    checked,
    numbered,
    objections,
    sifted,
)
from reenact.paper.fingerprint.similar import distinct
from reenact.paper.grounding import in_order
from reenact.paper.options import Goal, PaperAblations
from reenact.paper.quantity import has_numbers, quantities
from reenact.settings import field_texts

PACKAGE = "reenact.paper.fingerprint"
TOLERATED = 10
"""One ungrounded fact in so many is dropped without asking again."""
PORTION = 12000
"""Characters of the paper that one question holds; a single longer block is asked about alone."""
MOST_ATOMS = 6
"""A fact that falls into more stays whole: such a list is a description, not a compound."""
SPLIT_AT_ONCE = 40
"""Facts a question."""
_MATHS = re.compile(r"\$[^$]*\$")
_JOINED = re.compile(r";|\band\b|\bas well as\b|,.*,", re.IGNORECASE)


def take_fingerprint(
    paper: Paper, goal: Goal, model: Model, run: Scope, parts: PaperAblations
) -> Fingerprint:
    """Criteria, each grounded in the paper's words; all that was proposed and not kept has its reason."""
    here = run.under("fingerprint")
    items: list[Item] = []
    dropped: list[Dropped] = []
    guides = (Level.FRAMEWORK, Level.CONFIGURATION)
    for levels in (guides, (Level.PARAGRAPH,)) if parts.scan else (guides,):
        # Questions of one line do not depend on one another's answers.
        asked = [(level, *one) for level in levels for one in _questions(level, paper, goal, items, here)]

        def answered(question: tuple[Level, str, dict[str, Any], Scope]) -> list[Proposed] | Dropped:
            level, step, values, scope = question
            try:
                return _proposed(step, values, level, paper, model, scope, atomic=parts.atomicity)
            except AnswerUnusable as error:
                return Dropped(f"(everything that {step} would have found)", level, error.sentence)

        for (level, *_), proposed in zip(asked, side_by_side(answered, asked), strict=True):
            if isinstance(proposed, Dropped):
                dropped.append(proposed)
                continue
            found, refused = sifted(proposed, level, paper)
            items += found
            dropped += refused
    if parts.atomicity:
        items = split(items, model, here)
    kept, repeated = distinct(items)
    return Fingerprint(numbered(kept, in_order(paper)), (*dropped, *repeated))


@dataclass(frozen=True, slots=True)
class Portion:
    """Some blocks in a row."""

    text: str
    ids: frozenset[str]


def _questions(
    level: Level, paper: Paper, goal: Goal, items: Sequence[Item], run: Scope
) -> Iterator[tuple[str, dict[str, Any], Scope]]:
    """The step, the variables and the scope of each question of a level: one about the whole paper; or one
    about each portion, for facts that no item holds yet."""
    if level is not Level.PARAGRAPH:
        addendum, look = goal.addendum or "There is none.", prompt_texts(PACKAGE)["look"][level]
        values = {"paper": read_text(paper), "goal": goal.text(), "addendum": addendum, "look": look}
        yield level.value, values, run
        return
    for number, portion in enumerate(portions(paper)):
        here = [item for item in items if portion.ids.intersection(item.places)]
        known = "\n".join(f"- {one.fact} | {one.scope} [{', '.join(one.places)}]" for one in here)
        values = {"title": paper.title, "goal": goal.text(), "portion": portion.text}
        yield "paragraphs", {**values, "known": known or "nothing yet"}, run.under("scan", attempt=number)


def _proposed(
    step: str, values: dict[str, Any], level: Level, paper: Paper, model: Model, run: Scope, *, atomic: bool
) -> list[Proposed]:
    """The facts of one question, asked twice when many are not grounded."""
    template = load_prompt(PACKAGE, f"prompts/{'scan' if level is Level.PARAGRAPH else 'guide'}.md")
    grain = prompt_texts(PACKAGE)["grain"]["atomic" if atomic else "compound"]
    values = {**values, "grain": grain, "sorts": listing(Sort), "kinds": listing(Kind)}
    return ask_with_retry(
        run, model, step, template, values, Guide, wrong=lambda one: objections(one, paper),
        tolerate=lambda one: len(one.items) // TOLERATED,
    ).items  # fmt: skip


def listing(owner: type[Sort] | type[Kind]) -> str:
    """The members of an enumeration with what they mean."""
    return "\n".join(f"  - {owner[name].value}: {words}" for name, words in field_texts(owner).items())


def portions(paper: Paper) -> Iterator[Portion]:
    """The paper in portions, whole blocks each, never without the heading that they stand under."""
    lines: list[str] = []
    ids: set[str] = set()
    for head, block in _blocks(paper):
        parts = block.sentences if isinstance(block, Paragraph) else (block,)
        words = " ".join(f"[{one.id}] {compact(one.text)}" for one in parts)
        if ids and sum(map(len, lines)) + len(words) > PORTION:
            yield Portion("\n\n".join(lines), frozenset(ids))
            lines, ids = [], set()
        lines += [words] if head in lines else [head, words]
        ids |= {block.id, *(one.id for one in parts)}
    if ids:
        yield Portion("\n\n".join(lines), frozenset(ids))


def _blocks(paper: Paper) -> Iterator[tuple[str, Block]]:
    for section in paper.sections:
        for block in section.blocks if not SILENT.match(section.title) else ():
            if not isinstance(block, Figure) or block.caption:
                yield heading(section), block


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
        item, facts = portion[number], " | ".join(atom.fact for atom in one.atoms)
        # Nothing lost, nothing new: the atoms have the numbers of the fact, and only those of the paper.
        if has_numbers(facts, item.fact) and has_numbers(f"{item.fact} {item.quote}", facts):
            found[number] = [_atom(item, atom) for atom in one.atoms]
    return found


def _atom(item: Item, atom: Atom) -> Item:
    check = checked(atom.check, item.quote, whole=item.whole)
    scope = " ".join(atom.scope.split()) or item.scope
    return replace(item, fact=" ".join(atom.fact.split()), scope=scope, check=check)
