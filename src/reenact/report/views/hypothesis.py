"""A tested hypothesis: what became of it, red and green, the edit, the effect, the gates."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from reenact.claims.verdict import ClaimVerdict, Gate, MetricEffect
from reenact.report.document import Block, Board, Document, Facts, Row, Section, Text
from reenact.report.svg import number

RESULT = ClaimVerdict
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
        Section("The edit", [Text(found.diff.rstrip("\n"), is_diff=True)], "edit"),
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
    for name, looks in (("as it stands", found.red), ("after the edit", found.green)):
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
        # Values stand above; here the first of what was seen is enough, unless it ended there.
        saw = one.saw if one.passed is False else one.saw.partition(";")[0]
        rows.append(Row((one.name.value, word, saw), tone))
    return Board("", ("gate", "passed", "saw"), tuple(rows))
