"""Which commit brought the bug: the proven script on the commits between a good and a bad one.

Commits on which it cannot be run are left out, as `git bisect skip` does; where only such are left
between the last good and the first bad one, all of them are named.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reenact.bug.repro.judged import Judgement

Judge = Callable[[str], Judgement]


@dataclass(frozen=True, slots=True)
class Bisected:
    """What a bisection came to."""

    suspects: tuple[str, ...]
    """The commits that may have brought it, oldest first; one where it was found. Empty where the
    ends are not what they should be.
    """
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    why: str = ""
    """Why nothing was found."""

    @property
    def found(self) -> str:
        """The commit; empty where several are left, or none."""
        return self.suspects[0] if len(self.suspects) == 1 else ""


def bisected(good: str, commits: Sequence[str], judge: Judge) -> Bisected:
    """Look for the first commit with the bug. `commits` come after the good one, oldest first; the
    last one is the bad one.
    """
    known: dict[str, Judgement] = {}

    def look(commit: str) -> Judgement:
        if commit not in known:
            known[commit] = judge(commit)
        return known[commit]

    if not commits:
        return Bisected((), known, "there is no commit between them")
    for commit, wanted in ((good, Judgement.DOES_NOT_SHOW), (commits[-1], Judgement.SHOWS)):
        if look(commit) is not wanted:
            side = "good" if wanted is Judgement.DOES_NOT_SHOW else "bad"
            words = known[commit].name.lower().replace("_", " ")
            return Bisected((), known, f"on the {side} one, {commit[:12]}, the script {words}")
    low = -1
    high = len(commits) - 1
    while high - low > 1:
        middle = (low + high) // 2
        nearest = sorted(range(low + 1, high), key=lambda one: abs(one - middle))
        place = next(
            (one for one in nearest if look(commits[one]) is not Judgement.CANNOT_BE_RUN), None
        )
        if place is None:
            break
        if known[commits[place]] is Judgement.SHOWS:
            high = place
        else:
            low = place
    return Bisected(tuple(commits[low + 1 : high + 1]), known)
