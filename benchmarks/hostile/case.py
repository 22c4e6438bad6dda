"""One program of the hostile suite or one benign twin: a file whose head says what it is; read,
never imported.

The head is a block of comments, `# /// case` to `# ///`, holding TOML: id, title, what it tries (or
does), the limits of its box, the endings it may have, what proves an escape, what on the host is
watched, what it needs.
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.sandbox.box import MIB, Ending, Limits

_CASES = Path(__file__).parents[1] / "cases"
_DEFAULT = Limits(
    wall_s=15,
    memory_bytes=1024 * MIB,
    disk_bytes=128 * MIB,
    files=5000,
    processes=128,
    output_bytes=4 * MIB,
    result_bytes=4 * MIB,
)


@dataclass(frozen=True, slots=True)
class Case:
    """One program, the box it runs in and what must come of it."""

    id: str
    title: str
    tries: str
    path: Path
    limits: Limits
    endings: tuple[Ending, ...]
    hostile: bool = True
    proof: str = ""
    """What shows an escape or the lack of one, in words."""
    watches: tuple[str, ...] = ()
    """What of the host is at stake, in words; the judge looks at everything every time."""
    exit_code: int | None = None
    why: str = ""
    """A word that must stand in the result's `why`."""
    collect: tuple[str, ...] = ()
    host_step: str = ""
    """What the host does with the collected files afterwards: git, json or array."""
    needs: tuple[str, ...] = ()
    """What the machine must have: torch, compiler, or the name of a processor."""
    graders: bool = False
    workspace: bool = False
    terminal: bool = False
    """The supervisor has a terminal that can be attacked."""
    runs: int = 1
    slow: bool = False
    unconfined: str = ""
    """`escapes` when it shows its escape on any machine without a box, else why it is not run
    so.
    """

    @property
    def number(self) -> str:
        """The number in the published list, without the letter of the variant."""
        return self.id[:3]


@functools.cache
def hostile_cases() -> tuple[Case, ...]:
    """All hostile programs, by id."""
    return _load("hostile")


@functools.cache
def benign_cases() -> tuple[Case, ...]:
    """All benign twins, by id."""
    return _load("benign")


def _load(folder: str) -> tuple[Case, ...]:
    cases = tuple(read_case(path) for path in sorted((_CASES / folder).glob("*.py")))
    doubled = {case.id for case in cases if sum(other.id == case.id for other in cases) > 1}
    if doubled:
        raise ValueError(f"two programs have the same id: {sorted(doubled)}")
    return cases


def read_case(path: Path) -> Case:
    """The case in a file; ValueError names the file when its head is wrong."""
    try:
        return _case(path, tomllib.loads(_head(path.read_text(encoding="utf-8"))))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def _head(text: str) -> str:
    lines = text.splitlines()
    if not lines or lines[0] != "# /// case" or "# ///" not in lines:
        raise ValueError("the file does not begin with a block of `# /// case` to `# ///`")
    return "\n".join(
        line.removeprefix("#").removeprefix(" ") for line in lines[1 : lines.index("# ///")]
    )


def _case(path: Path, head: dict[str, Any]) -> Case:
    hostile = "tries" in head
    tries = head.pop("tries") if hostile else head.pop("does")
    limits = _limits(head.pop("limits"))
    endings = tuple(Ending(name) for name in head.pop("endings"))
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in head.items()
    }
    if not endings or (hostile and not values.get("proof")):
        raise ValueError(
            "a case names the endings it may have, a hostile one also what proves its escape"
        )
    if not path.name.startswith(f"{values['id']}_"):
        raise ValueError(f"the file's name does not begin with its id {values['id']}")
    return Case(
        path=path,
        tries=tries,
        limits=limits,
        endings=endings,
        hostile=hostile,
        **values,
    )


def _limits(given: Mapping[str, float]) -> Limits:
    """Limits as a head writes them: bytes are given in MiB, what is not given is the suite's
    default.
    """
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if name.endswith("_mib"):
            changes[name.removesuffix("_mib") + "_bytes"] = int(value * MIB)
        else:
            changes[name] = value
    return dataclasses.replace(_DEFAULT, **changes)
