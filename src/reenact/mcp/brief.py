"""A large result cut down to what an agent needs to go on; the whole of it is a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT: Mapping[str, tuple[str, ...]] = {
    "diagnose": ("depth", "task", "metric", "findings", "symptoms", "notes"),
    "repair": ("decision", "sentence", "diff", "complexity", "why", "verdicts", "trainings", "notes"),
    "bug": (
        "verdict", "reason", "script", "seeds_shown", "seeds_run", "folder", "written", "findings", "notes",
    ),
    "paper": (
        "title", "goal", "verdict", "reason", "gap", "criteria", "passed", "scale", "comparisons", "mending",
        "notes",
    ),
}  # fmt: skip
"""What is passed on, by story; of a story that is not listed, everything."""
NOT_KEPT = frozenset({"witnesses", "suggestions", "patch", "attempts", "looks", "curves"})
TEXT = 4_000
ITEMS = 12
DEPTH = 5


def in_brief(story: str, result: Any) -> dict[str, Any]:
    """The result with long texts and lists cut, and each finding in a few fields."""
    if not isinstance(result, dict):
        return {"verdict": result}
    wanted = KEPT.get(story, tuple(result))
    kept = {name: result[name] for name in wanted if name in result}
    if story == "diagnose":
        kept["findings"] = [_finding(one) for one in kept.get("findings", [])]
        kept["symptoms"] = [f"{one['code']} {one['name']}" for one in kept.get("symptoms", [])]
    return {name: cut(value) for name, value in kept.items()}


def cut(value: Any, depth: int = DEPTH) -> Any:
    """The same value, shorter where it is long."""
    if isinstance(value, str):
        return value if len(value) <= TEXT else f"{value[:TEXT]}... ({len(value) - TEXT} more letters)"
    if isinstance(value, dict):
        if depth == 0:
            return f"({len(value)} fields)"
        return {name: cut(item, depth - 1) for name, item in value.items() if name not in NOT_KEPT}
    if isinstance(value, list):
        shown = [cut(item, depth - 1) for item in value[:ITEMS]] if depth else []
        return [*shown, f"({len(value) - len(shown)} more)"] if len(value) > len(shown) else shown
    return value


def _finding(one: Mapping[str, Any]) -> dict[str, Any]:
    first = (one.get("witnesses") or [{}])[0]
    told = {name: first.get(name) for name in ("code", "name", "saw", "why")}
    told |= {
        name: one.get(name) for name in ("fault", "file", "line", "layer", "confidence", "standing", "tried")
    }
    return {name: value for name, value in told.items() if value is not None}
