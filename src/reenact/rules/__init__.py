"""Rules: evidence -> findings, one rule a file, one folder a family.

What a rule's author needs is here: `from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule`.
Importing the package itself loads nothing; a name brings its module when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.program.fault import Fault
    from reenact.program.graph import TaskType, TensorFacts
    from reenact.program.hyperparameter import Hyperparameter, Kind
    from reenact.rules.evidence import Evidence
    from reenact.rules.finding import Certainty, Finding, Findings, Severity, Suggestion
    from reenact.rules.layer_view import LayerView
    from reenact.rules.losses import LossFamily, Wanted
    from reenact.rules.rule import Culprit, Needs, Rule, Status, suggest
    from reenact.types import JsonValue, Place

__all__ = ["Certainty", "Culprit", "Evidence", "Fault", "Finding", "Findings", "Hyperparameter"]
__all__ += ["JsonValue", "Kind", "LayerView", "LossFamily", "Needs", "Place", "Rule", "Severity", "Status"]
__all__ += ["Suggestion", "TaskType", "TensorFacts", "Wanted", "suggest"]
_MODULES = {
    "reenact.program.fault": ("Fault",),
    "reenact.program.graph": ("TaskType", "TensorFacts"),
    "reenact.program.hyperparameter": ("Hyperparameter", "Kind"),
    "reenact.rules.evidence": ("Evidence",),
    "reenact.rules.finding": ("Certainty", "Finding", "Findings", "Severity", "Suggestion"),
    "reenact.rules.layer_view": ("LayerView",),
    "reenact.rules.losses": ("LossFamily", "Wanted"),
    "reenact.rules.rule": ("Culprit", "Needs", "Rule", "Status", "suggest"),
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
