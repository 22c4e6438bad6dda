"""What the report says was installed, as far as it is a package somebody vouches for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.utils import canonicalize_name

from reenact.bug.report import Installed
from reenact.errors import InputError
from reenact.sandbox.environments.names import Allowed, ProposedBy, Requirement, requirement

NO_PACKAGES = frozenset(
    {"python", "cuda", "cudnn", "os", "ubuntu", "linux", "windows", "macos", "pip", "conda"}
)
NAMES = {
    "pytorch": "torch",
    "tensorflow-gpu": "tensorflow",
    "sklearn": "scikit-learn",
    "opencv": "opencv-python",
}
"""How people call packages that are installed under another name."""


def pinned(
    said: Iterable[Installed], needed: Iterable[Requirement], allowed: Allowed
) -> tuple[tuple[Requirement, ...], tuple[str, ...]]:
    """The versions of the report, and what of it was left aside."""
    names = {one.name for one in needed} | allowed.names
    found: list[Requirement] = []
    notes: list[str] = []
    for one in said:
        plain = canonicalize_name(one.package.strip() or "-")
        name = NAMES.get(plain, plain)
        version = one.version.strip().lstrip("v=")
        if not version or name in NO_PACKAGES:
            continue
        if name not in names:
            notes.append(
                f"The report names {name} {version}, which is on no list; --allow-packages {name} allows it."
            )
            continue
        try:
            found.append(requirement(f"{name}=={_whole(version)}", ProposedBy.DOCUMENT))
        except InputError:
            notes.append(f"The report's version of {name} is none that can be installed: {version!r}.")
    return tuple(found), tuple(notes)


def _whole(version: str) -> str:
    """Who writes `keras 3` or `torch 2.1` means any release of that series, not the one that is called 3."""
    return f"{version}.*" if re.fullmatch(r"\d+(?:\.\d+)?", version) else version
