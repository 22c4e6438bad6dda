"""Which sandbox to use: the best that works here, or the one asked for, never a silent lesser
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reenact.errors import InputError, SandboxUnavailable, StorageError
from reenact.settings import SANDBOXES

if TYPE_CHECKING:
    from reenact.sandbox.box import Sandbox

NAMES = SANDBOXES[1:]
"""What a user may ask for."""

BY_ITSELF = ("bubblewrap", "container")
"""Tiers that are used without being named, best first: built to pass every hostile and benign
program. sandlock lets a program change modes of the user's files, and gives it no shared memory, no
loopback.
"""


@dataclass(frozen=True, slots=True)
class TierReport:
    """What there is to know about one tier on this machine."""

    name: str
    works: bool
    missing: str
    """What is missing and how to get it; empty when it works."""
    does_not_stop: tuple[str, ...]
    in_force: tuple[str, ...]
    """Protections that depend on the machine and are on here."""
    chosen: bool
    """Whether this is the tier that is used when none is named."""


WITH_GPU = "bubblewrap-gpu"
"""The tier that shows the GPU: used only where that was asked for."""


def choose_with_gpu(name: str | None = None, *, trust_code: bool = False) -> Sandbox:
    """The sandbox whose programs may use the GPU of this machine; never one without it."""
    if name == "none":
        return choose(name, trust_code=trust_code)
    if name not in (None, "bubblewrap"):
        fix = "Leave --sandbox away, or use --sandbox none --trust-code."
        raise InputError(
            f"Only bubblewrap can show the GPU. Received: sandbox={name!r}", next_step=fix
        )
    sandbox = make_tier(WITH_GPU, trust_code=trust_code)
    if missing := sandbox.missing():
        fix = "Leave --gpu away: what needs a GPU is then undecided here."
        raise SandboxUnavailable(f"The GPU was asked for. {missing}", next_step=fix)
    return sandbox


def choose(name: str | None = None, *, trust_code: bool = False) -> Sandbox:
    """The sandbox to use. SandboxUnavailable says what is missing and the next command.

    StorageError when no box could be made, whichever the sandbox: a full disk is not a reason to trust
    code.
    """
    from reenact.sandbox.files.folder import space_problem
    from reenact.sandbox.watcher import HOST_RESERVE_BYTES

    if trouble := space_problem(HOST_RESERVE_BYTES):
        fix = "Free some space there, or set TMPDIR to a folder of yours with free space."
        raise StorageError(f"No program can be run in a sandbox: {trouble}.", next_step=fix)
    if name is not None and name not in NAMES:
        fix = f"Use one of: {', '.join(NAMES)}."
        raise InputError(
            f"There is no sandbox of that name. Received: sandbox={name!r}",
            next_step=fix,
        )
    reasons: list[str] = []
    for candidate in BY_ITSELF if name is None else (name,):
        sandbox = make_tier(candidate, trust_code=trust_code)
        missing = sandbox.missing()
        if not missing:
            return sandbox
        reasons.append(missing)
    if name is not None:
        says = f"The sandbox {name} was asked for and does not work here. {reasons[0]}"
        raise SandboxUnavailable(says, next_step="reenact doctor shows what each sandbox needs.")
    if trust_code:
        return make_tier("none", trust_code=True)
    fix = "apt install bubblewrap; or name the weaker --sandbox sandlock; or add --trust-code."
    raise SandboxUnavailable(
        f"No sandbox works on this machine. {' '.join(reasons)}", next_step=fix
    )


def make_tier(name: str, *, trust_code: bool) -> Sandbox:
    """The tier of that name, whether or not it works here."""
    from reenact.sandbox.tiers.bubblewrap import Bubblewrap
    from reenact.sandbox.tiers.bubblewrap_gpu import BubblewrapGpu
    from reenact.sandbox.tiers.container import Container
    from reenact.sandbox.tiers.plain import NoSandbox
    from reenact.sandbox.tiers.sandlock import Sandlock

    if name == "none":
        return NoSandbox(trust=trust_code)
    known = {
        "bubblewrap": Bubblewrap,
        WITH_GPU: BubblewrapGpu,
        "sandlock": Sandlock,
        "container": Container,
    }
    return known[name]() if name in known else Container(name)


def notice(sandbox: Sandbox) -> str:
    """What the user must know before this sandbox is used; empty for the default one."""
    if sandbox.name == "bubblewrap":
        return ""
    if sandbox.name == WITH_GPU:
        holes = sandbox.does_not_stop()
        return f"Programs see the GPU of this machine. Not stopped then: {'; '.join(holes)}."
    default = (
        make_tier("bubblewrap", trust_code=False).missing()
        or "bubblewrap works here and stops more."
    )
    return (
        f"Programs run in the sandbox '{sandbox.name}', not in bubblewrap. "
        f"It does not stop: {'; '.join(sandbox.does_not_stop())}. {default}"
    )


def describe() -> tuple[TierReport, ...]:
    """Every tier on this machine, the best first, for `reenact doctor`."""
    from reenact.sandbox.cgroup import find_place
    from reenact.sandbox.seccomp import box_filter

    reports: list[TierReport] = []
    taken = False
    for name in ("bubblewrap", WITH_GPU, "container", "sandlock", "none"):
        sandbox = make_tier(name, trust_code=True)
        missing = sandbox.missing()
        chosen = name in BY_ITSELF and not missing and not taken
        taken |= chosen
        in_force: list[str] = []
        if not missing and name in ("bubblewrap", WITH_GPU) and box_filter() is not None:
            in_force.append("seccomp filter")
        place = None
        if not missing and name != "container":
            place = find_place()
        if place is not None:
            in_force.append(str(place))
        reports.append(
            TierReport(
                name,
                works=not missing,
                missing=missing,
                does_not_stop=sandbox.does_not_stop(),
                in_force=tuple(in_force),
                chosen=chosen,
            )
        )
    return tuple(reports)
