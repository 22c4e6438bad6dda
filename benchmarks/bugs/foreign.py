"""Bugs of repositories that nobody here wrote: facts alone, code and words are fetched when they
are run.

A repository comes from a folder of mirrors (bare, by owner+name) or is cloned; a report from a
folder of texts (owner+name#number.md) or from its tracker. What cannot be had is named and ends the
run: a smaller table would say more than was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.bugs.cases import BugCase, Hash, Kind, Words
from benchmarks.children import ROOT
from reenact.bug.reproduction import Verdict
from reenact.errors import Inconclusive, InputError

FOLDER = ROOT / "benchmarks" / "cases" / "foreign-bugs"
MANIFEST = FOLDER / "manifest.json"
_INNER = ("", "repo", ".git")
"""Where below a mirror's folder the bare repository may lie."""


@dataclass(frozen=True, slots=True)
class ForeignBug:
    """What is known of one bug: facts, no code and no words of its report."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: Words
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """owner/name, of GitHub."""
    buggy: Hash
    """The parent of the fix."""
    fixed: Hash
    """The commit that closes the issue."""
    issue: Annotated[int, Field(gt=0)]
    """The source of the report's words: the number of the issue."""
    kind: Kind
    shows: Words
    """How the bug makes itself known."""

    @property
    def folder_name(self) -> str:
        return self.repository.replace("/", "+")


def load_foreign(
    names: Sequence[str] = (), mirrors: Path | None = None, reports: Path | None = None
) -> tuple[BugCase, ...]:
    """The bugs of the manifest as cases. Inconclusive names every repository that cannot be had."""
    try:
        listed = TypeAdapter(list[ForeignBug]).validate_python(
            json.loads(MANIFEST.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"The list of foreign bugs cannot be read: {error}.") from error
    unknown = sorted(set(names) - {one.id for one in listed})
    if unknown:
        raise InputError(f"There is no foreign bug {unknown[0]!r}.")
    chosen = [one for one in listed if one.id in names or not names]
    lacking = sorted(_lacking(chosen, mirrors, reports))
    if lacking:
        raise Inconclusive(
            f"These cannot be had: {', '.join(lacking)}.",
            next_step=(
                "--mirrors holds bare repositories as owner+name, --reports texts as "
                "owner+name#N.md."
            ),
        )
    return tuple(_case(one, mirrors, reports) for one in chosen)


def _lacking(
    bugs: Sequence[ForeignBug], mirrors: Path | None, reports: Path | None
) -> Iterator[str]:
    for one in bugs:
        if mirrors is not None and _mirror(one, mirrors) is None:
            yield one.repository
        if reports is not None and not _report(one, reports).is_file():
            yield f"{one.repository}#{one.issue}"


def _mirror(bug: ForeignBug, mirrors: Path) -> Path | None:
    places = (mirrors / bug.folder_name / inner for inner in _INNER)
    return next((place for place in places if (place / "HEAD").is_file()), None)


def _report(bug: ForeignBug, reports: Path) -> Path:
    return reports / f"{bug.folder_name}#{bug.issue}.md"


def _case(bug: ForeignBug, mirrors: Path | None, reports: Path | None) -> BugCase:
    mirror = _mirror(bug, mirrors) if mirrors is not None else None
    return BugCase(
        folder=FOLDER / bug.id,
        id=bug.id,
        title=bug.shows,
        project=bug.repository,
        kind=bug.kind,
        bug=bug.shows,
        fault="other",
        symptom="crash" if bug.kind is Kind.EXPLICIT else "wrong-value",
        buggy=bug.buggy,
        fixed=bug.fixed,
        expected=Verdict.REPRODUCED,
        packages=(),
        imports_from=".",
        seconds=600,
        repository=str(mirror) if mirror is not None else f"https://github.com/{bug.repository}",
        words=str(_report(bug, reports))
        if reports is not None
        else f"{bug.repository}#{bug.issue}",
    )
