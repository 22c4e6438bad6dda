"""`%load_ext reenact`: results drawn in a notebook, and `%%watch` for a cell that trains.

    %load_ext reenact

    %%watch --preset normal
    trainer.fit(model, loader)

The cell runs as it would without the magic; what it gives is the diagnosis of what was seen, as html where
that can be shown. Results of the functions of `reenact` draw themselves, also without this extension.
"""

from argparse import ArgumentParser
from typing import Any, NoReturn

from reenact.errors import InputError

MAGIC = "watch"


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext reenact` does."""
    shell.register_magic_function(
        lambda line, cell: watch_cell(shell, line, cell),
        magic_kind="cell",
        magic_name=MAGIC,
    )


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext reenact` does."""
    shell.magics_manager.magics["cell"].pop(MAGIC, None)


def watch_cell(shell: Any, line: str, cell: str) -> object:
    """Run a cell under the probe; the diagnosis of its training, or none when it trained
    nothing.
    """
    from reenact.api.training import diagnose_trace
    from reenact.probe.inprocess import Watching

    asked = _options().parse_args(line.split())
    watching = Watching(folder=asked.folder, preset=asked.preset).start()
    error: BaseException | None = None
    try:
        ran = shell.run_cell(cell)
        error = ran.error_before_exec or ran.error_in_exec
    finally:
        watching.stop(error)
    if watching.trace is None or not watching.trace.step_count:
        return None
    return diagnose_trace(watching.trace, select=asked.select, ignore=asked.ignore)


class _Options(ArgumentParser):
    """Options of the magic; a wrong one is a sentence, not the end of the kernel."""

    def error(self, message: str) -> NoReturn:
        raise InputError(
            f"%%{MAGIC}: {message}.",
            next_step=self.format_usage().strip(),
        )


def _options() -> _Options:
    from reenact.probe.options import PRESETS

    options = _Options(prog=f"%%{MAGIC}", add_help=False)
    options.add_argument("--preset", choices=PRESETS, default="quick")
    options.add_argument("--folder", default=None)
    options.add_argument("--select", action="append", default=[])
    options.add_argument("--ignore", action="append", default=[])
    return options
