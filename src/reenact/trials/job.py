"""What the fork server is sent about one trial: what to import, what to run, where, in what
environment.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from reenact.errors import PatchRefused
from reenact.probe import injected as probe
from reenact.probe.experiment import EAGER
from reenact.probe.injected import default_python
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Root
from reenact.program.flow.sources import Sources
from reenact.program.program import Program
from reenact.program.training.framework import Framework, framework_of
from reenact.settings import STUDY_URL
from reenact.trials.cards import VISIBLE
from reenact.trials.folder import INJECTED, Placed, counterpart, place, script_in
from reenact.trials.trial import Part, Trial
from reenact.types import JsonValue

AHEAD = (
    "numpy",
    "torch",
    "keras",
    "scipy",
    "pandas",
    "sklearn",
    "matplotlib",
    "lightning",
    "pytorch_lightning",
    "torchmetrics",
    "transformers",
)
"""Packages that are imported before the fork: they cost seconds, start no thread and keep no
open file.
"""
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

_TRACKERS = Path(__file__).with_name("trackers.toml")
TRACKERS_OFF: dict[str, str] = tomllib.loads(_TRACKERS.read_text(encoding="utf-8"))
"""Experiment trackers stay silent during trials: a hundred short trainings belong on no one's
dashboard.

What a user set otherwise is overruled: the trials are ours. A program that names its server in its
own code (`mlflow.set_tracking_uri`, `wandb.init(mode="online")`) still has its will.
"""

TREE = "tree"
TRACE = "trace"
BASELINE = "baseline.json"
OUTPUT = "output.txt"
GIVEN_UP = "given-up.txt"
CARD = "card.txt"
STDIN = "stdin.txt"
"""What lies in the folder of a trial: its output, why it was given up, its bytes on a card, its
input.
"""

_OTHER_ENGINE = re.compile(r"KERAS_BACKEND\W+(?:\w+\W+)?(?:jax|tensorflow|openvino)")


@dataclass(frozen=True, slots=True)
class Job:
    """A trial that is ready to be run."""

    message: dict[str, JsonValue]
    """What the server is sent."""
    options: WatchOptions
    root: Root

    def left(self, name: str) -> bytes:
        """What it left in a file of its folder; nothing where there is none."""
        file = self.options.folder.parent / name
        return file.read_bytes() if file.is_file() else b""


def around(folder: Path) -> dict[str, str]:
    """The environment of trials: the user's own, one thread each, trackers off; those that insist
    on writing write below `folder`.
    """
    found = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    # Otherwise the order of sets of strings, and what is trained in that order, differs between
    # servers.
    found.setdefault("PYTHONHASHSEED", "0")
    # Asking for a graphics card any other way, as Keras does when it is imported, spoils it for
    # forks.
    found.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    found.pop(STUDY_URL, None)
    found |= TRACKERS_OFF | {
        "WANDB_DIR": str(folder),
        "CLEARML_CACHE_DIR": str(folder / "clearml"),
    }
    # MLflow has no switch of its own: a file store that goes away with the trial (docs, tracking
    # URI).
    found["MLFLOW_TRACKING_URI"] = (folder / "mlruns").absolute().as_uri()
    return found | {"TRACKIO_DIR": str(folder / "trackio")}


def watch_options(trial: Trial, patched: Program, folder: Path, python: str = "") -> WatchOptions:
    """How the probe watches a trial that runs in `folder`."""
    return WatchOptions(
        folder=folder / TRACE,
        preset=trial.preset,
        seed=trial.seed % 2**32,
        max_time=trial.limits.seconds,
        stop_after=trial.limits.steps,
        python=python,
        experiments=trial.experiments.seconds if trial.experiments is not None else None,
        weights=trial.hand_over,
        environment=EAGER if trial.experiments is not None else {},
        stand_ins=trial.stand_ins or None,
        shim=framework_of(patched) in (Framework.TF_KERAS, Framework.KERAS_OLD),
    )


def clear(folder: Path, *, keep_trace: bool) -> None:
    """Remove what a trial leaves behind, except a trace that somebody wants."""
    shutil.rmtree(
        folder / TREE if keep_trace else folder,
        ignore_errors=True,
    )


def make_job(trial: Trial, folder: Path, python: str, card: str = "") -> Job:
    """Lay out a trial in `folder`; `card` is the only one that it sees. Raises PatchRefused and
    StorageError."""
    if trial.patch.is_code:
        raise PatchRefused("An edit of code is trained in the sandbox only.")
    program = trial.patched
    launch = program.launch
    placed = place(program, folder / TREE)
    options = watch_options(trial, program, folder)
    options.folder.mkdir()
    forks = can_fork(program)
    environment = _environment(program, placed, options)
    environment["REENACT_TRIAL_CARD"] = str(folder / CARD)
    if trial.while_finite or trial.baseline is not None:
        environment["REENACT_TRIAL_STOP"] = str(folder / GIVEN_UP)
    if trial.baseline is not None:
        environment["REENACT_TRIAL_BASELINE"] = str(folder / BASELINE)
        (folder / BASELINE).write_text(
            json.dumps(asdict(trial.baseline)),
            encoding="utf-8",
        )
    if card:
        environment[VISIBLE] = card
    # As typed, unless that would name the user's own file.
    own = launch.module or program.is_notebook or Path(launch.target).is_absolute()
    first = placed.working if launch.module else placed.entry.parent
    target = launch.target if launch.module else str(placed.entry)
    if trial.stdin:
        (folder / STDIN).write_bytes(trial.stdin)
    weights = (trial.weights.start, trial.weights.end) if trial.weights is not None else ()
    message: dict[str, JsonValue] = {
        "inject": str(probe.FOLDER),
        "imports": list(imports(program)) if forks else [],
        "seconds": trial.limits.seconds,
        "output": str(folder / OUTPUT),
        "stdin": str(folder / STDIN) if trial.stdin else os.devnull,
        "environment": environment,
        "cwd": str(placed.working),
        "forks": forks,
        "command": list(launch.command(default_python(python), target)),
        "module": launch.target if launch.module else "",
        "script": str(placed.entry),
        "argv": [
            str(placed.entry) if own else launch.target,
            *program.arguments,
        ],
        "path": [
            str(first),
            *(os.path.normpath(placed.folder / base) for base in program.bases),
        ],
        "moved": [list(pair) for pair in placed.moved],
        "options": dict(options.as_config(str(options.folder))),  # type: ignore[arg-type]
        "part": "" if trial.part is Part.WHOLE else trial.part.value,
        "data": trial.data,
        "weights": [str(path or "") for path in weights] if weights else None,
    }
    return Job(message, options, root_of(program, placed.root))


def root_of(program: Program, tree: Path) -> Root:
    """Where the places of a trial's trace count from."""
    folder = counterpart(program, tree)
    renamed = (
        {
            str(script_in(program, folder)): program.entry,
        }
        if program.is_notebook
        else {}
    )
    return Root(program.folder, renamed, str(folder))


