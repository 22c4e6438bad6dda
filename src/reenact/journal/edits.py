"""File edits that a crash cannot tear: planned by the hash before and after, applied file by file.

Interrupted, the rest is applied next time: a file that already has its new content is left, one that still
has its old content gets the new one, and one that somebody else changed meanwhile is not touched.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reenact.crash import crash_point
from reenact.errors import InputError, JournalDiverged, ReenactError
from reenact.journal.artefacts import named
from reenact.journal.codec import codec_for
from reenact.journal.perform import kept
from reenact.journal.recorder import Recorder
from reenact.journal.records import Cost, Kind
from reenact.journal.storage import make_folder, storage_named, sync_folder, write_whole


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file of an edit, by hash; none where there is no file."""

    name: str
    before: str | None
    after: str | None
    mode: int


@dataclass(frozen=True, slots=True)
class Edit:
    """What is written down before an edit. The contents are for the reader: secrets in them are redacted."""

    root: str
    plan: tuple[FileEdit, ...]
    old: Mapping[str, bytes | None]
    new: Mapping[str, bytes | None]


def edit_files(
    recorder: Recorder, path: str, root: Path, files: Mapping[str, bytes | None], crash_at: str = ""
) -> None:
    """The step at `path` that gives files under `root` their new content."""
    root = root.resolve()
    old = {name: _content(_target(root, name)) for name in files}
    asked = {"root": root, "files": files}
    written = Edit(
        str(root), tuple(_planned(root, name, old[name], files[name]) for name in files), old, files
    )
    wanted = recorder.request(path, Kind.EDIT, 1, asked, written)
    with recorder.alone([wanted.key]):
        if kept(recorder, {path: wanted}, codec_for(list[str])):
            return
        earlier = recorder.stored(wanted)
        if earlier is not None:
            written = codec_for(Edit).decode(recorder.bodies.plain(recorder.text_of(earlier, "inputs")))
        step = recorder.begin([wanted])[0]
        began = recorder.clock.monotonic()
        try:
            _apply_all(root, written.plan, files, recorder.run.id, crash_at)
        except ReenactError as error:
            recorder.fail([step], error, Cost(), recorder.clock.monotonic() - began)
            raise
        changed = recorder.bodies.body(list(files))
        recorder.done([(step, changed, Cost())], recorder.clock.monotonic() - began)


def _planned(root: Path, name: str, old: bytes | None, new: bytes | None) -> FileEdit:
    mode = 0o644 if old is None else stat.S_IMODE((root / name).stat().st_mode)
    return FileEdit(name, _hash(old), _hash(new), mode)


def _apply_all(
    root: Path, plan: Iterable[FileEdit], files: Mapping[str, bytes | None], run_id: str, crash_at: str
) -> None:
    for count, edit in enumerate(plan):
        if count:
            crash_point("C12")
        target = _target(root, edit.name)
        now = _hash(_content(target))
        if now == edit.after:
            continue
        if now != edit.before:
            raise JournalDiverged(
                f"{target} was changed by somebody else while this run was to change it.",
                next_step="Put it back as it was and run the same command, or start over with --fresh.",
            )
        _write(target, files[edit.name], edit.mode, run_id, crash_at)


def _write(target: Path, content: bytes | None, mode: int, run_id: str, crash_at: str) -> None:
    if content is None:
        with storage_named(target):
            target.unlink()
            sync_folder(target.parent)
        return
    make_folder(target.parent)
    # One name a run and file: after a crash the same run writes over its own leftover.
    temporary = target.with_name(f".{named(target.name.encode()).sha256[:12]}.{run_id}.tmp")
    write_whole(target, content, temporary=temporary, mode=mode, crash_at=crash_at)


def _content(target: Path) -> bytes | None:
    with storage_named(target):
        return target.read_bytes() if target.exists() else None


def _hash(content: bytes | None) -> str | None:
    return None if content is None else named(content).sha256


def _target(root: Path, name: str) -> Path:
    """The file of that name under root. A model may have chosen the name: links and ways out are refused."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\x00" in name or "\\" in name:
        raise InputError(f"A file to edit is named relative to its folder and inside it. Received: {name!r}.")
    target = root
    for part in parts:
        target = target / part
        if target.is_symlink():
            raise InputError(f"{target} is a link; links are not written through. Received: {name!r}.")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is not a plain file. Received: {name!r}.")
    return target
