"""Which files of an output folder are ours, so that no file of the user's is written over.

A small list in the folder has the hashes of what was written there, signed with the user's journal
key. A file counts as ours when its content is one of those: a planted list has no right signature,
and a file that the user changed since has another hash.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from reenact.errors import InputError
from reenact.files import read_bytes
from reenact.journal.signing import Signer, known_signer, user_signer
from reenact.journal.storage import make_folder, storage_named, write_whole

LIST = ".reenact-files.json"
NAMES = (
    "repro.py",
    "repro.json",
    "requirements.txt",
    "test_reported_bug.py",
    "REPORT.md",
    "REPLY.md",
    "proposed.patch",
    "tried_1.py",
    "tried_2.py",
    "tried_3.py",
)
"""Everything that `bug` may write, but for a test that has the number of an issue in its name."""
_MOST_BYTES = 64 * 1024 * 1024
_SORT = "bug files"


def refuse_foreign(out: Path, names: Iterable[str] = NAMES) -> None:
    """Raise InputError when a file that is to be written is there and not ours, or the folder
    is a link.
    """
    other = "Name another folder with --out OTHER, or move it away."
    if out.is_symlink():
        why = f"The output folder is a link, and links are not followed. Received: {out}."
        raise InputError(why, next_step=other)
    if out.exists() and not out.is_dir():
        raise InputError(f"The output folder is a file. Received: {out}.", next_step=other)
    ours = _written(out, known_signer())
    for path in (out / name for name in names):
        if path.is_symlink() or (path.exists() and _hash_of(path) not in ours.get(path.name, [])):
            raise InputError(
                f"{path} was not written by reenact, or was changed since.",
                next_step=other,
            )


def write_list(out: Path, files: Mapping[str, bytes]) -> None:
    """Write the signed list of what will be there. It comes before the files, so that a run that is
    killed between two of them knows the old ones and the new ones.
    """
    signer = user_signer()
    written = _written(out, signer)
    for name, content in files.items():
        known = written.get(name, [])
        now = _hash_of(out / name)
        kept = [one for one in known if one == now]
        written[name] = sorted(
            {
                *kept,
                hashlib.sha256(content).hexdigest(),
            }
        )
    listed = json.dumps(written, sort_keys=True)
    text = (
        json.dumps(
            {
                "files": listed,
                "mac": signer.sign(_SORT, listed),
            }
        )
        + "\n"
    )
    make_folder(out)
    write_whole(
        out / LIST,
        text.encode(),
        temporary=out / f"{LIST}.part",
        mode=0o644,
    )


def _written(out: Path, signer: Signer) -> dict[str, list[str]]:
    """Hashes by file, as the list says when this user signed it; else none."""
    with suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
        kept = json.loads(read_bytes(out / LIST, _MOST_BYTES))
        listed = kept["files"]
        mac = kept["mac"]
        if isinstance(listed, str) and isinstance(mac, str) and signer.holds(mac, _SORT, listed):
            written: dict[str, list[str]] = json.loads(listed)
            return written
    return {}


def _hash_of(path: Path) -> str:
    """Empty for what is not a plain file."""
    with storage_named(path), suppress(InputError, FileNotFoundError):
        return hashlib.sha256(read_bytes(path, _MOST_BYTES)).hexdigest()
    return ""
