"""`reenact.rules` is what a rule's author imports, and importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import reenact.rules
from reenact.rules.evidence import Evidence

OFFERED = (
    "Evidence",
    "Fault",
    "Finding",
    "Findings",
    "Kind",
    "LayerView",
    "Needs",
    "Rule",
    "Severity",
    "suggest",
)


def test_it_offers_what_a_rule_needs() -> None:
    assert set(OFFERED) <= set(dir(reenact.rules))
    assert all(getattr(reenact.rules, name) is not None for name in dir(reenact.rules))
    assert reenact.rules.Evidence is Evidence


def test_a_name_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nobody'"):
        _ = reenact.rules.Nobody  # type: ignore[attr-defined]


def test_importing_it_loads_none_of_its_modules() -> None:
    asked = "import sys, reenact.rules; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True).stdout
    assert [name for name in loaded.split() if name.startswith(("reenact.rules.", "torch", "keras"))] == []
