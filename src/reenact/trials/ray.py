"""The same trials on a Ray cluster: by actors that do one trial at a time, each with a warm pool of
its own, or in the sandbox when the program is not the user's own.

The program's folder is shipped (`parcel`); reenact must be installed on every node. A node that
differs, or whose disk is full, is not used any more and named in `notes`. A trial whose worker or
node dies is done again elsewhere; of the two only one outcome is passed on.
"""

from __future__ import annotations

import importlib.util
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reenact.errors import InputError, MissingExtra, MissingPart, ReenactError, ended_by
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import Program
from reenact.sandbox.files.cleanup import remove_tree
from reenact.trials.cards import may_use_cuda
from reenact.trials.executor import Executor, OnOutcome, Trials
from reenact.trials.folder import Scratch
from reenact.trials.job import TRACE
from reenact.trials.parcel import Parcel, Returned, Worker, pack
from reenact.trials.ray_start import CLIENT, import_path, own_folder, start_options
from reenact.trials.reading import MOVED
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

LOOK_S = 0.5
TRIES = 3
"""How often a trial is done again after the death of its worker."""
CONNECT_S, BEGIN_S = 60.0, 180.0
"""Until a cluster must have answered, and until one of this machine must have started."""
TCP_S = 10.0
CLOSE_S = 10.0
START_S = 900.0
"""Until the first worker must be there: Ray starts them at a low priority, so that on busy nodes it
takes minutes.
"""
BUSY = (
    "Look at `ray status`: others may use all of its cores, or its nodes be too busy to start one."
)
_NODE = "ray.io/node-id"


@dataclass(eq=False)
class _Member:
    """One worker, from its making to its end."""

    actor: Any
    ready: Any
    """Reference to its report."""
    report: tuple[str, str] | None = None
    """Id and name of its node."""
    work: tuple[Any, int] | None = None
    """Reference to what it returns, and the number of the trial."""
    calls: int = 0

    def stop(self) -> None:
        """End the trial that it has."""
        if self.work is not None:
            self.actor.stop.remote(self.calls)

    @property
    def reference(self) -> Any:
        if self.work is not None:
            return self.work[0]
        return self.ready if self.report is None else None


@dataclass
class _Round:
    """The trials of one call of `run`."""

    trials: Sequence[Trial]
    left: deque[int]
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    deaths: Counter[int] = field(default_factory=Counter)


