"""What the watcher in the box saw of one run: facts, no judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reenact.codegen.runner import ProgramRun
from reenact.errors import ResultRefused
from reenact.sandbox.box import Ending
from reenact.sandbox.files.strict_json import read_json

OUTPUT = 3000
"""Characters of what the script printed that are kept, from the end. They are shown, never believed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback."""

    JSON: ClassVar = ("whose", "file", "line", "function=qualified")

    whose: str
    """project, script or library."""
    file: str
    """Relative to the project for its own frames."""
    line: int
    function: str
    qualified: str
    """The function with its class, where the interpreter knows it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.qualified}"


@dataclass(frozen=True, slots=True)
class RunObservation:
    """One run of a script."""

    ending: Ending
    why: str = ""
    """For endings that are about a limit or the box."""
    ended: str = ""
    """returned, raised or exited; empty when the watcher could not say."""
    classes: tuple[str, ...] = ()
    """Class of the exception and its bases."""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    """Innermost last."""
    blamed: str = ""
    """Whose the innermost frame is that is not a library's."""
    missing: str = ""
    """The module that could not be found."""
    holds: bool | None = None
    """Whether the relation that shows a silent bug holds; none when it was not looked at."""
    saw: str = ""
    number: float | None = None
    """The observed value, when it is a single number."""
    problem: str = ""
    """Why the check could not be computed."""
    network: bool = False
    """Whether it wanted the network, which is not there."""
    stubbed: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    wall_s: float = 0.0

    @property
    def project_frames(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.frames if frame.whose == "project")


def observation_of(run: ProgramRun, word: str, name: str) -> RunObservation:
    """What a run left behind. A result without our word is not the watcher's and counts for nothing."""
    bare = RunObservation(
        ending=Ending(run.ending),
        why=run.why,
        network=run.wanted_network,
        output=run.output[-OUTPUT:],
        wall_s=round(run.wall_s, 2),
    )
    told = _told(run.results.get(name, "").encode(), word)
    return _with(bare, told) if told is not None else bare


def _told(data: bytes, word: str) -> Mapping[str, Any] | None:
    try:
        read = read_json(data)
    except ResultRefused:
        return None
    return read if isinstance(read, dict) and read.get("word") == word else None


def _with(bare: RunObservation, told: Mapping[str, Any]) -> RunObservation:
    check = told.get("check") or {}
    return RunObservation(
        ending=bare.ending,
        ended=str(told["ended"]),
        classes=tuple(map(str, told.get("classes", ()))),
        message=str(told.get("message", "")),
        frames=tuple(
            Frame(str(a), str(b), int(c), str(d), str(e)) for a, b, c, d, e in told.get("frames", ())
        ),
        blamed=str(told.get("blamed", "")),
        missing=str(told.get("missing", "")),
        holds=bool(check["holds"]) if "holds" in check else None,
        saw=str(check.get("saw", "")),
        number=check.get("number"),
        problem=str(check.get("problem", "")),
        network=bare.network,
        stubbed=tuple(map(str, told.get("stubbed", ()))),
        versions={str(name): str(version) for name, version in told.get("versions", {}).items()},
        output=bare.output,
        wall_s=bare.wall_s,
    )
