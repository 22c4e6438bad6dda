"""`reenact.faults` is what the author of a fault imports, and importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import reenact.faults
from reenact.faults.evidence import Evidence

OFFERED = (
    "Category",
    "Detector",
    "Evidence",
    "Fault",
    "FaultType",
    "Finding",
    "Findings",
    "Kind",
    "LayerView",
    "Needs",
    "Observes",
    "Severity",
    "suggest",
)


def test_it_offers_what_a_fault_needs() -> None:
    assert set(OFFERED) <= set(dir(reenact.faults))
    assert all(getattr(reenact.faults, name) is not None for name in dir(reenact.faults))
    assert reenact.faults.Evidence is Evidence


def test_a_name_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nobody'"):
        _ = reenact.faults.Nobody  # type: ignore[attr-defined]


def test_importing_it_loads_none_of_its_modules() -> None:
    asked = "import sys, reenact.faults; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", asked], check=True, capture_output=True, text=True
    ).stdout
    assert [
        name for name in loaded.split() if name.startswith(("reenact.faults.", "torch", "keras"))
    ] == []
