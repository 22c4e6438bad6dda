"""A check against what the code says, by program alone.

Pass: the value stands under that name, and no other value does; where the reader of hyperparameters can
follow a value to the training that takes it, that value alone counts. Fail: another value stands there, and
the right one nowhere. Everything between (several values, a name that only resembles, a loss or layer that
may be written by hand) is a hint for the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reenact.paper.criterion import Check, CodeLine, Kind
from reenact.paper.criterion import Value as Verdict
from reenact.paper.fingerprint.vocabulary import SECTIONS, concept, named, names, squeezed, words_of
from reenact.paper.quantity import Quantity, as_quantity, quantities
from reenact.paper.verify.finding import NOTHING, CodeFinding
from reenact.paper.verify.reading import Reading
from reenact.paper.verify.settings import Setting, Value

SHOWN = 6
"""Lines that a finding names."""
ROLES = {Kind.OPTIMISER: "optimiser", Kind.SCHEDULE: "schedule", Kind.LOSS: "loss", Kind.LAYER: "activation"}
"""The setting that may name such a thing by a word."""
DECIDED = (Kind.OPTIMISER, Kind.SCHEDULE)
"""Kinds of which a training has one: another one is a fail."""
OWN_SCHEDULES = frozenset(("LambdaLR", "LearningRateScheduler", "SequentialLR", "LambdaCallback"))
"""Calls that may make any schedule."""


def looked_up(check: Check | None, code: Reading) -> CodeFinding:
    """What the code says about it."""
    if check is None or check.kind in (Kind.SHAPE, Kind.FORMULA):
        return NOTHING
    number = as_quantity(check.value)
    if number is not None and check.kind in (Kind.PARAMETER, Kind.LAYER):
        return _number(check, number, code)
    return _thing(check, code) if check.kind in SECTIONS else _word(check, code)


def _number(check: Check, wanted: Quantity, code: Reading) -> CodeFinding:
    strong = _under(check.subject, code.hyperparameters) or _under(check.subject, code.settings)
    right = [one for one in strong if _equals(one.value, wanted)]
    if strong and len(right) == len(strong):
        return _passed(check, right, code)
    if not strong:
        weak = [one for one in code.settings if _numeric(one.value) and _resembles(check.subject, one.name)]
        return _found(None, "Names that resemble it:", weak) if weak else NOTHING
    if right:
        return _found(None, f"{check.subject} has several values:", strong)
    if any(_equals(one.value, wanted) for one in code.settings):
        return _found(None, f"{check.subject} has another value; {check.value} stands elsewhere:", strong)
    said = ", ".join(dict.fromkeys(str(one.value) for one in strong))
    return _found(Verdict.FAIL, f"{check.subject} is {said} in the code, not {check.value}.", strong)


def _passed(check: Check, right: Sequence[Setting], code: Reading) -> CodeFinding:
    """The value stands there; whether that does anything depends on somebody reading it."""
    if any(code.uses(one) for one in right):
        return _found(Verdict.PASS, f"{check.subject} is {check.value} in the code.", right)
    return _found(None, f"{check.subject} is {check.value}, but nothing seems to read it:", right)


def _under(subject: str, settings: Sequence[Setting]) -> list[Setting]:
    """Numbers that stand under that name."""
    return [one for one in settings if _numeric(one.value) and _is(subject, one.name)]


def _word(check: Check, code: Reading) -> CodeFinding:
    """A setting whose value is a word: another word may mean the same, so this never fails."""
    strong = [one for one in code.settings if isinstance(one.value, str) and _is(check.subject, one.name)]
    right = [one for one in strong if squeezed(str(one.value)) == squeezed(check.value)]
    if strong and len(right) == len(strong):
        return _passed(check, right, code)
    return _found(None, f"{check.subject} in the code:", strong) if strong else NOTHING


def _thing(check: Check, code: Reading) -> CodeFinding:
    """An optimiser, schedule, loss or layer, by what is called and what a setting names."""
    wanted = named(check.kind, check.value)
    if not wanted:
        return NOTHING
    found = _things(check.kind, code)
    right = [line for name, line in found if name == wanted]
    others = {name: line for name, line in found if name != wanted}
    alone = check.kind is Kind.LAYER or not others
    if right and alone:
        return CodeFinding(Verdict.PASS, f"{wanted} stands in the code.", tuple(right[:SHOWN]))
    if right or not others:
        hint = f"{wanted} stands in the code beside {', '.join(others)}." if right else NOTHING.seen
        return CodeFinding(None, hint, tuple(right[:SHOWN]))
    told = f"The code has {', '.join(others)}, not {wanted}."
    decided = check.kind in DECIDED and not any(name in OWN_SCHEDULES for name, _ in code.calls)
    return CodeFinding(Verdict.FAIL if decided else None, told, tuple(others.values())[:SHOWN])


def _things(kind: Kind, code: Reading) -> list[tuple[str, CodeLine]]:
    """Our names of all such things in the project, with their lines."""
    section = names(SECTIONS[kind])
    found = [(section[squeezed(name)], line) for name, line in code.calls if squeezed(name) in section]
    for one in code.settings:
        if isinstance(one.value, str) and concept(one.name) == ROLES[kind] and squeezed(one.value) in section:
            found.append((section[squeezed(one.value)], one.line))
    return found


def _is(subject: str, name: str) -> bool:
    """Whether the name is the subject's: the same words, or names of the same usual parameter."""
    ours = concept(subject)
    if ours and ours == concept(name):
        return True
    mine, yours = words_of(subject, plural=True), words_of(name, plural=True)
    return squeezed(subject) == squeezed(name) or (bool(mine) and mine == yours)


def _resembles(subject: str, name: str) -> bool:
    """Whether all words of one are among those of the other."""
    mine, yours = words_of(subject), words_of(concept(name) or name)
    return bool(mine and yours) and (yours <= mine or mine <= yours)


def _numeric(value: Value) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_numeric, value))
    if isinstance(value, str):
        return as_quantity(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equals(value: Value, wanted: Quantity) -> bool:
    """A list equals a number when all of it does: two hidden layers of 64."""
    if isinstance(value, tuple):
        return all(_equals(one, wanted) for one in value)
    if isinstance(value, str):
        return any(wanted.equals(one) for one in quantities(value)[:1])
    return isinstance(value, int | float) and wanted.equals(Quantity(float(value), False, 0, ""))


def _found(value: Verdict | None, words: str, settings: Iterable[Setting]) -> CodeFinding:
    there = tuple(settings)[:SHOWN]
    told = words if value is not None else f"{words} {'; '.join(map(str, there))}"
    return CodeFinding(value, told, tuple(dict.fromkeys(one.line for one in there)))
