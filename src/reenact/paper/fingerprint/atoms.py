"""Compound facts are taken apart, so that each can pass or fail alone; equations and algorithms are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reenact.asking import ask
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import Kind
from reenact.paper.fingerprint.answers import Atom, Splits
from reenact.paper.fingerprint.checks import checked
from reenact.paper.fingerprint.fingerprint import Item
from reenact.paper.fingerprint.guides import listing
from reenact.paper.quantity import Quantity, quantities

MOST_ATOMS = 6
"""A fact that falls into more stays whole: such a list is a description, not a compound."""
PORTION = 40
"""Facts a question."""
_MATHS = re.compile(r"\$[^$]*\$")
_JOINED = re.compile(r";|\band\b|\bas well as\b|,.*,", re.IGNORECASE)


def split(items: Sequence[Item], model: Model, run: Scope) -> list[Item]:
    """All items, the compound ones in parts; an answer that does not hold leaves them as they are."""
    compound = [number for number, item in enumerate(items) if is_compound(item)]
    parts: dict[int, list[Item]] = {}
    for start in range(0, len(compound), PORTION):
        portion = compound[start : start + PORTION]
        here = run.under("atoms", attempt=start // PORTION)
        parts |= _parts({number: items[number] for number in portion}, model, here)
    return [part for number, item in enumerate(items) for part in parts.get(number, [item])]


def is_compound(item: Item) -> bool:
    """Whether it may say more than one thing, as far as its words show."""
    words = _MATHS.sub(" ", item.fact)
    return not item.whole and (len(quantities(words)) > 1 or _JOINED.search(words) is not None)


def _parts(portion: dict[int, Item], model: Model, run: Scope) -> dict[int, list[Item]]:
    order = dict(enumerate(portion, start=1))
    told = "\n".join(f"{name}. {_told(portion[number])}" for name, number in order.items())
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


def _told(item: Item) -> str:
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
