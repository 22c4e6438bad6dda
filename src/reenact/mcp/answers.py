"""The types of answers, small, with ids to go on with; and a result, shortened to what an agent needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, field_validator

from reenact.plain import plain

KEPT: Mapping[str, tuple[str, ...]] = {
    "diagnose": ("depth", "task", "metric", "findings", "symptoms", "notes"),
    "repair": ("decision", "sentence", "diff", "complexity", "why", "verdicts", "trainings", "notes"),
    "bug": (
        "verdict", "reason", "script", "seeds_shown", "seeds_run", "folder", "written", "findings", "notes",
    ),
    "paper": (
        "title", "goal", "verdict", "reason", "gap", "criteria", "passed", "scale", "comparisons",
        "gap_repair", "notes",
    ),
}  # fmt: skip
"""The keys of a result that are passed on, by command; of a command that is not listed, all."""
NOT_KEPT = frozenset({"witnesses", "suggestions", "patch", "attempts", "looks", "curves"})
TEXT = 4_000
ITEMS = 12
DEPTH = 5


def shortened(value: Any, command: str = "", *, items: int = ITEMS, depth: int = DEPTH) -> Any:
    """JSON with long texts, lists and nestings cut, and each finding in a few fields.

    Texts hold nothing that a terminal would obey or a reader could not see.
    """
    if isinstance(value, str):
        text = plain(value)
        return text if len(text) <= TEXT else f"{text[:TEXT]}... ({len(text) - TEXT} more letters)"
    if isinstance(value, dict):
        if depth == 0:
            return f"({len(value)} fields)"
        wanted = KEPT.get(command, tuple(value))
        kept = {name: value[name] for name in wanted if name in value and name not in NOT_KEPT}
        # Nested below the whole: its finding, its comparison, ...
        short = {
            plain(str(name)): shortened(item, items=items, depth=depth - 1) for name, item in kept.items()
        }
        return {**_witness(value), **short} if value.get("witnesses") else short
    if isinstance(value, list | tuple):
        shown = [shortened(item, items=items, depth=depth - 1) for item in value[:items]] if depth else []
        return [*shown, f"({len(value) - len(shown)} more)"] if len(value) > len(shown) else shown
    return value


def _witness(finding: Mapping[str, Any]) -> dict[str, str]:
    """Of a finding: the rule, what was seen and why it is wrong, and what to set to what."""
    first = finding["witnesses"][0]
    facts = {"code": first["code"], "name": first["name"], "message": f"{first['saw']}. {first['why']}"}
    changes = [f"{each['knob']} = {each['new']}" for each in finding.get("suggestions", ()) if each["knob"]]
    return {name: plain(text) for name, text in {**facts, "change": "; ".join(changes[:1])}.items() if text}


class Answer(BaseModel):
    """An answer, whose texts hold nothing that a terminal would obey or a reader could not see."""

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) if type(item) is str else item for item in value]
        return plain(value) if type(value) is str else value


class RunStatus(Answer):
    """The state of a run, or of a job on its way to being one."""

    id: str = Field(description="Id of the run; empty while the job has not begun to record.")
    job: str = Field(default="", description="Id of the job, when this server or an earlier one started it.")
    command: str
    what: str = ""
    status: str = Field(description="starting, running, finished, failed, stopped or interrupted.")
    verdict: str = ""
    exit_code: int | None = None
    steps: int = Field(default=0, description="Steps recorded so far.")
    seconds: float = 0.0
    money: str = Field(default="0", description="US dollars paid to models.")
    tokens: int = 0
    output: list[str] = Field(default_factory=list, description="The last lines that the job printed.")
    waiting: list[str] = Field(
        default_factory=list,
        description="Requests to the model `mcp` without an answer: read each with `request`, use `answer`.",
    )
    next: str = Field(default="", description="What to call next.")


class RunList(Answer):
    """Recorded runs, newest first."""

    total: int
    runs: list[RunStatus]


class RunResult(Answer):
    """The result of a run, shortened; the whole of it is the resource reenact://runs/ID/result."""

    id: str
    command: str
    status: str
    verdict: str
    exit_code: int | None
    reused: str = Field(
        default="", description="What this run took from earlier ones, and how to run afresh."
    )
    result: dict[str, Any]


class ModelRequest(Answer):
    """What a run asks of a model."""

    id: str
    step: str
    system: str
    turns: list[dict[str, Any]]
    answer_schema: dict[str, Any]


class Filed(Answer):
    """An answer that was put where the run finds it."""

    request: str
    next: str = "poll"
