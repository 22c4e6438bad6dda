"""The fixes of strangers: drawn by DRAWN.md, dealt by hash, and none of them seen in another split."""

from __future__ import annotations

import csv
import hashlib

from benchmarks.dataset.foreign import Foreign
from benchmarks.dataset.splits import splits, trainings_of
from benchmarks.dataset.standin_files import FILES
from benchmarks.dataset.training import TRAININGS, Training

PARTS = ("drawn-fixes-a", "drawn-fixes-b", "drawn-fixes-c")


def drawn() -> list[tuple[Training, Foreign]]:
    trainings = [one for part in PARTS for one in trainings_of(splits()[part])]
    return [(one, one.foreign) for one in trainings if one.foreign is not None]


def test_they_are_dealt_round_the_parts_by_the_hash_of_their_ids() -> None:
    ids = [training.id for training, _ in drawn()]
    by_hash = sorted(ids, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    assert [splits()[part].ids for part in PARTS] == [tuple(by_hash[k::3]) for k in range(3)]


def test_each_is_a_commit_that_fixes_and_its_parent_with_what_was_seen() -> None:
    for training, foreign in drawn():
        assert foreign.fixed is not None, training.id
        assert foreign.commit, training.id
        assert foreign.fixed.commit not in ("", foreign.commit), training.id
        assert not training.sound, training.id
        assert "fixed" in training.seen, training.id
        assert set(foreign.files.values()) <= FILES.keys(), training.id


def test_no_repository_of_theirs_is_the_source_of_an_opened_split() -> None:
    others = {
        training.foreign.source
        for split in splits().values()
        if split.opened is not None and not split.name.startswith("drawn-")
        for training in trainings_of(split)
        if training.foreign is not None
    }
    assert others.isdisjoint(foreign.source for _, foreign in drawn())


def test_no_kept_fix_is_listed_as_rejected_and_each_rejected_has_a_reason() -> None:
    with (TRAININGS / "drawn-rejected.csv").open(encoding="utf-8", newline="") as file:
        rejected = list(csv.DictReader(file))
    commits = {(row["repository"], row["commit"]) for row in rejected}
    assert len(commits) == len(rejected)
    assert all(row["reason"] for row in rejected)
    kept = {(one.source, one.fixed.commit) for _, one in drawn() if one.fixed is not None}
    assert commits.isdisjoint(kept)
