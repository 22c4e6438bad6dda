"""Every rule: its documentation is complete, its bad example makes it fire, its good one leaves it silent."""

from __future__ import annotations

import pytest

from reenact.rules.registry import FAMILIES, all_rules
from reenact.rules.rule import Rule
from reenact.testing.rules import complaints


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_documentation_and_examples(rule: Rule) -> None:
    assert complaints(rule) == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_code_and_family_agree(rule: Rule) -> None:
    assert rule.code[:2] == FAMILIES[rule.family]
    assert rule.code[2:].isdigit()
    assert len(rule.code) == 5


def test_names_are_used_once() -> None:
    names = [rule.name for rule in all_rules()]
    assert sorted(set(names)) == sorted(names)
