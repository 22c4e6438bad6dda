"""The types of all answers: small, with ids to ask on with. Their JSON schemas are what clients are told."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, field_validator

from reenact.plain import plain


class Answer(BaseModel):
    """An answer, whose texts hold nothing that a terminal would obey or a reader could not see."""

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return _cleaned(value)


def _cleaned(value: Any) -> Any:
    if type(value) is str:
        return plain(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


class Found(Answer):
    """A finding of a rule."""

    code: str = Field(description="Code of the rule; `explain` tells all about it.")
    name: str
    file: str
    line: int
    confidence: float
    message: str = Field(description="What was seen and why it is wrong.")
    fault: str | None = None
    change: str | None = Field(default=None, description="What to set to what, where a rule can say so.")


class Diagnosed(Answer):
    """What the text of programs alone shows."""

    verdict: str
    findings: list[Found]
    unread: list[str] = Field(default_factory=list, description="Files that could not be understood.")
    left_out: int = Field(default=0, description="Findings beyond the limit.")


class HyperparameterAnswer(Answer):
    """One hyper-parameter in the source."""

    id: str
    kind: str
    where: str
    value: Any
    alternatives: list[Any]
    changeable: bool


class HyperparametersAnswer(Answer):
    """The hyper-parameters of a program."""

    framework: str
    knobs: list[HyperparameterAnswer]


class RuleTold(Answer):
    """One rule in a line."""

    code: str
    name: str
    family: str
    fault: str | None
    needs: list[str]
    why: str


class RulesTold(Answer):
    """Rules by code."""

    rules: list[RuleTold]


class RunTold(Answer):
    """How a run, or a job on its way to being one, stands."""

    id: str = Field(description="Id of the run; empty while the job has not begun to record.")
    job: str = Field(default="", description="Id of the job, when this server or an earlier one started it.")
    story: str
    what: str = ""
    status: str = Field(description="starting, running, finished, failed, stopped or interrupted.")
    verdict: str = ""
    exit_code: int | None = None
    steps: int = Field(default=0, description="Steps recorded so far.")
    seconds: float = 0.0
    money: str = Field(default="0", description="US dollars paid to models.")
    tokens: int = 0
    said: list[str] = Field(default_factory=list, description="The last lines of the job's progress.")
    waiting: list[str] = Field(
        default_factory=list,
        description="Requests to the model `mcp` without an answer: read each with `request`, use `answer`.",
    )
    next: str = Field(default="", description="What to call next.")


class RunsTold(Answer):
    """Recorded runs, newest first."""

    total: int
    runs: list[RunTold]


class ResultTold(Answer):
    """What came of a run, cut down; the whole of it is the resource reenact://runs/ID/result."""

    id: str
    story: str
    status: str
    verdict: str
    exit_code: int | None
    reused: str = Field(default="", description="What was not made by this run, and how to run afresh.")
    result: dict[str, Any]


class Asked(Answer):
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
