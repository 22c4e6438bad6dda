"""Finds a source distribution, downloads it unopened, and has a wheel built of it offline in a box.

Where it lies is read from pip's own log of what it passed over, so the user's indexes, folders,
certificates and proxies are the ones that count, and nothing is built. Covered: size, checksum,
https or a file alone, the date before which it must have been uploaded. Not covered: indexes that
ask for a password for the file itself.

Covered of the build: nothing of the source runs or is unpacked on the host, the wheel must be what
was asked for, what the build itself needs comes from wheels and needs somebody's word like any
other name. Not covered: what the built package does later, in a box.
"""

import hashlib
import importlib.util
import json
import os
import re
import ssl
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

from packaging import utils
from packaging.requirements import Requirement as Parsed
from packaging.version import Version

from reenact.errors import InputError, MissingPart, ReenactError, SandboxUnavailable
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import MIB, Command, Limits, Mount, Sandbox
from reenact.sandbox.environments.install import pip_alone, run_installer
from reenact.sandbox.environments.names import ProposedBy, Requirement, requirement
from reenact.sandbox.files.results import read_json
from reenact.types import Stop

MOST_BYTES = 256 * MIB
_LINK = re.compile(
    r"No sources permitted for [^:]+: (\S+?)(?:#sha256=(\w+))?(?: \(from (\S+?)\))?(?:\s|$)"
)
_PAGE_TYPE = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True, slots=True)
class Source:
    """One source distribution and where it lies."""

    name: str
    version: Version
    file: str
    address: str
    sha256: str
    page: str
    """The index page that names it, empty for a folder."""


def find_source(
    name: str,
    asked: str,
    exclude_newer: date | None,
    stop: Stop | None,
) -> Source:
    """The newest source distribution of a package that fits what was asked. InputError when
    there is none.
    """
    if importlib.util.find_spec("pip") is None:
        says = f"{name} has no wheel, and to find its source distribution pip is needed."
        raise MissingPart(says, next_step="python -m ensurepip")
    with tempfile.TemporaryDirectory() as nowhere:
        argv = [
            *pip_alone(sys.executable),
            "download",
            "-vv",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]
        printed, complaint = run_installer(
            [*argv, "--dest", nowhere, name],
            stop=stop,
        )
    passed_over = map(read_link, (printed + complaint).splitlines())
    found = [source for source in passed_over if source is not None and source.name == name]
    fitting = [source for source in found if Parsed(asked).specifier.contains(source.version)]
    if exclude_newer is not None:
        fitting = [source for source in fitting if _uploaded_before(source, exclude_newer)]
    if not fitting:
        unfit = f"none of its {len(found)} source distributions fits {asked!r}"
        why = unfit if found else "nor a source distribution"
        raise InputError(
            f"The package {name} cannot be installed: it has no wheel for this interpreter, {why}.",
            next_step="Check the name and the version; it may be made up, or need another Python.",
        )
    return max(fitting, key=lambda source: source.version)


def read_link(line: str) -> Source | None:
    """The source distribution that a line of pip's log passes over, none in other lines."""
    link = _LINK.search(line)
    if link is None:
        return None
    file = urllib.parse.unquote(link[1].rpartition("/")[2])
    try:
        name, version = utils.parse_sdist_filename(file)
    except utils.InvalidSdistFilename:
        return None
    return Source(
        name,
        version=version,
        file=file,
        address=link[1],
        sha256=link[2] or "",
        page=link[3] or "",
    )


def _uploaded_before(source: Source, day: date) -> bool:
    """Whether the index says that a file was there on a day. A folder of the user's has no
    dates.
    """
    if not source.page:
        return True
    uploaded = upload_time(
        _fetch(source.page, accept=_PAGE_TYPE),
        source.file,
    )
    return uploaded is not None and uploaded.date() <= day


def upload_time(page: bytes, file: str) -> datetime | None:
    """When a file was uploaded, by the words of an index page in JSON or HTML; none when it is
    silent.
    """
    text = page.decode(errors="replace")
    if text.lstrip().startswith("{"):
        listed = json.loads(text)["files"]
        stated = next(
            (item.get("upload-time") for item in listed if item["filename"] == file),
            None,
        )
    else:
        link = re.search(
            rf'<a [^>]*/{re.escape(file)}[#"][^>]*>',
            text,
        )
        found = None
        if link:
            found = re.search(r'data-upload-time="([^"]+)"', link[0])
        stated = found[1] if found else None
    return datetime.fromisoformat(stated) if stated else None


