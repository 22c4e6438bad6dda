"""What a fork of the server does to become a program that somebody started: streams, environment,
folder, arguments, probe; and what the server does for it before the fork and after its end.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any

import reenact_trials_cards
import reenact_trials_data
import reenact_trials_links
import reenact_trials_stop

if TYPE_CHECKING:
    from reenact_probe.types import Facts

_DIE_WITH_PARENT, ADOPT_ORPHANS = 1, 36
"""Options of prctl(2)."""
_OPTIMIZERS = (
    "sgd",
    "adam",
    "adamw",
    "adamax",
    "adagrad",
    "adadelta",
    "nadam",
    "rmsprop",
    "lion",
)
_LAZY = {
    # Imported by the first optimizer that is made: half the price of a short training.
    "torch": ("torch._dynamo", "reenact_probe.torch.observer"),
    "keras": (
        "reenact_probe.keras.on_torch",
        *(f"keras.src.backend.torch.optimizers.torch_{kind}" for kind in _OPTIMIZERS),
    ),
}


def preload(job: Facts) -> None:
    """Import what the program will import. A package that fails here fails again, visibly, in
    the trial.
    """
    if job["inject"] not in sys.path:
        sys.path.append(job["inject"])
    before = len(sys.modules)
    importlib.import_module("reenact_probe.boot")
    with reenact_trials_cards.without_cuda():
        for name in job["imports"]:
            if name.partition(".")[0] != "keras" or _keras_runs_on_torch(job):
                _import(name)
            for more in _LAZY.get(name, ()) if name in sys.modules else ():
                _import(more)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if len(sys.modules) > before:
        # What is imported stays: no trial need walk through it, and so copy it, or take it apart at
        # its end.
        gc.collect()
        gc.freeze()
        for finalizer in list(getattr(weakref.finalize, "_registry", ())):
            finalizer.atexit = False
    if reenact_trials_cards.cuda_began():
        sys.stderr.write("CUDA was started by an import: trials run in fresh interpreters\n")


def _import(name: str) -> None:
    """The module, or the nearest package around it: the last part may be a function."""
    while name and name not in sys.modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            name = name.rpartition(".")[0]
        except Exception as error:  # noqa: BLE001 - see `preload`
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
            return


def _keras_runs_on_torch(job: Facts) -> bool:
    """Keras is imported ahead only on torch: other engines start threads, which no fork
    survives.
    """
    chosen = job["environment"].get("KERAS_BACKEND") or _configured()
    if not chosen and importlib.util.find_spec("tensorflow") is None:
        chosen = "torch"
    if chosen == "torch":
        os.environ["KERAS_BACKEND"] = job["environment"]["KERAS_BACKEND"] = "torch"
    return chosen == "torch"


def _configured() -> str:
    """The engine in Keras's own settings, unless it is one that is not installed."""
    home = os.environ.get("KERAS_HOME") or os.path.join(
        os.path.expanduser("~"),
        ".keras",
    )
    try:
        with open(
            os.path.join(home, "keras.json"),
            encoding="utf-8",
        ) as file:
            chosen = str(json.load(file).get("backend", ""))
    except (OSError, ValueError, AttributeError):
        return ""
    return chosen if importlib.util.find_spec(chosen or "keras") is not None else ""


def become(job: Facts, output: int, wake: int) -> None:
    """Never returns."""
    server = os.getppid()
    os.setsid()
    prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    os.close(wake)
    answers = os.open(job["stdin"], os.O_RDONLY)
    for source, target in (
        (answers, 0),
        (output, 1),
        (output, 2),
    ):
        os.dup2(source, target)
    os.close(answers)
    os.close(output)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["cwd"])
    # A fork of a process in which CUDA runs cannot use a card; a fresh interpreter can.
    if not job["forks"] or reenact_trials_cards.cuda_began():
        try:
            os.execvpe(  # noqa: S606
                job["command"][0],
                job["command"],
                os.environ,
            )
        except OSError as error:
            sys.stderr.write(f"{job['command'][0]}: {error.strerror}\n")
            sys.stderr.flush()
            os._exit(127)
    _run(job)


def _run(job: Facts) -> None:
    code = 0
    try:
        _dress(job)
        _execute(job)
    except SystemExit as end:
        code = _exit_code(end.code)
    except BaseException as error:  # noqa: BLE001 - what the interpreter itself does with it
        code = _uncaught(error)
    try:
        importlib.import_module("threading")._shutdown()
        importlib.import_module("atexit")._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        os._exit(code)


def _dress(job: Facts) -> None:
    moved = [tuple(pair) for pair in job["moved"]]
    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if entry not in (here, job["inject"])]
    sys.path[:] = list(
        dict.fromkeys(
            [
                *job["path"],
                *(_move(entry, moved) for entry in rest),
            ]
        )
    )
    sys.path_importer_cache.clear()
    sys.argv = list(job["argv"])
    reenact_trials_cards.note_at_end()
    from reenact_probe import boot, config

    options = dict(job["options"])
    reenact_trials_links.guard()
    folder = options.pop("folder")
    session = boot.start(
        config.Config(folder, **options),
        own_process=True,
    )
    reenact_trials_stop.watch(session)
    if job["weights"]:
        reenact_trials_data.install_weights(*job["weights"])
    if job["part"]:
        reenact_trials_data.install_half(job["part"], folder)
    if job["data"] < 1:
        reenact_trials_data.install_share(job["data"], folder)


def _move(
    entry: str,
    moved: list[tuple[str, ...]],
) -> str:
    for old, new in moved:
        if entry == old or entry.startswith(old + os.sep):
            return new + entry[len(old) :]
    return entry


def _execute(job: Facts) -> None:
    main: Any = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    if job["module"]:
        importlib.import_module("runpy")._run_module_as_main(job["module"])
        return
    main.__file__ = job["script"]
    main.__cached__ = None
    with open(job["script"], "rb") as file:
        code = compile(
            file.read(),
            job["script"],
            "exec",
            dont_inherit=True,
        )
    exec(code, main.__dict__)  # noqa: S102 - the user's own program


def _exit_code(given: Any) -> int:
    if given is None or isinstance(given, int):
        return (given or 0) & 0xFF
    sys.stderr.write(f"{given}\n")
    return 1


def _uncaught(error: BaseException) -> int:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type = type(error)
    sys.last_value = error
    sys.last_traceback = trace
    sys.excepthook(type(error), error, trace)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def end_leftovers() -> float:
    """End what a trial left behind, also what left its group; seconds of processor time that it
    used.
    """
    cpu = 0.0
    for _ in range(100):
        left = _children()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        try:
            _, _, used = os.wait3(0 if left else os.WNOHANG)
        except ChildProcessError:
            break
        cpu += used.ru_utime + used.ru_stime
    return cpu


def _children() -> list[int]:
    try:
        with open(
            f"/proc/self/task/{os.getpid()}/children",
            encoding="ascii",
        ) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def prctl(option: int, value: Any) -> None:
    """Linux only; elsewhere the end of the input does the same more slowly."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(
            option,
            int(value),
            0,
            0,
            0,
        )
