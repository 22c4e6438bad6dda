"""One prepared environment as it lies in the cache: complete, or not there."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from reenact.sandbox.box import MIB, Mount
from reenact.sandbox.environments.python import Interpreter
from reenact.sandbox.watch.disk import tree_room

_MANIFEST = "reenact-environment.json"


@dataclass(frozen=True, slots=True)
class Environment:
    """A complete virtual environment and how to use it in a box."""

    key: str
    folder: Path
    packages: tuple[str, ...]
    """Everything installed, as NAME==VERSION."""
    size_bytes: int
    interpreter: str
    """The folder of the Python installation behind it."""

    @property
    def python(self) -> str:
        """The interpreter to name in a Command."""
        return str(self.folder / "bin" / "python")

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What a Command must mount. Targets equal sources, for tiers that cannot show a folder elsewhere."""
        shown = [Mount(self.folder, str(self.folder))]
        if not Path(self.interpreter).is_relative_to("/usr"):
            shown.append(Mount(Path(self.interpreter), self.interpreter))
        return tuple(shown)


def read_environment(folder: Path) -> Environment | None:
    """The environment in a folder, none when there is none."""
    try:
        said = json.loads((folder / _MANIFEST).read_text())
        return Environment(
            folder.name, folder, tuple(said["packages"]), int(said["size_bytes"]), str(said["interpreter"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def finish(half: Path, final: Path, pins: tuple[str, ...], interpreter: Interpreter) -> None:
    """Make a built environment fit for its final place, and write down what it is."""
    for script in (half / "bin").iterdir():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > MIB:
            continue
        text = script.read_bytes()
        if str(half).encode() in text:
            script.write_bytes(text.replace(str(half).encode(), str(final).encode()))
    said = {
        "packages": pins,
        "size_bytes": tree_room(half, sys.maxsize).bytes,
        "interpreter": interpreter.folder,
    }
    (half / _MANIFEST).write_text(json.dumps(said))


def hash_of(*parts: object) -> str:
    """One name for all the parts together."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
