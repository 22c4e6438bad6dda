"""`%load_ext reenact`: results drawn in a notebook, and `%%watch` for a cell that trains.

    %load_ext reenact

    %%watch --preset normal
    trainer.fit(model, loader)

The cell runs as it would without the magic; what it gives is the diagnosis of what was seen, as html where
that can be shown. Results of `reenact.repairs` and of the stories are drawn the same way.
"""

from __future__ import annotations

import importlib
from argparse import ArgumentParser
from collections.abc import Mapping
from html import escape
from typing import Any, NoReturn

from reenact.errors import InputError

SHEETS: Mapping[tuple[str, str], tuple[str, str, str]] = {
    ("reenact.diagnosis.diagnosis", "Diagnosis"): ("diagnose_view", "diagnosis_sheet", "what was watched"),
    ("reenact.repairs.verdict", "Repair"): ("repair_view", "repair_sheet", "the program"),
    ("reenact.bug.reproduction", "Reproduction"): ("bug_view", "reproduction_sheet", ""),
    ("reenact.paper.reproduction", "Reproduction"): ("paper_view", "reproduction_sheet", ""),
}
"""Module and name of a result: module and name of what makes a sheet of it, and the title that wants."""
MAGIC = "watch"
HEIGHT = "34rem"


class Shown:
    """A result that draws itself wherever IPython displays it, also without the extension."""

    def __init__(self, result: object) -> None:
        self.result = result

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        return mimebundle(self.result)


def mimebundle(result: object) -> dict[str, str]:
    """The result as plain text and as html. Raises InputError for what is no result of a story."""
    from reenact.report.render import render

    kind = type(result)
    if (kind.__module__, kind.__name__) not in SHEETS:
        raise InputError(f"Only results of reenact are drawn. Received: {kind.__name__}.")
    module, name, title = SHEETS[kind.__module__, kind.__name__]
    make = getattr(importlib.import_module(f"reenact.cli.{module}"), name)
    sheet = make(result, title) if title else make(result)
    return {"text/plain": render(sheet, "full"), "text/html": framed(render(sheet, "html"))}


def framed(page: str) -> str:
    """A page in a frame of its own: its styles stay inside, and nothing in it can run."""
    style = f"width: 100%; height: {HEIGHT}; border: 0"
    return f'<iframe sandbox="" srcdoc="{escape(page, quote=True)}" style="{style}"></iframe>'


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext reenact` does."""
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name in SHEETS:
        formatter.for_type_by_name(module, name, _drawn)
    shell.register_magic_function(
        lambda line, cell: watch_cell(shell, line, cell), magic_kind="cell", magic_name=MAGIC
    )


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext reenact` does."""
    for module, name in SHEETS:
        shell.display_formatter.mimebundle_formatter.pop(f"{module}.{name}", None)
    shell.magics_manager.magics["cell"].pop(MAGIC, None)


def watch_cell(shell: Any, line: str, cell: str) -> object:
    """Run a cell under the probe; the diagnosis of its training, or none when it trained nothing."""
    from reenact.diagnosis.judge import diagnose_evidence
    from reenact.diagnosis.options import DiagnoseOptions
    from reenact.probe.inprocess import Watching
    from reenact.rules.evidence import Evidence

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
    return diagnose_evidence(
        Evidence(trace=watching.trace),
        DiagnoseOptions(select=tuple(asked.select), ignore=tuple(asked.ignore)),
    )


class _Options(ArgumentParser):
    """Options of the magic; a wrong one is a sentence, not the end of the kernel."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"%%{MAGIC}: {message}.", next_step=self.format_usage().strip())


def _options() -> _Options:
    from reenact.probe.options import PRESETS

    options = _Options(prog=f"%%{MAGIC}", add_help=False)
    options.add_argument("--preset", choices=PRESETS, default="quick")
    options.add_argument("--folder", default=None)
    options.add_argument("--select", action="append", default=[])
    options.add_argument("--ignore", action="append", default=[])
    return options


def _drawn(result: object, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG001
    return mimebundle(result)
