"""The suspected cause by the difference between two revisions: delta debugging over its changes
(Zeller & Hildebrandt 2002) finds a smallest set that flips the proven script.

A set that cannot be run, or that fails otherwise, does not flip it. First whole files are left out,
then single changes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from reenact.bug.cause.edits import Change, WorkingCopy, changed, changes_between, diff_of
from reenact.bug.repro.judged import Judgement
from reenact.bug.reproduction import SuspectedCause
from reenact.bug.script_runner import Revision
from reenact.trials.ddmin import minimise as fewest

MOST_RUNS = 60
"""Runs after which what is left is taken as it is."""
MOST_CHANGES = 4000
MOST_LINES = 12
"""Lines that are named; the diff has all of them."""

Judge = Callable[[Revision], Judgement]


def cause_in_difference(buggy: Revision, fixed: Revision, judge: Judge) -> SuspectedCause | None:
    """The changes without which the fixed revision would not be one; none where the Python files
    alone do not flip the script.
    """
    changes = changes_between(buggy.files.texts, fixed.files.texts)
    if not changes or len(changes) > MOST_CHANGES:
        return None
    with TemporaryDirectory(prefix="reenact-cause-") as folder:
        search = _Search(buggy, Path(folder), judge)
        if not search.flips(changes):
            return None
        of_file: dict[PurePosixPath, list[Change]] = {}
        for one in changes:
            of_file.setdefault(one.path, []).append(one)
        paths = fewest(
            tuple(of_file),
            lambda some: search.flips([one for path in some for one in of_file[path]]),
        )
        kept = fewest(tuple(one for path in paths for one in of_file[path]), search.flips)
    texts = buggy.files.texts
    lines = tuple(_named(buggy, one) for one in kept[:MOST_LINES])
    count = f"{len(kept)} of {len(changes)} changes between the revisions, after {search.runs} runs"
    return SuspectedCause(
        how=f"Changing these lines alone makes the bug go away ({count}).",
        lines=lines,
        diff=diff_of(texts, changed(texts, kept)),
    )


def _named(buggy: Revision, change: Change) -> str:
    """A change as one line: where, and what is there."""
    if change.first == change.last:
        return f"{change.place()}: lines are missing before this one"
    old = buggy.files.texts[change.path].splitlines()[change.first : change.last]
    first = next((line.strip() for line in old if line.strip()), "")
    more = f" and {len(old) - 1} more" if len(old) > 1 else ""
    return f"{change.place()}: {first[:160]}{more}"


class _Search:
    """Which sets of changes flip the script."""

    def __init__(self, buggy: Revision, folder: Path, judge: Judge) -> None:
        self._texts = buggy.files.texts
        self._copy = WorkingCopy(buggy, folder)
        self._judge = judge
        self.runs = 0

    def flips(self, changes: Sequence[Change]) -> bool:
        if self.runs >= MOST_RUNS or not changes:
            return False
        self.runs += 1
        revision = self._copy.with_texts(changed(self._texts, changes))
        return self._judge(revision) is Judgement.DOES_NOT_SHOW
