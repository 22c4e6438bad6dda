"""What the journal keeps of one watched run."""

from dataclasses import dataclass
from pathlib import Path

from reenact.probe.opened import Opened
from reenact.probe.outcome import Outcome
from reenact.probe.trace import Experiments


@dataclass(frozen=True)
class WatchedRun:
    """What a watched run leaves for anyone who continues."""

    folder: Path
    outcome: Outcome
    experiments: Experiments
    opened: Opened
    answered: bool = False
    """Whether somebody typed answers for the program: they are not kept."""
    traced: bool = False
    """Whether there was something to see: a trace that is gone now was cleared away."""
    stand_in_data: tuple[str, ...] = ()
    """Data sets that the program got made-up data for."""
