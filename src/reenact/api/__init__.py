"""The Python API: what the command line, MCP, the page, notebooks and pytest call, and you can too.

    import reenact

    report = reenact.diagnose("train.py")          # what is wrong, at which layer and line
    fix = reenact.repair("train.py", budget="20x")  # the smallest change that helps, as a diff
    bug = reenact.reproduce_bug("report.md", repo=".", model="anthropic:NAME")
    rep = reenact.reproduce_paper("paper.pdf", model="anthropic:NAME")

Every function takes what its command takes, as typed keyword arguments, and returns one frozen result:
`to_dict()` gives the `data` that `--output-format json` prints, a notebook draws it, `exit_code` is that
of the command. Errors are `reenact.ReenactError`: a sentence and a next step. Nothing is printed unless
`progress=True` (or a function that takes `reenact.Progress`) or `output=` asks for it. `cancel=` is a
`threading.Event`: set it, and the call ends at the next safe place with `reenact.Stopped`; so does Ctrl-C
or a notebook's stop button. The same call then continues.

training    diagnose, repair                          bugs      reproduce_bug
linting     lint                                      papers    reproduce_paper, fingerprint, evaluate
reference   hyperparameters, list_rules, explain      runs      load_run
session     what a call works with: settings, journal, stop, progress, model, sandbox
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.api.bugs import reproduce_bug as reproduce_bug
    from reenact.api.linting import lint as lint
    from reenact.api.papers import evaluate as evaluate
    from reenact.api.papers import fingerprint as fingerprint
    from reenact.api.papers import reproduce_paper as reproduce_paper
    from reenact.api.reference import hyperparameters as hyperparameters
    from reenact.api.reference import list_rules as list_rules
    from reenact.api.runs import load_run as load_run
    from reenact.api.training import diagnose as diagnose
    from reenact.api.training import repair as repair

_HOMES = {
    "diagnose": "training",
    "evaluate": "papers",
    "fingerprint": "papers",
    "hyperparameters": "reference",
    "lint": "linting",
    "list_rules": "reference",
    "load_run": "runs",
    "repair": "training",
    "reproduce_bug": "bugs",
    "reproduce_paper": "papers",
}
__all__ = [
    "diagnose",
    "evaluate",
    "fingerprint",
    "hyperparameters",
    "lint",
    "list_rules",
    "load_run",
    "repair",
    "reproduce_bug",
    "reproduce_paper",
]


def __getattr__(name: str) -> object:
    """A function, loaded on first use: reading programs does not load what reads papers."""
    if name not in _HOMES:
        raise AttributeError(f"module 'reenact.api' has no attribute {name!r}")
    return getattr(import_module(f"reenact.api.{_HOMES[name]}"), name)
