"""Rules: evidence -> findings, one rule a file, one folder a family.

What a rule's author needs is here: `from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule`.
Importing the package itself loads nothing; a name brings its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.program.fault import Fault as Fault
    from reenact.program.graph import TaskType as TaskType
    from reenact.program.graph import TensorFacts as TensorFacts
    from reenact.program.hyperparameter import Hyperparameter as Hyperparameter
    from reenact.program.hyperparameter import Kind as Kind
    from reenact.rules.evidence import Evidence as Evidence
    from reenact.rules.finding import Certainty as Certainty
    from reenact.rules.finding import Finding as Finding
    from reenact.rules.finding import Findings as Findings
    from reenact.rules.finding import Severity as Severity
    from reenact.rules.finding import Suggestion as Suggestion
    from reenact.rules.layer_view import LayerView as LayerView
    from reenact.rules.losses import LossFamily as LossFamily
    from reenact.rules.losses import Wanted as Wanted
    from reenact.rules.rule import Culprit as Culprit
    from reenact.rules.rule import Needs as Needs
    from reenact.rules.rule import Rule as Rule
    from reenact.rules.rule import Status as Status
    from reenact.rules.rule import suggest as suggest
    from reenact.types import JsonValue as JsonValue
    from reenact.types import Place as Place

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
