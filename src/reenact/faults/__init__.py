"""Faults: evidence -> findings, one fault a file, one folder a category.

What the author of a fault needs is here:
`from reenact.faults import Category, Detector, Evidence, Fault, Findings, Needs, Observes`.
Importing the package itself loads nothing; a name brings its module when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.faults.detector import Cure, Detector, Needs, Status, suggest
    from reenact.faults.entry import Category
    from reenact.faults.evidence import Evidence
    from reenact.faults.fault import Fault
    from reenact.faults.fault_type import FaultType
    from reenact.faults.finding import Finding, Findings, finding_of
    from reenact.faults.observation import (
        Certainty,
        Observation,
        Observes,
        Refused,
        Severity,
        Suggestion,
    )
    from reenact.program.graph import TaskType, TensorFacts
    from reenact.program.hyperparameter import Hyperparameter, Kind
    from reenact.program.layer_view import LayerView
    from reenact.program.training.loss_families import LossFamily, Wanted
    from reenact.types import JsonValue, Place

__all__ = [
    "Category",
    "Certainty",
    "Cure",
    "Detector",
    "Evidence",
    "Fault",
    "FaultType",
    "Finding",
    "Findings",
    "Hyperparameter",
    "JsonValue",
    "Kind",
    "LayerView",
    "LossFamily",
    "Needs",
    "Observation",
    "Observes",
    "Place",
    "Refused",
    "Severity",
    "Status",
    "Suggestion",
    "TaskType",
    "TensorFacts",
    "Wanted",
    "finding_of",
    "suggest",
]
_MODULES = {
    "reenact.faults.detector": (
        "Cure",
        "Detector",
        "Needs",
        "Status",
        "suggest",
    ),
    "reenact.faults.entry": ("Category",),
    "reenact.faults.evidence": ("Evidence",),
    "reenact.program.layer_view": ("LayerView",),
    "reenact.program.training.loss_families": ("LossFamily", "Wanted"),
    "reenact.faults.fault": ("Fault",),
    "reenact.faults.finding": ("Finding", "Findings", "finding_of"),
    "reenact.faults.observation": (
        "Certainty",
        "Observation",
        "Observes",
        "Refused",
        "Severity",
        "Suggestion",
    ),
    "reenact.faults.fault_type": ("FaultType",),
    "reenact.program.graph": ("TaskType", "TensorFacts"),
    "reenact.program.hyperparameter": ("Hyperparameter", "Kind"),
    "reenact.types": ("JsonValue", "Place"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
