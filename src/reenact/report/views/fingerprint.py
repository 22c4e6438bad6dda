"""What a fingerprint looks like on a page."""

from collections import Counter
from collections.abc import Iterator

from reenact.paper.criterion import Check
from reenact.paper.fingerprint.fingerprint import Fingerprint, shortened
from reenact.paper.fingerprint.run import FingerprintRun
from reenact.report.document import Block, Document, Facts, Text
from reenact.types import Table


def fingerprint_document(taken: FingerprintRun) -> Document:
    """The whole answer."""
    return Document(
        kind="fingerprint",
        title=f"Fingerprint: {taken.paper.title}",
        verdict=_verdict(taken.fingerprint),
        blocks=tuple(_blocks(taken)),
        data=taken.to_dict(),
        reused=taken.reused,
        exit_code=taken.exit_code,
    )


def _verdict(found: Fingerprint) -> str:
    if not found.criteria:
        return "No criterion could be taken; the reasons are below."
    checks = sum(one.check is not None for one in found.criteria)
    return (
        f"{len(found.criteria)} criteria, every quote found in the paper; a program can look for {checks}"
        f" of them; proposals dropped: {len(found.dropped)}."
    )


def _blocks(taken: FingerprintRun) -> Iterator[Block]:
    yield _facts(taken)
    criteria = taken.fingerprint.criteria
    if criteria:
        rows = tuple(
            (one.id, one.fact, one.scope, ", ".join(one.places), _checked(one.check), str(one.weight))
            for one in criteria
        )
        yield Table("Criteria", ("id", "fact", "scope", "place", "check", "weight"), rows)
        yield Table("Quotes", ("id", "the paper's words"), tuple((one.id, one.quote) for one in criteria))
    if taken.fingerprint.dropped:
        dropped = tuple((one.level.value, one.fact, one.reason) for one in taken.fingerprint.dropped)
        yield Table("Dropped", ("level", "fact", "why"), dropped)
    if taken.paper.lost:
        yield Text("\n".join(f"{one.kind}: {one.what}" for one in taken.paper.lost), "Lost in reading")


def _facts(taken: FingerprintRun) -> Facts:
    levels = Counter(one.level.value for one in taken.fingerprint.criteria)
    sorts = Counter(one.category.value for one in taken.fingerprint.criteria)
    run = taken.run
    money = "price unknown" if run.unpriced else f"${run.money}"
    facts = {
        "paper": f"{taken.paper.source} ({taken.paper.form})",
        "levels": ", ".join(f"{name} {count}" for name, count in levels.items()) or "none",
        "sorts": ", ".join(f"{name} {count}" for name, count in sorts.items()) or "none",
        "model": f"{run.tokens_in + run.tokens_out} tokens, {money}",
        "estimated": taken.estimate.sentence,
        "run": run.id,
    }
    return Facts("", tuple(facts.items()))


def _checked(check: Check | None) -> str:
    if check is None:
        return "judge"
    value = check.expression or check.value
    return f"{check.kind.value}: {shortened(f'{check.subject} = {value}', 60)}"
