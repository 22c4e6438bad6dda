"""`benchmarks/trainings/LOCK`: a sha256 for each training and split, so that no edit goes unseen.

A training's line covers every file of its folder, program and truth. A split's covers its trainings
and their order. The kinds of its faults have a line of their own: they are chosen after its first
run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.dataset.kinds import kinds
from benchmarks.dataset.splits import Split, split_named, splits
from benchmarks.dataset.training import TRAININGS, TRUTH
from reenact.errors import InputError

LOCK = "LOCK"
OF_SPLIT, OF_KINDS, OF_TRAINING = "split", "kinds", "training"
HEAD = """\
# sha256 of each split and of each training. Lines are added by `python -m benchmarks trainings --lock`; a
# line that is changed says that programs, truth or kinds were edited after they were written.
"""


@dataclass(frozen=True, slots=True)
class Locked:
    """What the file holds."""

    splits: dict[str, str]
    kinds: dict[str, str]
    """By split, those that are chosen."""
    trainings: dict[str, str]


def digest_of(name: str, folder: Path = TRAININGS, *, but: str = "") -> str:
    """Over the files of one training, `but` for those of this name."""
    root = folder / name
    files = sorted(
        path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    listed = [
        (
            file.relative_to(root).as_posix(),
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in files
        if file.name != but
    ]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def digest_of_all(ids: Sequence[str], folder: Path = TRAININGS) -> str:
    """Over these trainings, in this order, and the kinds of their faults."""
    known = kinds(folder)
    listed = [(name, digest_of(name, folder), known.get(name, ())) for name in ids]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def digest_of_split(split: Split, folder: Path = TRAININGS) -> str:
    """Over its trainings, in its order, whatever their kinds."""
    listed = [(name, digest_of(name, folder)) for name in split.ids]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def digest_of_kinds(split: Split, folder: Path = TRAININGS) -> str:
    """Over the kinds of its faults; empty where none is chosen."""
    known = kinds(folder)
    listed = [(name, known[name]) for name in split.ids if name in known]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest() if listed else ""


def program_digest(name: str) -> str:
    """Over what is started, without what is true of it."""
    return digest_of(name, but=TRUTH)


def read_lock(folder: Path = TRAININGS) -> Locked:
    """The file; nothing is locked where there is none."""
    file = folder / LOCK
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return Locked(
        *(
            {name: sha256 for sha256, of, name in words if of == sort}
            for sort in (OF_SPLIT, OF_KINDS, OF_TRAINING)
        )
    )


def changes(split: Split, folder: Path = TRAININGS) -> Iterator[str]:
    """Sentences about what is not as it was locked."""
    return changes_of(split, read_lock(folder), folder)


def changes_of(split: Split, locked: Locked, folder: Path) -> Iterator[str]:
    """The same, where the lock has been read."""
    for name in split.ids:
        if locked.trainings.get(name) != digest_of(name, folder):
            yield f"{name} was {'changed' if name in locked.trainings else 'never locked'}."
    if locked.splits.get(split.name) != digest_of_split(split, folder):
        yield f"The split {split.name} was locked with other trainings or in another order."
    if locked.kinds.get(split.name, "") != digest_of_kinds(split, folder):
        yield f"The kinds of the split {split.name} are not those that were locked."


def require_locked(split: Split, folder: Path = TRAININGS) -> None:
    """Raises InputError where a program, its truth or its kinds were edited."""
    _require(changes(split, folder), split.name)


def _require(changed: Iterator[str], name: str) -> None:
    sentences = list(changed)
    if sentences:
        raise InputError(
            f"The split {name} is not what {LOCK} says. Received: {' '.join(sentences[:5])}",
            next_step=(
                "Take the edit back; lock a new split with `python -m benchmarks trainings --lock`."
            ),
        )


def add_new(folder: Path = TRAININGS) -> list[str]:
    """Lock splits, and kinds of splits, that are not locked yet; what is locked must not have
    changed.

    Raises InputError.
    """
    locked = read_lock(folder)
    added = []
    for split in splits(folder).values():
        kinds_now = digest_of_kinds(split, folder)
        if split.name not in locked.splits:
            locked.splits[split.name] = digest_of_split(split, folder)
            locked.trainings.update({one: digest_of(one, folder) for one in split.ids})
            added.append(split.name)
        if split.name not in locked.kinds and kinds_now:
            locked.kinds[split.name] = kinds_now
            added.append(f"the kinds of {split.name}")
    for name in locked.splits:
        _require(changes_of(split_named(name, folder), locked, folder), name)
    _write(locked, folder)
    return added


def _write(locked: Locked, folder: Path) -> None:
    lines = [
        f"{sha256}  {sort}  {name}\n"
        for sort, digests in (
            (OF_SPLIT, locked.splits),
            (OF_KINDS, locked.kinds),
            (OF_TRAINING, dict(sorted(locked.trainings.items()))),
        )
        for name, sha256 in digests.items()
    ]
    (folder / LOCK).write_text(HEAD + "".join(lines), encoding="utf-8")