def download(source: Source) -> bytes:
    """The bytes of a source distribution, with the checksum that the index gave."""
    content = _fetch(source.address)
    if source.sha256 and hashlib.sha256(content).hexdigest() != source.sha256:
        raise InputError(
            f"The file {source.file} is not what the index says it is: its checksum differs."
        )
    return content


def _fetch(address: str, accept: str = "*/*") -> bytes:
    scheme = urllib.parse.urlsplit(address).scheme
    if scheme not in ("https", "file"):
        raise InputError(f"A source distribution is downloaded by https alone, not by {scheme}.")
    asked = urllib.request.Request(address, headers={"Accept": accept})  # noqa: S310 - the scheme is checked above
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)
    try:
        with urllib.request.urlopen(asked, timeout=60, context=context) as answer:  # noqa: S310 - as above
            content: bytes = answer.read(MOST_BYTES + 1)
    except (urllib.error.URLError, OSError) as error:
        fix = "Try again later."
        raise ReenactError("A source distribution cannot be downloaded.", next_step=fix) from error
    if len(content) > MOST_BYTES:
        raise InputError(f"A source distribution has more than {MOST_BYTES} bytes.")
    return content


_LIMITS = Limits(
    wall_s=900,
    disk_bytes=2048 * MIB,
    files=100_000,
    result_bytes=MOST_BYTES,
)
_INSIDE = "inside.py"

PrepareBuild = Callable[[tuple[Requirement, ...]], tuple[str, tuple[Mount, ...]]]
"""Prepares an environment with what a build needs: the path of its interpreter and its mounts."""


def build_wheel(
    source: Source,
    content: bytes,
    box: Sandbox | None,
    prepare: PrepareBuild,
    stop: Stop | None,
) -> tuple[str, bytes]:
    """The file name, proven to be that of the package that was asked for, and the bytes of the
    wheel that a source distribution makes.
    """
    if box is None:
        says = f"{source.name} has no wheel, and a source distribution is built in a sandbox alone."
        raise SandboxUnavailable(says, next_step="reenact doctor")
    archive = "source.zip" if source.file.endswith(".zip") else "source.tar.gz"
    files = {
        _INSIDE: Path(__file__).with_name(_INSIDE).read_bytes(),
        archive: content,
    }
    command = Command(
        ("python3", _INSIDE, "requires", archive),
        files=files,
        collect=("requires.json",),
    )
    listed = read_json(_collected(box, source, command, stop)["requires.json"])
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"The package {source.name} does not say properly what its build needs.")
    python, mounts = prepare(tuple(requirement(str(item), ProposedBy.DOCUMENT) for item in listed))
    argv = (python, _INSIDE, "wheel", archive)
    collect = ("built.json", "built.whl")
    built = _collected(
        box,
        source,
        replace(
            command,
            argv=argv,
            mounts=mounts,
            collect=collect,
        ),
        stop,
    )
    file = str(read_json(built["built.json"]))
    try:
        name, version, _, _ = utils.parse_wheel_filename(file)
    except utils.InvalidWheelFilename as error:
        raise InputError(f"The build of {source.name} made no wheel, but {file!r}.") from error
    if name != source.name or version != source.version or "/" in file:
        raise InputError(
            f"The build of {source.name} {source.version} made a wheel of {name} {version}."
        )
    return file, built["built.whl"]


def _collected(
    box: Sandbox,
    source: Source,
    command: Command,
    stop: Stop | None,
) -> Mapping[str, bytes]:
    """All that a run in the box was to leave."""
    result = run_again_if_killed(box, command, _LIMITS, stop=stop)
    if not result.ok or set(result.results) != set(command.collect):
        last = " ".join(result.output.strip().splitlines()[-3:])[-400:]
        raise InputError(
            f"The package {source.name} {source.version} has no wheel and cannot be built from "
            f"source: {result.ending} {result.why} {last}".strip(),
            next_step=(
                "Ask for another version of it, or give a wheel in a folder named by "
                "PIP_FIND_LINKS."
            ),
        )
    return result.results
