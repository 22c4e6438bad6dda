"""Runs one of our own parsing scripts inside the sandbox, with this interpreter's packages."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, cast

from reenact.errors import ResultRefused, UnreadablePaper
from reenact.intake.papers.pandoc import failed
from reenact.sandbox.box import MIB, BoxResult, Command, Limits, Mount, Sandbox
from reenact.sandbox.files.strict_json import read_json

LIMITS = Limits(
    wall_s=180.0,
    memory_bytes=1536 * MIB,
    disk_bytes=256 * MIB,
    files=256,
    result_bytes=64 * MIB,
    processes=64,
)
DEEPEST = 300


def run_script(
    script: str,
    *words: str,
    box: Sandbox,
    name: str,
    stdin: bytes = b"",
    given: Mapping[str, bytes] | None = None,
    mounts: tuple[Mount, ...] = (),
    environment: Mapping[str, str] | None = None,
    collect: tuple[str, ...],
    limits: Limits = LIMITS,
) -> BoxResult:
    """What the script left. UnreadablePaper, with what it said, when it did not end well."""
    source = files("reenact.intake.papers.inside").joinpath(f"{script}.py").read_bytes()
    command = Command(
        argv=(sys.executable, "-s", "-B", f"{script}.py", *words),
        files={f"{script}.py": source, **(given or {})},
        mounts=mounts,
        environment={"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"} if environment is None else environment,
        stdin=stdin,
        collect=collect,
    )
    result = box.run(command, limits)
    if not result.ok:
        raise failed(result, "The reader", name, limits)
    return result


def result_json(result: BoxResult, file: str, name: str) -> Mapping[str, Any]:
    """The JSON object in one of the files that a script left."""
    try:
        told = read_json(result.results.get(file, b""), most_bytes=LIMITS.result_bytes, deepest=DEEPEST)
    except ResultRefused as error:
        raise UnreadablePaper(f"The paper cannot be read: {error.sentence} Received: {name}") from error
    if not isinstance(told, Mapping):
        raise UnreadablePaper(f"The paper cannot be read. Received: {name}")
    return cast("Mapping[str, Any]", told)
