"""A diagnosis as earlier versions stored it, in the form of this one.

They kept a finding as a *suspect* (its witnesses, and what follows from them) with what trying it had
shown, a symptom as a suspect alone, and the metric that judged a change with all its properties. Before
that the status had another name, and a word of its own for what helped in a first look.
"""

from collections.abc import Mapping
from typing import Any

from reenact.faults.registry import all_detectors

LISTS = ("findings", "low_confidence", "symptoms")
NEVER_VERIFIED = "helped"
"""The status that is undecided by now."""


def in_this_form(stored: Any) -> Any:
    """Plain data of a diagnosis; what is of this version already, or no diagnosis, is unchanged."""
    if not isinstance(stored, dict):
        return stored
    lists = {name: stored[name] for name in LISTS if isinstance(stored.get(name), list)}
    return {
        **stored,
        **{name: [_finding(one) for one in findings] for name, findings in lists.items()},
    }


def _finding(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    if "witnesses" in stored:
        return _of_suspect(stored)
    suspect = stored.get("suspect")
    if not isinstance(suspect, dict):
        kept = stored.get("fix")
        return {**stored, "fix": _fix(kept)} if isinstance(kept, str) else stored
    status = stored.get("status", stored.get("standing"))
    return {
        **_of_suspect(suspect),
        "confidence": stored.get("confidence"),
        "status": "undecided" if status == NEVER_VERIFIED else status,
        "tried": _effect(stored.get("tried")),
        "note": stored.get("note", ""),
        "fix": _fix(stored.get("fix", "")),
    }


def _fix(diff: Any) -> Any:
    """A fix was its diff alone, and had not run."""
    if not isinstance(diff, str) or not diff:
        return None
    return {"patch": {"changes": []}, "diff": diff, "tried": "not tried"}


def _of_suspect(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "observations": [_observation(one) for one in stored.get("witnesses", ())],
        "suspicion": stored.get("confidence"),
        "confidence": stored.get("confidence"),
        "is_doubted": stored.get("doubted", False),
    }


def _observation(stored: Any) -> Any:
    """Its detector says what it is about."""
    if not isinstance(stored, dict):
        return stored
    about = {one.code: one.study for one in all_detectors()}
    return {**stored, "detects": about.get(stored.get("code", ""))}


def _effect(stored: Any) -> Any:
    measure = stored.get("measure") if isinstance(stored, dict) else None
    if not isinstance(measure, dict):
        return stored
    kept = {name: value for name, value in stored.items() if name not in ("measure", "comparison")}
    return {
        **kept,
        "metric": measure.get("name"),
        "larger_is_better": measure.get("larger_is_better", True),
    }
