"""Builds a wheel from a source distribution: unopened on the host, opened and built offline in a box.

Covered: nothing of the source runs or is unpacked on the host, the wheel must be what was asked for, what
the build itself needs comes from wheels and needs somebody's word like any other name. Not covered: what
the built package does later, in a box.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from reenact.errors import InputError, SandboxUnavailable
from reenact.sandbox.box import MIB, BoxResult, Command, Limits, Mount, Sandbox
from reenact.sandbox.environments.download import MOST_BYTES, Source
from reenact.sandbox.environments.names import ProposedBy, Requirement, requirement
from reenact.sandbox.files.strict_json import read_json
from reenact.types import Stop

_LIMITS = Limits(
    wall_s=900,
    memory_bytes=4096 * MIB,
    disk_bytes=2048 * MIB,
    files=100_000,
    result_bytes=MOST_BYTES,
)
_INSIDE = "inside.py"

PrepareBuild = Callable[[tuple[Requirement, ...]], tuple[str, tuple[Mount, ...]]]
"""Prepares an environment with what a build needs: the path of its interpreter and its mounts."""


def build_wheel(
    source: Source, content: bytes, box: Sandbox | None, prepare: PrepareBuild, stop: Stop | None
) -> tuple[str, bytes]:
    """The file name and the bytes of the wheel that a source distribution makes."""
    if box is None:
        raise SandboxUnavailable(
            f"{source.name} has no wheel, and a source distribution is built in a sandbox alone.",
            next_step="reenact doctor",
        )
    asked = _run(box, source, content, ("python3", ()), ("requires", "requires.json"), stop)
    needed = _requirements(source, asked.results["requires.json"])
    python, mounts = prepare(needed)
    built = _run(box, source, content, (python, mounts), ("wheel", "built.json", "built.whl"), stop)
    name = read_json(built.results["built.json"])
    return _checked(source, name), built.results["built.whl"]


def _run(
    box: Sandbox,
    source: Source,
    content: bytes,
    interpreter: tuple[str, tuple[Mount, ...]],
    what: tuple[str, ...],
    stop: Stop | None,
) -> BoxResult:
    python, mounts = interpreter
    suffix = ".zip" if source.file.endswith(".zip") else ".tar.gz"
    result = box.run(
        Command(
            argv=(python, _INSIDE, what[0], f"source{suffix}"),
            files={_INSIDE: Path(__file__).with_name(_INSIDE).read_bytes(), f"source{suffix}": content},
            mounts=mounts,
            collect=what[1:],
        ),
        _LIMITS,
        stop=stop,
    )
    if not result.ok or set(result.results) != set(what[1:]):
        last = " ".join(result.output.strip().splitlines()[-3:])[-400:]
        raise InputError(
            f"The package {source.name} {source.version} has no wheel and cannot be built from source: "
            f"{result.ending} {result.why} {last}".strip(),
            next_step="Ask for another version of it, or give a wheel in a folder named by PIP_FIND_LINKS.",
        )
    return result


def _requirements(source: Source, said: bytes) -> tuple[Requirement, ...]:
    listed = read_json(said)
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"The package {source.name} does not say properly what its build needs.")
    return tuple(requirement(str(item), ProposedBy.DOCUMENT) for item in listed)


def _checked(source: Source, file: object) -> str:
    """The wheel's file name, when it is a plain one and that of the package that was asked for."""
    try:
        name, version, _, _ = parse_wheel_filename(str(file))
    except InvalidWheelFilename as error:
        raise InputError(f"The build of {source.name} made no wheel, but {file!r}.") from error
    if name != source.name or version != source.version or "/" in str(file):
        raise InputError(f"The build of {source.name} {source.version} made a wheel of {name} {version}.")
    return str(file)
