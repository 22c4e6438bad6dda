"""The Python API: what the command line, MCP, the page, notebooks and pytest call, and you can too.

    import reenact

    report = reenact.diagnose("train.py")          # what is wrong, at which layer and line
    fix = reenact.repair("train.py", budget="20")  # the smallest change that helps, as a diff
    bug = reenact.reproduce_bug("report.md", repo=".", model="anthropic:NAME")
    rep = reenact.reproduce_paper("paper.pdf", model="anthropic:NAME")

Every function takes what its command takes, as typed keyword arguments, and returns one frozen result:
`to_dict()` gives the `data` that `--output-format json` prints, a notebook draws it, `exit_code` is that
of the command. Errors are `reenact.ReenactError`: a sentence and a next step. Nothing is printed unless
`progress=True` (or a function that takes `reenact.Progress`) or `output=` asks for it. `cancel=` is a
`threading.Event`: set it, and the call ends at the next safe place with `reenact.Stopped`; so does Ctrl-C
or a notebook's stop button. The same call then continues.

training       diagnose, repair, lint, hyperparameters, list_rules
reproduction   reproduce_bug, reproduce_paper, fingerprint, evaluate
runs           load_run
session        what a call works with: settings, journal, stop, progress, model, sandbox
linting        the static rules on many files
"""

from __future__ import annotations

from reenact.api.reproduction import evaluate, fingerprint, reproduce_bug, reproduce_paper
from reenact.api.runs import load_run
from reenact.api.training import diagnose, hyperparameters, lint, list_rules, repair

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