class RayExecutor(Executor):
    """Connects when it is made; a cluster that it started itself ends with it."""

    def __init__(
        self,
        address: str = "",
        *,
        workers: int | None = None,
        python: str = "",
        data: Sequence[Path] = (),
        boxed: bool = False,
        stop: Stop | None = None,
    ) -> None:
        """`address`: of a running cluster; without one a cluster of this machine is started.
        `workers`: most trainings at once. `python`: the program's interpreter, at this path on
        every node. `data`: what lies at the same path on every node and is not shipped. `boxed`:
        the programs are not the user's own. Raises InputError, MissingExtra, MissingPart, and
        Stopped while it connects.
        """
        if workers is not None and workers < 1:
            raise InputError(f"A cluster has at least one worker. Received: workers={workers}.")
        self._ray = _import_ray(address)
        self._workers = workers
        self._python = python
        self._data = tuple(data)
        self._boxed = boxed
        self._ours = not self._ray.is_initialized()
        self._members: list[_Member] = []
        self._refused: dict[str, str] = {}
        """By node: its name, and why it is not used."""
        self._parcels: dict[int, tuple[Program, Parcel, Any]] = {}
        """By the identity of their programs."""
        self._early_deaths: list[str] = []
        self._scratch: Scratch | None = None
        self._closed = threading.Event()
        self._folder = own_folder() if self._ours and not address else None
        """Where a cluster that is started here keeps its files."""
        if self._ours:
            try:
                self._connect(address, stop)
            except BaseException:
                self.close()
                raise

    @property
    def notes(self) -> tuple[str, ...]:
        """Nodes that were not used, and why."""
        return tuple(f"Not trained on the Ray node {why}" for why in self._refused.values())

    def _connect(self, address: str, stop: Stop | None) -> None:
        """In a thread, because Ray would wait for minutes and hear nothing meanwhile."""
        options = start_options(self._ray, address, self._workers, self._folder)
        failed: list[Exception] = []
        done = threading.Event()

        def connect() -> None:
            try:
                host, _, port = address.rpartition("://")[2].rpartition(":")
                if host and port.isdecimal():
                    # Where no one listens Ray itself would not say so for minutes.
                    socket.create_connection((host, int(port)), timeout=TCP_S).close()
                if address.startswith(CLIENT):
                    _take_token()
                self._ray.init(**options)
            except Exception as error:  # noqa: BLE001 - raised below, in the thread that waits
                failed.append(error)
            done.set()
            # The processes of a cluster that was started here end with the thread that started
            # them.
            self._closed.wait()

        threading.Thread(target=connect, daemon=True).start()
        patience = CONNECT_S if address else BEGIN_S
        end = time.monotonic() + patience
        while not done.wait(0.1) and time.monotonic() < end:
            if stop is not None and stop.asked:
                raise ended_by(stop, "Stopped while connecting to Ray.")
        if not done.is_set():
            failed.append(TimeoutError(f"no answer within {patience:g} s"))
        if not failed and "job_config" in options and import_path(options["job_config"]):
            why = "This version of Ray would import modules of the current folder in its workers."
            raise MissingPart(why, next_step="Use another version of Ray, or --executor process.")
        if failed:
            raise MissingPart(
                (
                    f"The Ray cluster cannot be reached: {cause_of(failed[0])}. Received: "
                    f"{address or 'none'}."
                ),
                next_step="Look whether `ray status` shows it, whether Ray and Python are the "
                "same there as here, and whether it wants a token (RAY_AUTH_MODE=token).",
            ) from failed[0]

    def run(
        self, trials: Trials, *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        current = _Round(
            trials,
            deque(range(len(trials))),
        )
        asked, begun = False, time.monotonic()
        try:
            while len(current.outcomes) < len(trials):
                ended: list[int] = []
                if stop is not None and stop.asked:
                    for member in () if asked else self._members:
                        member.stop()
                    asked = True
                    ended = list(current.left)
                    current.left = deque()
                    current.outcomes |= dict.fromkeys(ended, Outcome(OutcomeKind.INTERRUPTED))
                self._employ(current, begun)
                for number in [*ended, *self._look(current)]:
                    if on is not None:
                        on(trials[number], current.outcomes[number])
        finally:
            for member in self._members:
                member.stop()
                member.work = None
        return [current.outcomes[number] for number in range(len(trials))]

    def _employ(self, current: _Round, begun: float) -> None:
        """Give trials to those who are free, and look for more workers where there is more to do."""
        free = [
            member for member in self._members if member.report is not None and member.work is None
        ]
        while current.left and free:
            member = free.pop()
            number = current.left.popleft()
            trial = current.trials[number]
            parcel = self.ship(trial.program)
            start = trial.weights.start if trial.weights is not None else None
            weights = start.read_bytes() if start is not None and start.is_file() else None
            member.calls += 1
            member.work = (
                member.actor.train.remote(member.calls, trial, weights, parcel),
                number,
            )
        coming = sum(member.report is None for member in self._members)
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        # Workers that wait for a core are what a cluster that grows by itself looks at: it may
        # double.
        most = min(self._workers, 2 * cores) if self._workers else cores
        for _ in range(min(most - len(self._members), len(current.left) - coming)):
            self._hire(current.trials[current.left[0]].program)
        if current.left and coming == len(self._members) and time.monotonic() - begun > START_S:
            free_now = {
                name: self._ray.available_resources().get(name, 0) for name in ("CPU", "GPU")
            }
            why = f"No worker on the Ray cluster was ready within {START_S:g} s. Free: {free_now}."
            raise MissingPart(why, next_step=BUSY)

    def _hire(self, program: Program) -> None:
        nodes = [
            node
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        ]
        none_left = bool(nodes) and all(node["NodeID"] in self._refused for node in nodes)
        if none_left or len(self._early_deaths) > TRIES:
            reasons = [
                *self._refused.values(),
                *self._early_deaths[-1:],
            ]
            why = f"No node of the Ray cluster can train this program: {' '.join(reasons)}"
            fix = (
                "Give the nodes the same packages and data as this machine; --python names an "
                "interpreter."
            )
            raise MissingPart(why, next_step=fix)
        options: dict[str, Any] = {
            "num_cpus": 1,
            "max_concurrency": 3,
            "max_restarts": 0,
        }
        if self._ray.cluster_resources().get("GPU") and may_use_cuda(program):
            options["num_gpus"] = 1
        if self._refused:
            options["label_selector"] = {
                _NODE: f"!in({','.join(self._refused)})",
            }
        actor = (
            self._ray.remote(Worker)
            .options(**options)
            .remote(
                self._python,
                self._boxed,
            )
        )
        self._members.append(_Member(actor, actor.report.remote()))

    def ship(self, program: Program) -> Any:
        """A reference to the program's folder on the cluster; sent once."""
        if id(program) not in self._parcels:
            parcel = pack(program, self._data, self._python)
            self._parcels[id(program)] = (program, parcel, self._ray.put(parcel))
        return self._parcels[id(program)][2]

    def _look(self, current: _Round) -> list[int]:
        """Numbers of the trials that have ended meanwhile."""
        by_reference = {
            member.reference: member for member in self._members if member.reference is not None
        }
        if not by_reference:
            time.sleep(LOOK_S)
            return []
        self._ray.wait(
            list(by_reference),
            num_returns=1,
            timeout=LOOK_S,
        )
        ended, _ = self._ray.wait(
            list(by_reference),
            num_returns=len(by_reference),
            timeout=0,
        )
        # Another one of its node may have been refused a moment ago, and this one with it.
        members = (by_reference[reference] for reference in ended)
        found = [self._taken(member, current) for member in members if member in self._members]
        return [number for number in found if number is not None]

    def _taken(self, member: _Member, current: _Round) -> int | None:
        """What a worker answered; the number of its trial when that has ended."""
        number = member.work[1] if member.work is not None else None
        try:
            answer = self._ray.get(member.reference)
        except self._ray.exceptions.RayTaskError as error:
            self._refuse(
                member,
                cause_of(error.cause if isinstance(error.cause, Exception) else error),
            )
        except self._ray.exceptions.RayError as error:
            self._members.remove(member)
            self._ray.kill(member.actor)
            if member.report is None:
                self._early_deaths.append(f"A worker did not start: {cause_of(error)}.")
            if number is not None and self._cost_too_many(number, error, current):
                return number
        else:
            if number is None:
                member.report = answer
                self._early_deaths.clear()
                if answer[0] in self._refused:
                    self._dismiss(member)
                return None
            if not answer.refused:
                member.work = None
                current.outcomes[number] = self._home(answer, current.trials[number])
                return number
            self._refuse(member, "; ".join(answer.refused))
        if number is not None:
            current.left.appendleft(number)
        return None

    def _cost_too_many(self, number: int, error: Exception, current: _Round) -> bool:
        """Whether a trial has cost so many workers that this is its outcome."""
        current.deaths[number] += 1
        if current.deaths[number] <= TRIES:
            return False
        note = f"the worker of this trial died {TRIES + 1} times ({cause_of(error)})"
        current.outcomes[number] = Outcome(OutcomeKind.KILLED, note=note)
        return True

    def _refuse(self, member: _Member, why: str) -> None:
        """Its node is not used any more."""
        if member.report is None:
            self._early_deaths.append(f"A worker did not start: {why}.")
            self._dismiss(member)
            return
        node, name = member.report
        self._refused[node] = f"{name} ({node[:8]}): {why}."
        for other in list(self._members):
            idle = other.work is None or other is member
            if idle and other.report is not None and other.report[0] == node:
                self._dismiss(other)

    def _dismiss(self, member: _Member) -> None:
        self._members.remove(member)
        self._end([member])

    def _end(self, members: Sequence[_Member]) -> None:
        """Those that wait for a core end first and are not waited for: they would take the cores of
        the others as these end, and would answer only then.
        """
        there = [member for member in members if member.report is not None]
        for member in members:
            if member.report is None:
                self._ray.kill(member.actor)
        if closing := [member.actor.close.remote() for member in there]:
            self._ray.wait(
                closing,
                num_returns=len(closing),
                timeout=CLOSE_S,
            )
        for member in there:
            self._ray.kill(member.actor)

    def _home(self, answer: Returned, trial: Trial) -> Outcome:
        """The outcome with its files on this machine; raises InputError where data were not
        sent.
        """
        outcome = answer.outcome
        left_out = self._parcels[id(trial.program)][1].left_out
        missing = outcome.crash.missing_file if outcome.crash is not None else ""
        if outcome.kind is OutcomeKind.NEEDS_DATA and left_out:
            raise InputError(
                f"A training on the cluster did not find {missing or 'its data'}: files of more "
                "than 16 MiB and crowded folders are not sent. Not sent: "
                f"{', '.join(left_out[:3])}.",
                next_step="Put the data at the same path on every node and name it: --data PATH.",
            )
        if (
            answer.weights is not None
            and trial.weights is not None
            and trial.weights.end is not None
        ):
            trial.weights.end.write_bytes(answer.weights)
        if not answer.trace:
            return outcome
        self._scratch = self._scratch or Scratch.make()
        folder = self._scratch.trial_folder()
        for name, body in answer.trace:
            path = folder / TRACE / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        (folder / MOVED).write_text(answer.tree, encoding="utf-8")
        return replace(outcome, trace=folder / TRACE)

    def close(self) -> None:
        """See `Executor.close`."""
        if self._ray.is_initialized():
            self._end(self._members)
            if self._ours:
                self._ray.shutdown()
        self._closed.set()
        if self._folder is not None:
            remove_tree(self._folder)
            self._folder = None
        self._members, self._parcels = [], {}
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None


def cause_of(error: BaseException) -> str:
    """The last line of what happened: that is where the cause is, without its full stop."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    if isinstance(error, ReenactError) or not lines:
        return (lines[0] if lines else type(error).__name__).rstrip(".")
    return f"{type(error).__name__}: {lines[-1]}".rstrip(".")


def _take_token() -> None:
    """Ray takes the token that its user has for `host:port`, but not for `ray://`, where it would
    only say that no one answered in time.
    """
    with suppress(ImportError, AttributeError):  # no public name for it
        from ray._private.authentication import authentication_token_setup as tokens

        tokens.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)


def _import_ray(address: str) -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtra("ray", "ray") from error
    # What ray[client] brings.
    if address.startswith(CLIENT) and importlib.util.find_spec("grpc") is None:
        raise MissingExtra("ray[client]", "ray")
    return ray
