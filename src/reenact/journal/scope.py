"""What a pipeline writes with: a place in the tree of steps, and the verbs step, many, note, edit, under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from reenact.errors import ReenactError
from reenact.journal.codec import Codec, codec_for
from reenact.journal.edits import edit_files
from reenact.journal.keys import join
from reenact.journal.perform import GroupEffect, kept, perform_many, perform_one, raise_final
from reenact.journal.recorder import Recorder
from reenact.journal.records import Artefact, Cost, Kind

T = TypeVar("T")


class Scope:
    """A place in the tree of a run's steps. Safe to use from several threads."""

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
        self._path = path

    def under(self, name: str, *, attempt: int | None = None, sample: int | None = None) -> Scope:
        """The place below: `run.under("debug", attempt=3).step("analyse", ...)`."""
        return Scope(self._recorder, self.path(name, attempt=attempt, sample=sample))

    @property
    def run_id(self) -> str:
        """Id of the run that this is a place of."""
        return self._recorder.run.id

    def path(self, name: str, *, attempt: int | None = None, sample: int | None = None) -> str:
        """The whole path of a step of that name here, for example for a model's request."""
        return join(self._path, name, attempt, sample)

    def step(
        self,
        name: str,
        effect: Callable[[], T],
        *,
        kind: Kind,
        inputs: object = None,
        version: int = 1,
        returns: type[T] | Codec[T] | None = None,
        cost: Callable[[T], Cost] | None = None,
        failure_cost: Callable[[Exception], Cost] | None = None,
        final: tuple[type[ReenactError], ...] = (),
        attempt: int | None = None,
        sample: int | None = None,
        shared: bool = False,
        still: Callable[[T], bool] | None = None,
    ) -> T:
        """The stored result of this step, or the effect performed once and its result stored.

        `inputs` is everything the result depends on; `version` changes when the step itself does. A failure
        is recorded and tried again next time, unless its type is in `final`: then it is raised again. What
        is returned has been through the journal, so that a first execution sees what a later one will see.

        A stored result is one of this run, left by an execution that was interrupted. A `shared` step also
        takes the result that a finished run has for the same inputs: for answers of a model and trainings
        only, since nothing else stays true by its inputs alone. A stored result that `still` rejects counts
        as not there, and the effect is performed again.
        """
        codec = codec_for(returns)
        path = self.path(name, attempt=attempt, sample=sample)
        wanted = self._recorder.request(path, kind, version, inputs, shared=shared)
        with self._recorder.alone([wanted.key]):
            raise_final(self._recorder, wanted, final)
            found = kept(self._recorder, {name: wanted}, codec, still)
            if found:
                return found[name]
            return perform_one(
                self._recorder, wanted, effect, codec, cost=cost, failure_cost=failure_cost, final=final
            )

    def many(
        self,
        inputs: Mapping[str, object],
        effect: GroupEffect[T],
        *,
        kind: Kind = Kind.TRIAL,
        version: int = 1,
        returns: type[T] | Codec[T] | None = None,
        cost: Callable[[T], Cost] | None = None,
        shared: bool = False,
        still: Callable[[T], bool] | None = None,
    ) -> dict[str, T]:
        """Many steps of one sort, by name, with few waits for the disk.

        `effect` gets the names that have no result yet and yields results in groups as they come; a group
        is written in one transaction. Names it never yields stay begun and are missing in the answer.
        `shared` and `still` are those of `step`.
        """
        codec = codec_for(returns)
        ask = self._recorder.request
        requests = {
            name: ask(self.path(name), kind, version, given, shared=shared) for name, given in inputs.items()
        }
        with self._recorder.alone([wanted.key for wanted in requests.values()]):
            results = kept(self._recorder, requests, codec, still)
            missing = {name: wanted for name, wanted in requests.items() if name not in results}
            if missing:
                results |= perform_many(self._recorder, missing, effect, codec, cost)
        return {name: results[name] for name in inputs if name in results}

    def note(self, name: str, value: object, *, attempt: int | None = None) -> None:
        """Write down a fact that needs no effect: a choice, a figure, a reason."""
        wanted = self._recorder.request(self.path(name, attempt=attempt), Kind.NOTE, 1, value)
        with self._recorder.alone([wanted.key]):
            self._recorder.note(wanted, self._recorder.bodies.body(value))

    def edit(self, name: str, root: Path, files: Mapping[str, bytes | None]) -> None:
        """Give files under `root` new content (none removes): all of them, after a crash the rest of them.

        A file that somebody else changed in between is not overwritten.
        """
        edit_files(self._recorder, self.path(name), root, files)

    def write(self, name: str, path: Path, data: bytes) -> Path:
        """Write one result file, such as a report, without secrets: whole or not at all."""
        shown = self._recorder.bodies.shown(data)
        edit_files(self._recorder, self.path(name), path.parent, {path.name: shown}, crash_at="C16")
        return path

    def artefact(self, data: bytes) -> Artefact:
        """Keep bytes beside the journal. Name the artefact in a step's inputs or result, so that it stays."""
        return self._recorder.bodies.keep(data)

    def read(self, artefact: Artefact) -> bytes:
        """The bytes of an artefact, proven to be those that were kept."""
        return self._recorder.bodies.artefacts.read(artefact.sha256)
