"""Options that several functions of the API share, in groups: how programs are trained, how a model
is asked, how a run is kept. Each is an option of the command line, under the same name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

File: TypeAlias = str | Path


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How programs of yours are trained.

    Example:
        reenact.diagnose("train.py", training=reenact.TrainingOptions(python="env/bin/python", workers=2))
    """

    python: str | None = None
    """Interpreter of the program; default: the active one."""
    workers: int = 0
    """Parallel trainings; 0: one per core."""
    training_time: float | None = None
    """Seconds that one training may take; what was seen until then is judged."""
    prune: bool = False
    """End trainings that choose among changes early when they are hopeless next to the unchanged
    program; what judges is always trained to its end.
    """
    stand_in_data: bool = False
    """Train on made-up data of the same shapes where a well-known data set of keras, torchvision or
    scikit-learn cannot be had; the result says so."""
    executor: str = "process"
    """Where changed copies are trained: "process", "ray" (a cluster of this machine), or the
    address of a Ray cluster; the program's folder is sent there.
    """
    data: Sequence[File] = ()
    """Files and folders that every node of the cluster has at the same path, and that are not
    sent.
    """


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How a language model is asked, and within which limits.

    Example:
        reenact.diagnose("train.py", model="ollama:NAME", asking=reenact.ModelOptions(max_calls=20))
    """

    max_cost: Decimal | None = None
    """US dollars."""
    max_tokens: int | None = None
    """Of requests and answers together."""
    max_calls: int | None = None
    """Requests."""
    record: File | None = None
    """File that keeps the answers, for `model="replay:FILE"`."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is kept and resumed.

    Example:
        reenact.diagnose("train.py", run=reenact.RunOptions(runs_dir="build/runs", fresh=True))
    """

    fresh: bool = False
    """Reuse nothing of earlier runs and resume none."""
    trust_journal: bool = False
    """Resume an unfinished run also when you did not record it on this machine."""
    runs_dir: File | None = None
    """Folder of the journal; default: that of the settings (.reenact). A setting on the command
    line.
    """


GROUPS = (TrainingOptions, ModelOptions, RunOptions)
TRAINING = TrainingOptions()
ASKING = ModelOptions()
RUN = RunOptions()


def grouped(
    function: Callable[..., Any],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Arguments by the names of the command line, as this function takes them: options in their
    groups.
    """
    arguments = dict(given)
    for name, parameter in inspect.signature(function).parameters.items():
        kind = type(parameter.default)
        if kind in GROUPS:
            names = [field.name for field in fields(kind) if field.name in arguments]
            arguments[name] = kind(**{option: arguments.pop(option) for option in names})
    return arguments


def ungrouped(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same the other way round: every option by its name on the command line."""
    names: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, GROUPS):
            names |= {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            names[name] = value
    return names


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Every option of a function with its default."""
    parameters = inspect.signature(function).parameters.values()
    return ungrouped({parameter.name: parameter.default for parameter in parameters})
