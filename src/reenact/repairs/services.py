"""What a repair needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.repairs.wishes import Wishes
from reenact.trials.executor import Executor
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True)
class Services:
    """Everything but the journal and the folder has a default."""

    journal: Journal
    traces: Path
    """Folder below which traces and studies are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    stdout: int | IO[bytes] | None = None
    model: Model | None = None
    """For the strategy `llm`."""
    executor: Callable[[Wishes], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    studies: bool = True
    """Keep the search as an Optuna study."""
    around: str = ""
    """Mark of what trainings depend on beside the program's text, where they run elsewhere, as in a box;
    empty: of the surroundings here."""
    shared: bool = True
    """Take over what finished runs have trained with equal inputs."""
    argv: Sequence[str] = ()
    fresh: bool = False
