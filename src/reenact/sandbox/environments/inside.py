"""Runs inside a box, never on the host: says what the build of a source distribution needs, and
builds it.

python environment_inside.py requires SOURCE    writes requires.json, runs nothing of the package
python environment_inside.py wheel SOURCE       writes built.whl and built.json
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

_OLD_WAY = {
    "requires": ["setuptools", "wheel"],
    "build-backend": "setuptools.build_meta:__legacy__",
}


def unpack(source: str) -> Path:
    """The folder of the unpacked source."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            archive.extractall("source")  # noqa: S202 - inside a box
    else:
        with tarfile.open(source) as tape:
            # Older interpreters have no filter; it is a box.
            tape.extraction_filter = getattr(tarfile, "data_filter", None)
            tape.extractall("source")  # noqa: S202 - inside a box
    (folder,) = Path("source").iterdir()
    return folder.absolute()


def build_system(folder: Path) -> dict[str, Any]:
    """How the source wants to be built; the old way when it does not say. Who has read that
    already gives it in a file: older interpreters do not read TOML.
    """
    if (given := Path("system.json")).exists():
        return dict(json.loads(given.read_text()))
    import tomllib

    project = folder / "pyproject.toml"
    stated = {}
    if project.exists():
        stated = tomllib.loads(project.read_text()).get(
            "build-system",
            {},
        )
    if "build-backend" in stated:
        return stated
    return _OLD_WAY | stated


def build(folder: Path) -> str:
    """Build the wheel by the source's own backend; its file name."""
    system = build_system(folder)
    sys.path[:0] = [str(folder / part) for part in system.get("backend-path", [])]
    module, _, attribute = system["build-backend"].partition(":")
    backend = importlib.import_module(module)
    for name in filter(None, attribute.split(".")):
        backend = getattr(backend, name)
    work = Path.cwd()
    os.chdir(folder)
    name = backend.build_wheel(str(work / "wheels"))
    os.chdir(work)
    return str(name)


def main(what: str, source: str) -> None:
    """See the file's first lines."""
    folder = unpack(source)
    if what == "requires":
        Path("requires.json").write_text(json.dumps(build_system(folder)["requires"]))
        return
    Path("wheels").mkdir()
    name = build(folder)
    shutil.move(f"wheels/{name}", "built.whl")
    Path("built.json").write_text(json.dumps(name))


if __name__ == "__main__":
    main(*sys.argv[1:3])
