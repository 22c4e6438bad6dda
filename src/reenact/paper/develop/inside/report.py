"""What the driver writes down: problems with their place in the project, and facts."""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OWN = "reenact_inside"
"""Name of this folder in the box."""


class Report:
    """Problems and facts, in the order in which they were seen."""

    def __init__(self) -> None:
        self.problems: list[dict[str, Any]] = []
        self.facts: list[str] = []
        self.stand_in = ""

    def problem(self, sentence: str, file: str = "", line: int = 0) -> None:
        self.problems.append({"sentence": sentence[:2000], "file": file, "line": line})

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Whatever the project raises meanwhile, an exit too, becomes a problem."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - it is told, with its place
            self._raised(error, what)

    def _raised(self, error: BaseException, what: str) -> None:
        """An exception of the project, at its innermost line of project code."""
        traceback.print_exception(type(error), error, error.__traceback__)
        root, file, line = Path.cwd(), "", 0
        for frame in traceback.extract_tb(error.__traceback__):
            place = Path(frame.filename).absolute()
            if place.is_relative_to(root) and OWN not in place.parts:
                file, line = str(place.relative_to(root)), frame.lineno or 0
        self.problem(f"{type(error).__name__}: {error} (while {what})", file, line)


def seed_all(seed: int) -> None:
    """One seed for every source of chance that is loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
