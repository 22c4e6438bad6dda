"""What development, verification and measurement of one paper work with, and the user's folders."""

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reenact.codegen.runner import ProjectRunner, UserFolder
from reenact.errors import ended_by
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.paper.options import PaperOptions
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Progress, Stop, Tell, tell_nobody

MOST_LISTED = 200
"""Files of a folder that are named; of the others the number is given."""
FIELD = (
    "numpy",
    "torch",
    "scipy",
    "scikit-learn",
    "pandas",
    "keras",
    "torchvision",
    "transformers",
    "gymnasium",
)
"""Packages of the field that are named, with their versions, where they are installed."""


@dataclass(frozen=True)
class PaperContext:
    """Everything from outside that the steps of one reproduction share."""

    model: Model
    runner: ProjectRunner
    options: PaperOptions
    journal: Journal
    traces: Path
    """Where watched runs are kept."""
    out: Path | None = None
    """Where the project goes, a commit a round; none: nowhere."""
    tell: Tell = tell_nobody

    @property
    def stop(self) -> Stop:
        return self.runner.stop

    def say(self, note: str) -> None:
        say_or_stop(self.tell, self.stop, note)


def say_or_stop(tell: Tell, stop: Stop, note: str) -> None:
    """Tell the user what happens; stop here when that was asked for."""
    if stop.asked:
        raise ended_by(stop, "Stopped between two steps.")
    tell(Progress("paper", note=note))


def project_runner(
    options: PaperOptions,
    sandbox: Sandbox,
    environments: Environments | None = None,
    packages: tuple[str, ...] = (),
    stop: Stop | None = None,
) -> ProjectRunner:
    """Runs of the generated project, with the user's folders, packages, time and memory."""
    given = [(options.data, "user_data", "DATA_DIR")]
    given += [(options.checkpoints, "user_checkpoints", "CHECKPOINT_DIR")]
    return ProjectRunner(
        sandbox,
        options.wall_s,
        folders=tuple(
            UserFolder(path, name, variable) for path, name, variable in given if path is not None
        ),
        requirements=options.requirements,
        packages=packages,
        environments=environments,
        stop=stop or Stop(),
    )


def machine_text(options: PaperOptions, runner: ProjectRunner) -> str:
    """What a run may use and import, for anyone who writes the code."""
    cores = len(os.sched_getaffinity(0))
    memory = runner.memory_mib
    packages = []
    for name in FIELD:
        with suppress(PackageNotFoundError):
            packages.append(f"{name} {version(name)}")
    named = ", ".join((*packages, *options.requirements)) or "none"
    return (
        f"A full run has {options.run_wall_s:g} s of CPU time on one of {cores} cores, and "
        f"{memory} MiB.\nA dry run or a test may take {options.wall_s:g} s of CPU time.\nRuns are "
        f"started with --scale {options.scale:g}; after a timeout with less.\nThere is no GPU and "
        f"no network.\nPackages that can be imported: {named}."
    )


def scale_arguments(scale: float) -> tuple[str, ...]:
    """The words of a command line that ask for a reduced training; none for the whole."""
    if scale != 1:
        return ("--scale", f"{scale:g}")
    return ()


def folders_text(folders: tuple[UserFolder, ...]) -> str:
    """What the user's folders hold, for anyone who writes the code: names and sizes, no content."""
    lines = []
    for folder in folders:
        files = sorted(path for path in folder.path.rglob("*") if path.is_file())
        lines.append(f"{folder.name}/ holds {len(files)} files.")
        for path in files[:MOST_LISTED]:
            name = path.relative_to(folder.path).as_posix()
            lines.append(f"{folder.name}/{name} ({path.stat().st_size} bytes)")
        if len(files) > MOST_LISTED:
            lines.append(f"... and {len(files) - MOST_LISTED} more.")
    return "\n".join(lines)
