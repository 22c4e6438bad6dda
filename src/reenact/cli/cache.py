"""`reenact cache`: what prepared environments take on the disk; old ones can be removed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from reenact.cli.options import Amount, output_format, show
from reenact.report.document import Board, Document, Row
from reenact.settings import cache_folder, resolve
from reenact.types import ExitCode, JsonValue

GB = 1_000_000_000


@click.command()
@click.option(
    "--prune", type=Amount(0, 1_000_000), metavar="GB", help="Remove the least recently used beyond this."
)
@output_format
def cache(prune: float | None, output_format: str) -> ExitCode:
    """List the environments that were built for projects and papers, and what they take on the disk.

    Files that several environments share are counted once in the sum. `--prune 0` removes all of them.
    """
    from reenact.sandbox.environments.prepare import Environments

    folder = cache_folder(resolve().settings) / "environments"
    environments = Environments(folder)
    removed = environments.prune(int(prune * GB)) if prune is not None else ()
    kept = environments.listing()
    taken, most = environments.disk_bytes(), environments.most_bytes
    listed = [(one, "removed") for one in removed] + [(one, _used(one.folder)) for one in kept]
    rows = [
        Row((one.key[:12], f"{one.size_bytes / 1e6:.0f} MB", used, ", ".join(one.packages)[:100]))
        for one, used in listed
    ]
    verdict = f"{len(kept)} environments, {taken / GB:.2f} GB on the disk, at most {most / GB:.0f} GB."
    data: JsonValue = {
        "folder": str(folder),
        "disk_bytes": taken,
        "most_bytes": most,
        "environments": [
            {"key": one.key, "bytes": one.size_bytes, "packages": list(one.packages)} for one in kept
        ],
        "removed": [one.key for one in removed],
    }
    board = Board("", ("environment", "size", "last used", "packages"), rows)
    show(Document("cache", "Prepared environments", verdict, (board,), data=data), output_format)
    return ExitCode.OK


def _used(folder: Path) -> str:
    from reenact.sandbox.environments.stored import last_used

    return f"{datetime.fromtimestamp(last_used(folder)):%Y-%m-%d}"
