"""Repair: the smallest change that makes a training significantly better, verified on fresh seeds.

wishes     what the user may ask for            judging    which number, on which half of the data
prepare    from a diagnosis to a workbench      fitness    can this program be repaired at all
workbench  trainings for a strategy, accounts   space      every knob with the values it may take
strategies one file each                        study      the search as an Optuna study on disk
minimise   leave out what the gain does not need   verify  before and after over fresh seeds
verdict    what came of it                      apply      the change in the user's own files
story      all of it, on one page               neutral    alternative repairs, as a graph
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.repairs.verdict import Repair


class _Room(ModuleType):
    """This package, which can also be called: `reenact.repair("train.py")`."""

    def __call__(
        self, program: str | Path, *arguments: str, metric: str = "", budget: str = "20x", **wishes: object
    ) -> Repair:
        """Repair a program; see `reenact.repairs.options.Wishes` for what may be asked for.

        Its source is not changed: the answer holds the diff. The same call after an interruption continues.
        """
        from reenact.journal import Journal
        from reenact.program.program import read_program
        from reenact.repairs.options import RepairOptions
        from reenact.repairs.pipeline import repair
        from reenact.repairs.prepare import RepairServices
        from reenact.settings import resolve

        settings = resolve().settings
        wanted = RepairOptions(metric=metric, budget=budget, **wishes)  # type: ignore[arg-type]
        with Journal.open(settings.runs_dir) as journal:
            services = RepairServices(journal=journal, traces=settings.runs_dir / "traces")
            return repair(read_program((str(program), *arguments)), wanted, services)


sys.modules[__name__].__class__ = _Room
