"""`python -m benchmarks web`: page time against the number of runs and steps."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from reenact.types import ExitCode
from reenact.web.render import require_web


@click.command()
@out_folder
def web(out: Path | None) -> ExitCode:
    """Serve journals of growing size and take the time of their pages."""
    require_web()
    from benchmarks.web.measure import measure

    return conduct(lambda tell, stop: measure(tell=tell, stop=stop), out)