def can_fork(program: Program) -> bool:
    """Whether a fork of the server is as good as a fresh interpreter.

    Not for launchers, for programs that choose another engine for Keras, and where a file of the
    program has the name of a module that the server has imported already.
    """
    if program.launch.launcher or os.environ.get("KERAS_BACKEND", "torch") != "torch":
        return False
    if any(_OTHER_ENGINE.search(file.text) for file in program.files):
        return False
    entry, *others = (_names(program, file.path) for file in program.files)
    local = {name for names in others for name in names}
    return not local & {*sys.stdlib_module_names, *AHEAD} and not entry & {*AHEAD}


def _names(program: Program, path: PurePosixPath) -> set[str]:
    """First words of the names that a file can be imported by."""
    bases = [base for base in program.bases if path.is_relative_to(base)]
    return {path.relative_to(base).parts[0].removesuffix(".py") for base in bases}


def imported(program: Program) -> set[str]:
    """Names of all modules that its files import, by their full name."""
    indexes = Sources(program).indexes.values()
    return {binding.dotted for index in indexes for binding in index.imports if not binding.level}


def imports(program: Program) -> tuple[str, ...]:
    """Modules that the program imports and that are worth importing ahead, packages first."""
    found = imported(program)
    tops = {name.partition(".")[0] for name in found}
    wanted = {name for name in found if name.partition(".")[0] in AHEAD}
    if tops & {"tensorflow", "tf_keras"} or "keras" in tops:
        wanted |= {"torch", "keras"}
    wanted |= {name.partition(".")[0] for name in wanted}
    return tuple(
        sorted(
            wanted,
            key=lambda name: (name.count("."), name),
        )
    )


def _environment(
    program: Program,
    placed: Placed,
    options: WatchOptions,
) -> dict[str, JsonValue]:
    base = around(options.folder.parent)
    own = [_moved(entry, placed) for entry in base.get("PYTHONPATH", "").split(os.pathsep) if entry]
    extra = [str(placed.folder / base) for base in program.bases] if program.launch.launcher else []
    base["PYTHONPATH"] = os.pathsep.join([str(INJECTED), *extra, *own])
    if placed.linked:
        base["REENACT_TRIAL_ROOT"] = str(placed.root)
    return dict(probe.environment(options, base))


def _moved(entry: str, placed: Placed) -> str:
    full = os.path.abspath(entry)  # noqa: PTH100 - must not follow links
    for old, new in placed.moved:
        if full == old or full.startswith(old + os.sep):
            return new + full[len(old) :]
    return entry
