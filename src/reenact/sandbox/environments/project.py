"""Builds a whole project in a box, for the modules that only a build makes: compiled ones, versions.

Covered: nothing of the project runs or is unpacked on the host but what its wheel holds, as bytes;
without a network; a wheel of the same content is built once. Not covered: what the built modules do
later, in boxes.
"""

import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from reenact.errors import InputError, SandboxUnavailable
from reenact.host_program import find_program
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import MIB, Command, Limits, Mount, Sandbox
from reenact.sandbox.environments.stored import hash_of, locked
from reenact.types import Stop, tell_nobody

COMPILERS = ("cc", "gcc", "clang")
_INSIDE = "inside.py"
_SYSTEM = "system.json"
_SOURCE = "source.tar"
_LIMITS = Limits(
    wall_s=1800,
    memory_bytes=8192 * MIB,
    disk_bytes=4096 * MIB,
    files=200_000,
    result_bytes=512 * MIB,
)
_VARIABLES = {
    "SETUPTOOLS_SCM_PRETEND_VERSION": "0",
    "FORCE_ONLY_CPU": "1",
    "FORCE_CUDA": "0",
    "MAX_JOBS": "2",
}
"""No history is there to read a version from, and no GPU to build for."""
OLD_WAY: dict[str, object] = {
    "requires": ["setuptools", "wheel"],
    "build-backend": "setuptools.build_meta:__legacy__",
}
"""How a project is built that does not say how."""


def build_project(
    folder: Path,
    files: Iterable[PurePosixPath],
    *,
    system: Mapping[str, object],
    python: str,
    mounts: Sequence[Mount],
    box: Sandbox | None,
    cache: Path,
    key: str,
    stop: Stop | None,
) -> bytes:
    """The wheel of a project. `key` names its content and what it is built with. InputError where
    it cannot be built.
    """
    if box is None:
        raise SandboxUnavailable("A project is built in a sandbox alone.")
    if not any(find_program(name) for name in COMPILERS):
        fix = "apt install build-essential"
        raise InputError("There is no C compiler on this machine.", next_step=fix)
    place = cache / "wheels" / f"{hash_of('project', key)[:32]}.whl"
    if place.is_file() and not place.is_symlink():
        return place.read_bytes()
    command = Command(
        (python, _INSIDE, "wheel", _SOURCE),
        files={
            _INSIDE: Path(__file__).with_name(_INSIDE).read_bytes(),
            _SYSTEM: json.dumps(dict(system)).encode(),
            _SOURCE: _packed(folder, files),
        },
        mounts=tuple(mounts),
        environment=_VARIABLES,
        collect=("built.whl",),
    )
    result = run_again_if_killed(box, command, _LIMITS, stop=stop)
    wheel = result.results.get("built.whl")
    if not result.ok or wheel is None:
        last = " ".join(result.output.strip().splitlines()[-4:])[-400:]
        raise InputError(f"The build ended with: {result.ending} {result.why} {last}".strip())
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked(place.with_suffix(".lock"), tell_nobody, stop):
        # Of one name: what a killed process left is written over.
        half = place.with_suffix(".half")
        half.write_bytes(wheel)
        half.replace(place)
    return wheel


def _packed(folder: Path, files: Iterable[PurePosixPath]) -> bytes:
    """An archive of the files, below one folder, as source distributions have it."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for path in files:
            source = folder / path
            if source.is_symlink() or not source.is_file():
                continue
            entry = tarfile.TarInfo(f"project-0/{path.as_posix()}")
            entry.size = source.stat().st_size
            entry.mode = 0o755
            with source.open("rb") as content:
                archive.addfile(entry, content)
    return held.getvalue()
