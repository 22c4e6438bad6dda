"""One prepared environment as it lies in the cache: complete, or not there.

Covered: a cache that somebody else filled. Its record does not decide what boxes are shown: that is the
folder itself, below the cache and not a link, and the installation of the interpreter that was asked just
now. A record that names another installation does not count, and the environment is built again. Not
covered: what the planted packages do, in boxes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from reenact.sandbox.box import MIB, Mount
from reenact.sandbox.environments.python import Interpreter
from reenact.sandbox.monitor.disk import tree_room

_MANIFEST = "reenact-environment.json"
_KEY = re.compile(r"[0-9a-f]{32}")


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


def read_environment(cache: Path, key: str, interpreter: Interpreter) -> Environment | None:
    """The environment of a key that was made for an interpreter, none when there is none."""
    folder = cache / key
    if _KEY.fullmatch(key) is None or folder.is_symlink():
        return None
    try:
        record = json.loads((folder / _MANIFEST).read_text())
        if record["interpreter"] != interpreter.folder:
            return None
        packages = tuple(str(package) for package in record["packages"])
        return Environment(key, folder, packages, int(record["size_bytes"]), interpreter.folder)
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
