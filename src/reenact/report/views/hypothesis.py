"""A tested hypothesis: what became of it, red and green, the edit, the effect, the gates."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from reenact.claims.verdict import ClaimStatus, ClaimVerdict, Gate, MetricEffect
from reenact.report.document import Block, Board, Document, Facts, Row, Section, Text
from reenact.report.svg import number

RESULT = ClaimVerdict
MEANINGS = {
    ClaimStatus.PROVEN: (
        "of a claim: its check is red on the program and green after the edit, every gate was passed, also "
        "by another fix and by reasons against it, and the metric moved as expected over fresh seeds. Of a "
        "finding: no training can show otherwise, or a training has confirmed it."
    ),
    ClaimStatus.LIKELY: (
        "of a claim: as proven, but no one was asked for another fix and for reasons against it, or the "
        "effect on the metric could not be measured. Of a finding: most findings that are as sure are right."
    ),
    ClaimStatus.REMARK: (
        "of a claim: the property does not hold, and does after the edit, but the metric does not change, "
        "or was not measured and no one was asked for reasons against the claim."
    ),
    ClaimStatus.REFUTED: (
        "of a claim: the property holds already, or not after the edit either, or only at first, or there "
        "is a reason to leave the code, or the metric does the opposite of what was expected."
    ),
    ClaimStatus.NOT_TESTED: (
        "of a claim: its check could not be used, or it depends on how the program is written, or it "
        "restates the edit. That says nothing about the claim."
    ),
}
"""What the statuses mean, for `reenact explain`."""
PASSED = {True: ("yes", "good"), False: ("no", "error"), None: ("-", "")}


def hypothesis_document(found: ClaimVerdict, title: str) -> Document:
    """The whole answer."""
    claim = found.claim
    facts = [("claim", claim.says)]
    if claim.harm:
        facts.append(("otherwise", claim.harm))
    facts.append(("claimed by", claim.by))
    facts.append(("shows it", f"{claim.check.words} (`observed`{_against(found)})"))
    sections = (
        Section("The claim", [Facts("", tuple(facts))], "claim"),
        Section("The check", list(_looks(found)), "check"),
        Section("The edit", [Text(found.diff.rstrip(), is_diff=True)], "edit"),
        Section("The effect", list(_effect(found.effect)), "effect"),
        Section("The gates", [_gates(found.gates)], "gates"),
        Section("The script of the check", [Text(claim.script.rstrip("\n"))], "script"),
    )
    return Document(
        "test-hypothesis",
        title=f"Test of a hypothesis on {title}",
        verdict=found.sentence,
        blocks=sections,
        diagnostics=(),
        data=found.to_dict(),
        exit_code=found.exit_code,
    )


def _against(found: ClaimVerdict) -> str:
    return " against `reference`" if found.claim.check.needs_reference else ""


def _looks(found: ClaimVerdict) -> Iterator[Block]:
    rows = []
    for name, looks in (("before the edit", found.red), ("after the edit", found.green)):
        for count, one in _counted([look.sentence for look in looks]):
            rows.append(Row((name, str(count), one)))
    if rows:
        yield Board("", ("program", "seeds", "saw"), tuple(rows))


def _counted(sentences: list[str]) -> Iterator[tuple[int, str]]:
    """Each sentence once, with how often it was seen."""
    for one in dict.fromkeys(sentences):
        yield sentences.count(one), one


def _effect(effect: MetricEffect | None) -> Iterator[Block]:
    if effect is None:
        return
    if not effect.before:
        yield Text(f"Not measured: {effect.why}.")
        return
    rows = (
        ("metric", effect.metric),
        ("before", f"{number(median(effect.before))} (median of {len(effect.before)} seeds)"),
        ("after", number(median(effect.after))),
        ("p", f"{effect.p_value:.2g} (signed rank)" if effect.p_value is not None else "-"),
        ("moved", effect.moved.value),
    )
    yield Facts("", rows)


def _gates(gates: tuple[Gate, ...]) -> Board:
    rows = []
    for one in gates:
        word, tone = PASSED[one.passed]
        # Values are above; here the first of what was seen is enough, unless it ended there.
        saw = one.saw if one.passed is False else one.saw.partition(";")[0]
        rows.append(Row((one.name.value, word, saw), tone))
    return Board("", ("gate", "passed", "saw"), tuple(rows))
