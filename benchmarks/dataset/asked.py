"""What is asked of every training of a run: a diagnosis or a repair, with how much time and
which model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.dataset.training import Training
from reenact.diagnosis.options import Depth
from reenact.errors import InputError

FOREIGN_MINUTES = {Depth.QUICK: 3.0, Depth.NORMAL: 20.0}
"""What the diagnosis of a foreign program is expected to take, and may take twice."""
OWN_MINUTES = 5.0
"""What the diagnosis of a program that is kept here may take."""
REPAIR_MINUTES = 8.0
"""What a repair is expected to take on two cores, and may take three times."""
REPLAY = "replay:"


@dataclass(frozen=True)
class Asked:
    """The same for every training."""

    repair: bool = False
    depth: str = "quick"
    budget: str = ""
    """Of a repair, as a user writes it; empty: the usual one."""
    seeds: int = 10
    """That judge a repair."""
    model: str = ""
    """As a user names it; `replay:FOLDER` has a recording ID.jsonl for each training."""
    minutes: float | None = None
    """Most for one training; none: the usual."""
    jobs: int = 1
    """Trainings at once."""
    checkouts: Path | None = None
    """Where the repositories of foreign programs are."""

    def limit_s(self, training: Training) -> float:
        """The most that one training may take."""
        return 60 * (self.minutes or self._usual_limit(training))

    def expected_s(self, training: Training) -> float:
        """What it is expected to take."""
        if self.repair:
            usual = 60 * REPAIR_MINUTES
        elif training.foreign is not None:
            usual = 60 * FOREIGN_MINUTES[Depth(self.depth)]
        else:
            usual = 2 * training.seconds + 15
        return min(usual, self.limit_s(training))

    def _usual_limit(self, training: Training) -> float:
        if self.repair:
            return 3 * REPAIR_MINUTES
        return OWN_MINUTES if training.foreign is None else 2 * FOREIGN_MINUTES[Depth(self.depth)]

    def recording(self, training: Training) -> Path | None:
        """The recorded answers for one training. Raises InputError where there are none."""
        if not self.model.startswith(REPLAY):
            return None
        given = Path(self.model.removeprefix(REPLAY)).expanduser().absolute()
        file = given / f"{training.id}.jsonl" if given.is_dir() else given
        if not file.is_file():
            raise InputError(f"There is no recording of this training. Received: {file}.")
        return file
