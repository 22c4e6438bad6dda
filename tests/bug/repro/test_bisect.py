"""The commit that brought a bug: found by a script, past commits on which it cannot be run."""

from __future__ import annotations

import math

import pytest

from reenact.bug.repro.bisect import bisected
from reenact.bug.repro.judged import Judgement

PASSES = Judgement.DOES_NOT_SHOW
SHOWS = Judgement.SHOWS
SKIPS = Judgement.CANNOT_BE_RUN


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_every_place_is_found_in_few_looks(count: int) -> None:
    commits = [f"c{number}" for number in range(count)]
    for first in range(count):
        seen: list[str] = []

        def judge(commit: str, first: int = first, seen: list[str] = seen) -> Judgement:
            seen.append(commit)
            return SHOWS if commit != "good" and int(commit[1:]) >= first else PASSES

        result = bisected("good", commits, judge)
        assert result.found == commits[first]
        assert len(seen) == len(set(seen)) <= 2 + math.ceil(math.log2(count + 1))


@pytest.mark.parametrize(
    ("judgements", "suspects"),
    [
        ([PASSES, SKIPS, SHOWS, SHOWS], ["c1", "c2"]),
        ([SKIPS, PASSES, SKIPS, SHOWS], ["c2", "c3"]),
        ([PASSES, SHOWS, SKIPS, SHOWS], ["c1"]),
        ([SKIPS, SKIPS, SKIPS, SHOWS], ["c0", "c1", "c2", "c3"]),
        ([SHOWS, SKIPS, SKIPS, SHOWS], ["c0"]),
    ],
)
def test_commits_that_cannot_be_run_are_left_out(
    judgements: list[Judgement], suspects: list[str]
) -> None:
    commits = [f"c{number}" for number in range(len(judgements))]
    known = {"good": PASSES, **dict(zip(commits, judgements, strict=True))}
    result = bisected("good", commits, known.__getitem__)
    assert list(result.suspects) == suspects
    assert result.found == (suspects[0] if len(suspects) == 1 else "")


@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        (SHOWS, SHOWS, "on the good one, good, the script shows"),
        (SKIPS, SHOWS, "on the good one, good, the script cannot be run"),
        (PASSES, PASSES, "on the bad one, c1, the script does not show"),
    ],
)
def test_ends_that_are_not_what_they_should_be(good: Judgement, bad: Judgement, why: str) -> None:
    known = {"good": good, "c0": SHOWS, "c1": bad}
    result = bisected("good", ["c0", "c1"], known.__getitem__)
    assert (result.suspects, result.why) == ((), why)
    assert bisected("good", [], known.__getitem__).why == "there is no commit between them"
