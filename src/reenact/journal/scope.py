"""What a pipeline writes with: a place in the tree of steps, and the verbs step, many, note, edit,
under.

The law of a step: a stored result is given back; else intent, effect, result, in this order.

File edits cannot be torn by a crash: they are planned by the hash before and after, and applied
file by file. Interrupted, the rest is applied next time: a file that already has its new content is
left, one that still has its old content gets the new one, and one that somebody else changed
meanwhile is not touched.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeAlias, TypeVar

from reenact.errors import (
    InputError,
    JournalDiverged,
    JournalError,
    ReenactError,
    Stopped,
    StorageError,
)
from reenact.journal.artefacts import named
from reenact.journal.codec import Body, decoder
from reenact.journal.recorder import Recorder, StepRequest
from reenact.journal.records import PATH, Cost, Kind, State, Step
from reenact.journal.storage import make_folder, storage_named, sync_folder, write_whole
from reenact.own_process import crash_point

T = TypeVar("T")
GroupEffect: TypeAlias = Callable[[tuple[str, ...]], Iterable[Mapping[str, T]]]
NOWHERE = "-"
AFTER_INTENT = {Kind.LLM: "C5", Kind.TRIAL: "C13"}
AFTER_EFFECT = {
    Kind.LLM: "C6",
    Kind.BOX: "C11",
    Kind.TRIAL: "C14",
}
READABLE = (State.DONE, State.REUSED, State.SUPERSEDED)
MISFIT = (ValueError, TypeError, KeyError, AttributeError)
"""What decoding raises when the stored data are not of its type (pydantic's error is a
ValueError).
"""


@dataclass(frozen=True, slots=True)
class Steps(Generic[T]):
    """Steps of one sort that the program asks for, by name."""

    recorder: Recorder
    requests: Mapping[str, StepRequest]
    effect: GroupEffect[T]
    decode: Callable[[Any], T]
    cost: Callable[[T], Cost] | None = None
    final: tuple[type[ReenactError], ...] = ()
    still: Callable[[T], bool] | None = None

    def results(self) -> dict[str, T]:
        """The stored results, and those of the effect for all others; a final failure is raised
        again.
        """
        with self.recorder.alone([wanted.key for wanted in self.requests.values()]):
            known = map(self.recorder.stored, self.requests.values())
            for step in (one for one in known if one and one.state is State.FAILED and one.final):
                for kind in (kind for kind in self.final if kind.__name__ == step.error_type):
                    raise kind(
                        step.error or "",
                        next_step=step.error_next or "",
                    )
            results = self._kept()
            missing = {
                name: wanted for name, wanted in self.requests.items() if name not in results
            }
            if missing:
                return results | self._perform(missing)
            return results

    def _kept(self) -> dict[str, T]:
        """The results in this run, or else (of shared steps) in finished ones, recorded as reused.
        A result that `still` rejects counts as not there: the step is performed again.
        """
        recorder = self.recorder
        found: dict[str, T] = {}
        taken: list[tuple[StepRequest, Step]] = []
        for name, wanted in self.requests.items():
            step = recorder.stored(wanted)
            source = step or recorder.elsewhere(wanted)
            if source is None or source.state not in READABLE or not source.has_result:
                continue
            data = recorder.bodies.plain(recorder.text_of(source, "result"))
            try:
                result = self.decode(data)
            except MISFIT:
                # Written by a program whose type was another: the step is performed again, never
                # guessed at.
                continue
            if self.still is not None and not self.still(result):
                continue
            found[name] = result
            if step is None:
                taken.append((wanted, source))
            else:
                recorder.keep(wanted, step)
        if taken:
            recorder.reuse(taken)
        return found

    def _perform(
        self,
        requests: Mapping[str, StepRequest],
    ) -> dict[str, T]:
        """One effect for one or many steps, recorded before; each group it yields is one
        transaction.
        """
        recorder = self.recorder
        begun = dict(zip(requests, recorder.begin(list(requests.values())), strict=True))
        kind = next(iter(requests.values())).kind
        crash_point(AFTER_INTENT.get(kind, NOWHERE))
        results: dict[str, T] = {}
        since = recorder.clock.monotonic()
        groups: Iterable[Mapping[str, T]] = ()
        try:
            groups = self.effect(tuple(requests))
            for group in groups:
                crash_point(AFTER_EFFECT.get(kind, NOWHERE))
                results |= self._write_group(begun, group, since)
                since = recorder.clock.monotonic()
        except (Stopped, StorageError):
            raise
        except Exception as error:
            took_s = (recorder.clock.monotonic() - since) / max(1, len(begun))
            next_step = recorder.bodies.words(
                error.next_step if isinstance(error, ReenactError) else ""
            )
            failed = {
                **recorder.failure(error),
                "error_next": next_step,
                "state": State.FAILED,
                "final": int(isinstance(error, self.final)),
                "ended_at": recorder.now(),
            }
            with recorder.writing() as writing:
                for step in begun.values():
                    writing.put(
                        step,
                        duration_s=step.duration_s + took_s,
                        **failed,
                    )
            raise
        finally:
            # A generator may hold a pool of processes: it is closed at once, not when somebody
            # forgets it.
            if isinstance(groups, Generator):
                groups.close()
        return results

    def _write_group(
        self,
        begun: dict[str, Step],
        group: Mapping[str, T],
        since: float,
    ) -> dict[str, T]:
        """The values as they will be read, once they are written."""
        if strange := [name for name in group if name not in begun]:
            why = "A result came for a step that was not asked for, or twice"
            raise JournalError(f"{why}. Received: {strange[0]!r}.")
        rows: list[tuple[Step, Body, Cost]] = []
        back: dict[str, T] = {}
        for name, value in group.items():
            body = self.recorder.bodies.body(value)
            try:
                back[name] = self.decode(self.recorder.bodies.plain(body.text))
            except MISFIT as error:
                why = (
                    f"The result of step {begun[name].path} does not come back from the journal as "
                    f"it went"
                )
                instead = "Give the step the type of its result: step(..., returns=TYPE)."
                raise JournalError(
                    f"{why}: {error}.",
                    next_step=instead,
                ) from error
            rows.append(
                (
                    begun[name],
                    body,
                    self.cost(value) if self.cost else Cost(),
                )
            )
        took_s = (self.recorder.clock.monotonic() - since) / max(1, len(rows))
        if rows:
            with self.recorder.writing() as writing:
                for step, body, cost in rows:
                    writing.done(step, body, cost, took_s)
                crash_point("C7")
        for name in group:
            del begun[name]
        return back


class Scope:
    """A place in the tree of a run's steps. Safe to use from several threads."""

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
        self._path = path

    def under(self, name: str, *, attempt: int | None = None) -> Scope:
        """The place below: `run.under("debug", attempt=3).step("analyse", ...)`."""
        return Scope(self._recorder, self.path(name, attempt=attempt))

    @property
    def run_id(self) -> str:
        """Id of the run that this is a place of."""
        return self._recorder.run.id

    def path(
        self,
        name: str,
        *,
        attempt: int | None = None,
        sample: int | None = None,
    ) -> str:
        """The whole path of a step of that name here, for example for a model's request: in
        `paper/method` that of `debug` is `paper/method/debug[3]~1`, the third attempt's first
        sample.
        """
        tail = "" if attempt is None else f"[{attempt}]"
        tail += "" if sample is None else f"~{sample}"
        path = f"{self._path}/{name}{tail}"
        if not PATH.fullmatch(path):
            form = "words of letters, digits and _.:+=@- joined by slashes"
            raise JournalError(f"A step's path is {form}. Received: {path!r}.")
        return path

    def step(
        self,
        name: str,
        effect: Callable[[], T],
        *,
        kind: Kind,
        inputs: object = None,
        returns: type[T] | None = None,
        cost: Callable[[T], Cost] | None = None,
        final: tuple[type[ReenactError], ...] = (),
        attempt: int | None = None,
        sample: int | None = None,
        shared: bool = False,
        still: Callable[[T], bool] | None = None,
    ) -> T:
        """The stored result of this step, or the effect performed once and its result stored.

        `inputs` is everything the result depends on. A failure is recorded and tried again next
        time, unless its type is in `final`: then it is raised again. What is returned has been
        through the journal, so that a first execution sees what a later one will see.

        A stored result is one of this run, left by an execution that was interrupted. A `shared`
        step also takes the result that a finished run has for the same inputs: for answers of a
        model and trainings only, since nothing else stays true by its inputs alone. A stored result
        that `still` rejects counts as not there, and the effect is performed again.
        """
        recorder = self._recorder
        path = self.path(name, attempt=attempt, sample=sample)
        wanted = {
            name: recorder.request(path, kind, 1, inputs, shared=shared),
        }
        once = Steps(
            recorder,
            requests=wanted,
            effect=lambda _: [{name: effect()}],
            decode=decoder(returns),
            cost=cost,
            final=final,
            still=still,
        )
        return once.results()[name]

    def many(
        self,
        inputs: Mapping[str, object],
        effect: GroupEffect[T],
        *,
        kind: Kind = Kind.TRIAL,
        version: int = 1,
        returns: type[T] | None = None,
        shared: bool = False,
        still: Callable[[T], bool] | None = None,
    ) -> dict[str, T]:
        """Many steps of one sort, by name, with few waits for the disk. `effect` gets the names
        that have no result yet and yields results in groups as they come; a group is written in one
        transaction. Names it never yields stay begun and are missing in the answer. `version`
        changes when the steps themselves do; `shared` and `still` are those of `step`.
        """
        ask = partial(
            self._recorder.request,
            kind=kind,
            version=version,
            shared=shared,
        )
        wanted = {name: ask(self.path(name), inputs=given) for name, given in inputs.items()}
        results = Steps(
            self._recorder,
            wanted,
            effect,
            decoder(returns),
            still=still,
        ).results()
        return {name: results[name] for name in inputs if name in results}

    def note(self, name: str, value: object) -> None:
        """Write down a fact that needs no effect: a choice, a figure, a reason."""
        recorder = self._recorder
        wanted = recorder.request(
            self.path(name),
            Kind.NOTE,
            1,
            value,
        )
        with recorder.alone([wanted.key]):
            body = recorder.bodies.body(value)
            known = recorder.stored(wanted)
            if known is not None and known.state is State.DONE:
                return
            with recorder.writing() as writing:
                if known is None:
                    writing.insert(
                        wanted,
                        State.DONE,
                        Body("null", body.artefacts),
                        body.text,
                    )
                else:
                    writing.revive(wanted, known)

    def edit(
        self,
        name: str,
        root: Path,
        files: Mapping[str, bytes | None],
    ) -> None:
        """Give files under `root` new content (none removes): all of them, after a crash the rest
        of them. A file that somebody else changed in between is not overwritten.
        """
        root = root.resolve()
        old = {name: _content(_target(root, name)) for name in files}
        modes = {
            name: 0o644 if old[name] is None else (root / name).stat().st_mode for name in files
        }
        plan = tuple(
            FileEdit(
                name,
                _hash(old[name]),
                _hash(files[name]),
                stat.S_IMODE(modes[name]),
            )
            for name in files
        )
        recorder = self._recorder
        path = self.path(name)
        asked = {
            "root": root,
            "files": files,
        }
        wanted = recorder.request(
            path,
            Kind.EDIT,
            1,
            asked,
            Edit(str(root), plan, old, files),
        )

        def apply(_: tuple[str, ...]) -> list[dict[str, list[str]]]:
            # After a crash the plan is the one that was written down before it.
            begun = recorder.stored(wanted)
            assert begun is not None
            edit = decoder(Edit)(recorder.bodies.plain(recorder.text_of(begun, "inputs")))
            _apply_all(root, edit.plan, files, recorder.run.id)
            return [{path: list(files)}]

        Steps(recorder, {path: wanted}, apply, decoder(list[str])).results()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file of an edit, by hash; none where there is no file."""

    name: str
    before: str | None
    after: str | None
    mode: int


@dataclass(frozen=True, slots=True)
class Edit:
    """What is written down before an edit. The contents are for the reader: secrets in them are
    redacted.
    """

    root: str
    plan: tuple[FileEdit, ...]
    old: Mapping[str, bytes | None]
    new: Mapping[str, bytes | None]


def _apply_all(
    root: Path,
    plan: Iterable[FileEdit],
    files: Mapping[str, bytes | None],
    run_id: str,
) -> None:
    for count, edit in enumerate(plan):
        if count:
            crash_point("C12")
        target = _target(root, edit.name)
        content = files[edit.name]
        now = _hash(_content(target))
        if now == edit.after:
            continue
        if now != edit.before:
            why = f"{target} was changed by somebody else while this run was to change it."
            instead = "Put it back as it was and run the same command, or start over with --fresh."
            raise JournalDiverged(why, next_step=instead)
        if content is None:
            with storage_named(target):
                target.unlink()
                sync_folder(target.parent)
            continue
        make_folder(target.parent)
        # One name a run and file: after a crash the same run writes over its own leftover.
        temporary = target.with_name(f".{named(target.name.encode()).sha256[:12]}.{run_id}.tmp")
        write_whole(target, content, temporary=temporary, mode=edit.mode)


def _content(target: Path) -> bytes | None:
    with storage_named(target):
        return target.read_bytes() if target.exists() else None


def _hash(content: bytes | None) -> str | None:
    return None if content is None else named(content).sha256


def _target(root: Path, name: str) -> Path:
    """The file of that name under root. A model may have chosen the name: links and ways out
    are refused.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\x00" in name or "\\" in name:
        raise InputError(
            f"A file to edit is named relative to its folder and inside it. Received: {name!r}."
        )
    target = root
    for part in parts:
        target = target / part
        if target.is_symlink():
            raise InputError(
                f"{target} is a link; links are not written through. Received: {name!r}."
            )
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is not a plain file. Received: {name!r}.")
    return target
