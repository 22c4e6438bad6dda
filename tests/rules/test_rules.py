"""Every rule: its page is complete; its example and what to write instead differ in the fault alone."""

from __future__ import annotations

from collections import Counter
from difflib import ndiff

import pytest

from reenact.errors import InputError
from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.reading import reading
from reenact.rules.registry import FAMILIES, all_rules, chosen
from reenact.rules.rule import run_rules
from reenact.testing.rules import complaints, evidence_of, findings_beside

pytestmark = pytest.mark.usefixtures("warm_python")

MOST_CHANGED_LINES = 5


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_documentation_and_examples(rule: Rule) -> None:
    """It fires on Example and is silent on Instead; so are rules of its severity or a higher one. Both are
    executed, also where the text alone makes it fire."""
    assert complaints(rule) == []
    assert [f"{finding.code}: {finding.saw}" for finding in findings_beside(rule, chosen())] == []
    if rule.needs == Needs.SOURCE:
        example = evidence_of(reading(rule).sections["Example"], run=True)
        assert run_rules(chosen(("RE906", "RE907", "RE910")), example) == ()


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_pair_differs_in_a_few_lines(rule: Rule) -> None:
    sections = reading(rule).sections
    lines = list(ndiff(sections["Example"].splitlines(), sections["Instead"].splitlines()))
    removed, added = (sum(line.startswith(mark) for line in lines) for mark in ("- ", "+ "))
    assert 1 <= max(removed, added) <= MOST_CHANGED_LINES


def test_each_rule_has_an_example_of_its_own() -> None:
    uses = Counter(reading(rule).sections["Example"] for rule in all_rules())
    shared = [rule.code for rule in all_rules() if uses[reading(rule).sections["Example"]] > 1]
    assert shared == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_code_and_family_agree(rule: Rule) -> None:
    assert rule.code[:2] == FAMILIES[rule.family]
    assert rule.code[2:].isdigit()
    assert len(rule.code) == 5


def test_names_are_used_once() -> None:
    names = [rule.name for rule in all_rules()]
    assert sorted(set(names)) == sorted(names)


class Changed(Rule):
    """LB001 changed

    Example
        first = 1
        for number in range(3):
            print(number)
            print(first)
    Instead
        - first = 1
        + first = 2
          for number in range(3):
        +     first += 1
        -     print(first)
    """

    code, name, family, fault = "LB001", "changed", "lab", None
    needs, severity, why = Needs.SOURCE, Severity.NOTE, "It is a rule of this test."

    def check(self, evidence: Evidence) -> Findings:
        yield self.finding(evidence, "a program")


def test_instead_may_be_written_as_the_lines_that_change() -> None:
    lines = ["first = 2", "for number in range(3):", "    first += 1", "    print(number)"]
    assert reading(Changed()).sections["Instead"].splitlines() == lines


def test_a_changed_line_that_the_example_does_not_have_is_refused() -> None:
    class Elsewhere(Changed):
        __doc__ = (Changed.__doc__ or "").replace("-     print(first)", "-     print(last)")

    with pytest.raises(InputError, match=r"print\(last\)"):
        reading(Elsewhere())
