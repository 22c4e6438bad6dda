"""Watches a program from elsewhere in the sandbox: its folder is copied in, the probe is mounted,
the trace collected.
"""

import os
from pathlib import Path, PurePosixPath

from reenact.errors import SandboxFailed
from reenact.probe import injected
from reenact.probe.options import WatchOptions
from reenact.probe.read import read_json_file
from reenact.probe.trace import Root
from reenact.probe.watch import NOTEBOOK, Ended, Watched, prepare, read_watched
from reenact.program.program import Program
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import (
    BoxResult,
    Command,
    Ending,
    Limits,
    Mount,
    OnOutput,
    Sandbox,
)
from reenact.sandbox.view import WORK
from reenact.types import Stop

PROBE = "/opt/reenact-probe"
TRACE = ".reenact-trace"
MOST_CHUNKS = 1000
NAMES = (
    "header.json",
    "graph.json",
    "data.json",
    "books.json",
    "ending.json",
    "crash-main.json",
    "crash-rank0.json",
)
TRACE_FILES = (
    *NAMES,
    *(f"chunk-{number:06d}.npz" for number in range(1, MOST_CHUNKS + 1)),
)
"""All that a trace may consist of."""
PASSED_ON = ("KERAS_BACKEND", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")


def watch_boxed(
    program: Program,
    options: WatchOptions,
    sandbox: Sandbox,
    *,
    limits: Limits | None = None,
    stop: Stop | None = None,
    on_output: OnOutput | None = None,
    mounts: tuple[Mount, ...] = (),
) -> Watched:
    """Run a program in a box; `mounts` are data that it reads. Raises SandboxFailed when the box
    itself broke.
    """
    options = prepare(program, options)
    limits = limits or Limits(wall_s=options.max_time or 600.0)
    result = run_again_if_killed(
        sandbox,
        command(program, options, mounts),
        limits,
        listen=lambda: on_output,
        stop=stop,
    )
    if result.ending is Ending.SANDBOX_FAILED:
        raise SandboxFailed(f"The sandbox could not run the program: {result.why}.")
    for name, content in result.results.items():
        target = options.folder / Path(name).name
        target.touch(mode=0o600)
        target.write_bytes(content)
    # Where the program saw its own folder: the trace says so.
    header = read_json_file(options.folder, "header.json") or {}
    root = Root(
        program.folder,
        seen_as=str(header.get("cwd", WORK)),
    )
    return read_watched(ended(result, stop), options, root)


def command(
    program: Program,
    options: WatchOptions,
    mounts: tuple[Mount, ...] = (),
) -> Command:
    """What goes into the box: a copy of the program, the probe, and the names of what comes
    back; `mounts` are data that it reads.
    """
    target = NOTEBOOK if program.is_notebook else _script(program)
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = program.folder / program.entry.parent
    inside = program.is_notebook and own.is_relative_to(program.working)
    modules = str(PurePosixPath(WORK) / own.relative_to(program.working)) if inside else ""
    return Command(
        argv=program.launch.command(injected.default_python(options.python), target),
        files={NOTEBOOK: program.script().encode()} if program.is_notebook else {},
        workspace=program.working,
        mounts=(Mount(injected.FOLDER, PROBE), *mounts),
        environment=injected.environment(
            options,
            kept,
            folder=TRACE,
            inject=PROBE,
            modules=modules,
        ),
        collect=tuple(f"{TRACE}/{name}" for name in TRACE_FILES),
    )


def _script(program: Program) -> str | None:
    """The script by a name that it has in the box too; none where the one that was typed will do."""
    launch = program.launch
    if launch.module or not Path(launch.target).is_absolute():
        return None
    entry = program.folder / program.entry
    inside = entry.is_relative_to(program.working)
    return str(entry.relative_to(program.working)) if inside else None


def ended(result: BoxResult, stop: Stop | None) -> Ended:
    """How the program in a box ended."""
    code = -result.signal if result.signal is not None else (result.exit_code or 0)
    cancelled = result.ending is Ending.CANCELLED
    by_user = stop is None or stop.by_user
    timed_out = result.ending is Ending.TIMEOUT or (cancelled and not by_user)
    if not (result.ending.is_evidence or timed_out or cancelled):
        code = code or -9
    return Ended(code, result.wall_s, timed_out, cancelled and by_user)
