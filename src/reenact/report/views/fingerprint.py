"""What a fingerprint looks like on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from reenact.intake.papers.paper import Paper
from reenact.journal import Run
from reenact.paper.criterion import Check, Criterion
from reenact.paper.fingerprint.fingerprint import Fingerprint, shortened
from reenact.report.document import Block, Document, Facts, Text
from reenact.types import JsonValue, Table


@dataclass(frozen=True, slots=True)
class Taken:
    """A fingerprint, the paper it is of, and what it cost."""

    paper: Paper
    found: Fingerprint
    run: Run
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""


def fingerprint_document(taken: Taken) -> Document:
    """The whole answer."""
    return Document(
        kind="fingerprint",
        title=f"Fingerprint: {taken.paper.title}",
        verdict=_verdict(taken.found),
        blocks=tuple(_blocks(taken)),
        data=_data(taken),
        reused=taken.reused,
    )


def _verdict(found: Fingerprint) -> str:
    if not found.criteria:
        return "No criterion could be taken; the reasons are below."
    checks = sum(one.check is not None for one in found.criteria)
    return (
        f"{len(found.criteria)} criteria, every quote found in the paper; a program can look for {checks}"
        f" of them; proposals dropped: {len(found.dropped)}."
    )


def _blocks(taken: Taken) -> Iterator[Block]:
    yield _facts(taken)
    criteria = taken.found.criteria
    if criteria:
        yield Table(
            "Criteria", ("id", "fact", "scope", "place", "check", "weight"), tuple(map(_row, criteria))
        )
        yield Table("Quotes", ("id", "the paper's words"), tuple((one.id, one.quote) for one in criteria))
    if taken.found.dropped:
        rows = tuple((one.level.value, one.fact, one.reason) for one in taken.found.dropped)
        yield Table("Dropped", ("level", "fact", "why"), rows)
    if taken.paper.lost:
        yield Text("\n".join(f"{one.kind}: {one.what}" for one in taken.paper.lost), "Lost in reading")


def _facts(taken: Taken) -> Facts:
    levels = Counter(one.level.value for one in taken.found.criteria)
    sorts = Counter(one.category.value for one in taken.found.criteria)
    run = taken.run
    money = "price unknown" if run.unpriced else f"${run.money}"
    facts = {
        "paper": f"{taken.paper.source} ({taken.paper.form})",
        "levels": ", ".join(f"{name} {count}" for name, count in levels.items()) or "none",
        "sorts": ", ".join(f"{name} {count}" for name, count in sorts.items()) or "none",
        "model": f"{run.tokens_in + run.tokens_out} tokens, {money}",
        "run": run.id,
    }
    return Facts("", tuple(facts.items()))


def _row(one: Criterion) -> tuple[str, ...]:
    return one.id, one.fact, one.scope, ", ".join(one.places), _checked(one.check), str(one.weight)


def _checked(check: Check | None) -> str:
    if check is None:
        return "judge"
    value = check.expression or check.value
    return f"{check.kind.value}: {shortened(f'{check.subject} = {value}', 60)}"


def _data(taken: Taken) -> JsonValue:
    run = taken.run
    return {
        "paper": {"title": taken.paper.title, "source": taken.paper.source, "form": taken.paper.form},
        **taken.found.to_dict(),
        "lost": [asdict(one) for one in taken.paper.lost],
        "tokens": run.tokens_in + run.tokens_out,
        "money": None if run.unpriced else str(run.money),
        "run": run.id,
    }
