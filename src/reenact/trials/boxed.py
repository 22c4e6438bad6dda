"""Trials of programs from elsewhere: each patched copy runs in the sandbox, never in the user's
interpreter.

Trainings of the same program over several seeds share a box: what they import is imported once, and
each is a fork in a folder that is as it was. A changed program never shares a box with the one as it
is: what it does to the box cannot reach the numbers that it is compared with. Trainings whose
loss is lost are not given up in there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reenact.errors import PatchRefused, ResultRefused, SandboxFailed
from reenact.probe import boxed as probe_box
from reenact.probe import injected
from reenact.probe.boxed import watch_boxed
from reenact.probe.outcome import OutcomeKind
from reenact.probe.read import read_json_file
from reenact.probe.trace import Root
from reenact.probe.watch import Ended, prepare, read_watched
from reenact.program.patch import Patch
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import BoxResult, Command, Ending, Limits, Mount, Sandbox
from reenact.sandbox.choose import choose
from reenact.sandbox.files.results import read_json
from reenact.sandbox.view import WORK
from reenact.trials.executor import Executor, OnOutcome, Trials
from reenact.trials.folder import INJECTED, Scratch, place, script_in
from reenact.trials.job import ONE_THREAD, TREE, can_fork, clear, imports, watch_options
from reenact.trials.reading import LAST_WORDS, outcome_of
from reenact.trials.trial import Outcome, Trial
from reenact.types import JsonValue, Stop

WALL_S = 600.0
"""Seconds of a trial whose limits name none."""
START_S = 120.0
"""Seconds that a box may take for its imports."""
TOGETHER = 6
"""Trainings that share a box: as many as the first look over seeds takes."""
PROBE = f"{WORK}/.reenact-probe"
DRIVER = ".reenact-trials"
RUNS = ".reenact-runs"
"""A folder for each trial: its trace, its output, how it ended."""


class Boxed(Executor):
    """The executor for what a model wrote, or what came with a repository, a paper or a report."""

    def __init__(
        self,
        *,
        sandbox: Sandbox | None = None,
        python: str = "",
        mounts: tuple[Mount, ...] = (),
        workers: int = 1,
    ) -> None:
        """`sandbox`: the one that this machine would choose by default; `mounts`: data that the
        program reads; `workers`: boxes at once. Raises SandboxUnavailable.
        """
        self.sandbox = sandbox if sandbox is not None else choose()
        self.python = python
        self.mounts = mounts
        self.workers = workers
        self._scratch = Scratch.make()

    def close(self) -> None:
        """See `Executor.close`."""
        self._scratch.close()

    def run(
        self, trials: Trials, *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        halt = Stop(parent=stop)
        found: dict[int, Outcome] = {}
        with ThreadPoolExecutor(self.workers) as threads:
            work = {
                threads.submit(self._group, [trials[at] for at in group], halt): group
                for group in _groups(trials)
            }
            try:
                for ended in as_completed(work):
                    for at, outcome in zip(work[ended], ended.result(), strict=True):
                        found[at] = outcome
                        if on is not None:
                            on(trials[at], outcome)
            finally:
                halt.ask()
        return [found[at] for at in range(len(trials))]

    def refusal(self, patch: Patch) -> str:  # noqa: ARG002
        """Why programs with this patch are not trained at all; empty where they are."""
        return ""

    def _group(self, trials: Sequence[Trial], stop: Stop) -> list[Outcome]:
        """Trials of one program, in as few boxes as it takes."""
        why = self.refusal(trials[0].patch)
        if why:
            return [Outcome(OutcomeKind.NOT_STARTED, note=why) for _ in trials]
        try:
            forks = can_fork(trials[0].patched)
        except PatchRefused as error:
            return [Outcome(OutcomeKind.NOT_STARTED, note=error.sentence) for _ in trials]
        found: list[Outcome] = []
        while len(found) < len(trials):
            left = trials[len(found) :]
            if stop.asked:
                found += [Outcome(OutcomeKind.INTERRUPTED) for _ in left]
            elif forks:
                found += self._together(left, stop)
            else:
                found.append(self._alone(left[0], stop))
        return found

    def _together(self, trials: Sequence[Trial], stop: Stop) -> list[Outcome]:
        """What came of the first of these, or of all, in one box."""
        folders = [self._scratch.trial_folder() for _ in trials]
        scratch = self._scratch.trial_folder()
        try:
            box = _Box(trials, folders, scratch, self.python, self.mounts)
            result = run_again_if_killed(self.sandbox, box.command(), box.limits, stop=stop)
            return list(box.outcomes(result, stop))
        finally:
            clear(scratch, keep_trace=False)
            for trial, folder in zip(trials, folders, strict=True):
                clear(folder, keep_trace=trial.keep_trace)

    def _alone(self, trial: Trial, stop: Stop) -> Outcome:
        """A training that needs an interpreter of its own."""
        folder = self._scratch.trial_folder()
        try:
            patched = trial.patched
            placed = place(patched, folder / TREE)
            inside = replace(patched, folder=placed.folder, working=placed.working)
            options = watch_options(trial, patched, folder, self.python)
            limits = Limits(wall_s=trial.limits.seconds or WALL_S)
            watched = watch_boxed(
                inside,
                options,
                self.sandbox,
                limits=limits,
                stop=stop,
                mounts=self.mounts,
            )
            return outcome_of(watched, watched.seconds, keep_trace=trial.keep_trace)
        finally:
            clear(folder, keep_trace=trial.keep_trace)


def _groups(trials: Trials) -> Iterator[list[int]]:
    """Places of trials that may share a box: of one program with one patch."""
    alike: dict[object, list[int]] = {}
    for at, trial in enumerate(trials):
        alike.setdefault((id(trial.program), repr(trial.patch), trial.stdin), []).append(at)
    for group in alike.values():
        for start in range(0, len(group), TOGETHER):
            yield group[start : start + TOGETHER]


class _Box:
    """One box with trials of one program."""

    def __init__(
        self,
        trials: Sequence[Trial],
        folders: Sequence[Path],
        scratch: Path,
        python: str,
        mounts: tuple[Mount, ...],
    ) -> None:
        self.trials = trials
        self.patched = trials[0].patched
        self.python = injected.default_python(python)
        self.mounts = mounts
        self.scratch = scratch
        self.placed = place(self.patched, scratch / TREE)
        self.options = [
            prepare(self.patched, watch_options(trial, self.patched, folder, python))
            for trial, folder in zip(trials, folders, strict=True)
        ]
        seconds = [trial.limits.seconds or WALL_S for trial in trials]
        self.limits = Limits(wall_s=START_S + sum(seconds))

    def command(self) -> Command:
        """What goes into the box and what comes out."""
        task = {
            "work": WORK,
            "tree": self._inside(self.placed.root),
            "jobs": [self._job(number) for number in range(len(self.trials))],
        }
        files = {f"{RUNS}/{number}/stdin": one.stdin for number, one in enumerate(self.trials)}
        return Command(
            argv=(self.python, "-s", f"{DRIVER}/reenact_trials_box.py"),
            files=files,
            workspace=self.scratch,
            mounts=(
                Mount(injected.FOLDER, PROBE),
                Mount(INJECTED, f"{WORK}/{DRIVER}"),
                *self.mounts,
            ),
            environment=dict.fromkeys(ONE_THREAD, "1") | {"PYTHONHASHSEED": "0"},
            stdin=json.dumps(task).encode(),
            collect=tuple(
                f"{RUNS}/{number}/{name}"
                for number in range(len(self.trials))
                for name in (
                    "ended",
                    "output",
                    *(f"trace/{name}" for name in probe_box.TRACE_FILES),
                )
            ),
        )

    def _job(self, number: int) -> dict[str, JsonValue]:
        """A trial as `reenact_trials_child` takes it, with paths of the box."""
        trial, program = self.trials[number], self.patched
        options = self.options[number]
        own = f"{WORK}/{RUNS}/{number}"
        script = self._inside(script_in(program, self.placed.folder))
        launch = program.launch
        named = launch.module or program.is_notebook or Path(launch.target).is_absolute()
        first = self.placed.working if launch.module else Path(script).parent
        kept = {
            name: os.environ[name] for name in probe_box.PASSED_ON if name in os.environ
        } | dict.fromkeys(ONE_THREAD, "1")
        around = injected.environment(options, kept, folder=f"{own}/trace", inject=PROBE)
        environment: dict[str, JsonValue] = dict(around)
        return {
            "ended": f"{own}/ended",
            "inject": PROBE,
            "imports": list(imports(program)),
            "seconds": trial.limits.seconds or WALL_S,
            "output": f"{own}/output",
            "stdin": f"{own}/stdin",
            "environment": environment,
            "cwd": self._inside(self.placed.working),
            "forks": True,
            "command": [],
            "module": launch.target if launch.module else "",
            "script": script,
            "argv": [script if named else launch.target, *program.arguments],
            "path": [
                self._inside(first) if launch.module else str(first),
                *(
                    self._inside(Path(os.path.normpath(self.placed.folder / base)))
                    for base in program.bases
                ),
            ],
            "moved": [],
            "options": dict(options.as_config(f"{own}/trace")),  # type: ignore[arg-type]
            "part": "",
            "data": 1,
            "weights": [],
        }

    def _inside(self, path: Path) -> str:
        """Where something of the tree is in the box."""
        return str(Path(WORK, TREE) / path.relative_to(self.placed.root))

    def outcomes(self, result: BoxResult, stop: Stop) -> Iterator[Outcome]:
        """What came of each, up to the first that did not end by itself. Raises SandboxFailed."""
        if result.ending is Ending.SANDBOX_FAILED:
            raise SandboxFailed(f"The sandbox could not run the program: {result.why}.")
        for number, trial in enumerate(self.trials):
            ended, cpu = _ended(result, number)
            yield self._outcome(number, trial, result, ended or probe_box.ended(result, stop), cpu)
            if ended is None:
                return

    def _outcome(
        self, number: int, trial: Trial, result: BoxResult, ended: Ended, cpu: float
    ) -> Outcome:
        options = self.options[number]
        start = f"{RUNS}/{number}/trace/"
        for name, content in result.results.items():
            if name.startswith(start):
                target = options.folder / name.removeprefix(start)
                target.touch(mode=0o600)
                target.write_bytes(content)
        watched = read_watched(ended, options, self._root(options.folder))
        outcome = outcome_of(watched, cpu or watched.seconds, keep_trace=trial.keep_trace)
        silent = outcome.kind not in (OutcomeKind.EXITED, OutcomeKind.KILLED)
        if outcome.note or silent:
            return outcome
        printed = result.results.get(f"{RUNS}/{number}/output", result.output.encode())
        words = printed[-LAST_WORDS:].decode("utf-8", "replace").strip()
        return replace(outcome, note=words)

    def _root(self, trace: Path) -> Root:
        """Where places of the trace count from: where the program saw its own folder."""
        header = read_json_file(trace, "header.json") or {}
        seen = str(header.get("cwd", WORK))
        folder = os.path.relpath(self.placed.folder, self.placed.working)
        script = script_in(self.patched, self.placed.folder)
        renamed = {self._inside(script): self.patched.entry} if self.patched.is_notebook else {}
        return Root(self.patched.folder, renamed, os.path.normpath(f"{seen}/{folder}"))


def _ended(result: BoxResult, number: int) -> tuple[Ended | None, float]:
    """How a trial ended by itself, and its processor time; none where no one wrote it down."""
    with suppress(ResultRefused, KeyError, TypeError, ValueError):
        found = read_json(result.results[f"{RUNS}/{number}/ended"])
        if isinstance(found, dict):
            why = found["ended"]
            seconds, cpu = float(found["seconds"]), float(found["cpu"])
            return Ended(int(found["code"]), seconds, why == "timeout", why == "stopped"), cpu
    return None, 0.0
