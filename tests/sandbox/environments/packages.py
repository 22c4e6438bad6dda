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


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
    **more: str,
) -> Path:
    """A wheel with one module, a script, and perhaps more files."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print('script of', VERSION)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
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
    project = (
        f'[build-system]\nrequires = [{needs}]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
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


def leave(mark: Path, word: str) -> str:
    """One line of Python that leaves a word in a file of the host, where it can."""
    lines = f"try:\n    open({str(mark)!r}, 'a').write({word!r})\nexcept OSError:\n    pass\n"
    return f"import os; exec({lines!r})"


def hostile_wheel(folder: Path, name: str, mark: Path) -> Path:
    """A wheel that leaves a mark whenever an interpreter starts beside it, imports it or runs
    its script.
    """
    return wheel(
        folder,
        name,
        **{
            f"{name}.py": f"{leave(mark, 'import ')}\ndef main():\n    {leave(mark, 'script ')}\n",
            "zz_hostile.pth": f"{leave(mark, 'pth ')}\n",
            f"{name}-1.0.data/scripts/{name}-tool": f"#!python\n{leave(mark, 'tool ')}\n",
        },
    )


def hostile_source(folder: Path, name: str, mark: Path) -> Path:
    """A source distribution whose build leaves a mark in every hook, and whose wheel has a
    hostile .pth.
    """
    pth = f'archive.writestr("zz_hostile.pth", {leave(mark, "pth ") + chr(10)!r})'
    hooks = "\n".join(
        f"def {hook}(*given):\n    {leave(mark, hook)}\n    return []"
        for hook in ("get_requires_for_build_wheel", "prepare_metadata_for_build_wheel")
    )
    record = 'archive.writestr(info + "/RECORD", "")'
    backend = f"{leave(mark, 'backend ')}\n{hooks}\n" + BACKEND.replace(
        record, f"{record}\n        {pth}"
    )
    escaped = backend.replace("{", "{{").replace("}", "}}")
    for field in ("name", "version", "marker"):
        escaped = escaped.replace("{{" + field + "}}", "{" + field + "}")
    return source(folder, name, backend=escaped)
