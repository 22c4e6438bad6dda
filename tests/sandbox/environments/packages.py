"""Tiny packages made on the spot, so that installing needs no network."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

BACKEND = """
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    import {marker}
    name = "{name}-{version}-py3-none-any.whl"
    info = "{name}-{version}.dist-info"
    with zipfile.ZipFile(folder + "/" + name, "w") as archive:
        archive.writestr("{name}.py", "WORD = 'built in a box'")
        archive.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        archive.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "/RECORD", "")
    return name
"""


def wheel(folder: Path, name: str, version: str = "1.0", requires: tuple[str, ...] = (), **more: str) -> Path:
    """A wheel with one module, a script, and perhaps more files."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print('script of', VERSION)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-run = {name}:main\n",
        **more,
    }
    record = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(file, content)
    return path


def source(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    needs: str = "",
    backend: str = BACKEND,
    marker: str = "os",
) -> Path:
    """A source distribution with a build backend of its own; the backend imports `marker`."""
    path = folder / f"{name}-{version}.tar.gz"
    project = f'[build-system]\nrequires = [{needs}]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": project,
        "backend.py": backend.format(name=name, version=version, marker=marker),
    }
    with tarfile.open(path, "w:gz") as tape:
        for file, content in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{file}")
            member.size = len(content.encode())
            tape.addfile(member, io.BytesIO(content.encode()))
    return path
