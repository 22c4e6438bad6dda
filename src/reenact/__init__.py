"""reenact finds and repairs faults of deep-learning trainings, reproduces bugs and papers.

    reenact.diagnose("train.py")          what is wrong with a training, at which layer and line
    reenact.apply_fix(diagnosis)          writes its first fix that ran into your files, with a backup
    reenact.diagnose_trace(folder)        the same of what `reenact watch` has seen, also while it goes on
    reenact.watch(model)                  the same for a training in this process, as a context manager
    reenact.callbacks.keras()             the same in a loop of Keras, Lightning or Hugging Face
    reenact.repair("train.py")            the smallest change that makes it significantly better, as a diff
    reenact.apply_repair("last")          writes that change into your files, with a backup
    reenact.test_hypothesis("train.py", claim=, edit=, check=)  what you believe is wrong, executed
    reenact.keep("last", file=)           the check of such a claim as a test of your project
    reenact.holds("train.py", script)     whether a property holds of a program now, by its check
    reenact.lint("src")                   what the text alone shows; nothing is run
    reenact.hyperparameters("train.py")   every hyperparameter with its place and alternatives
    reenact.reproduce_bug(report, repo=)  a script that shows a reported bug, proven by running it
    reenact.judge_bug(repro, repo=)       whether that bug shows on another checkout
    reenact.reproduce_paper(paper)        a paper's code, run and compared with the paper's numbers
    reenact.fingerprint(paper)            what code must show to be a reproduction of the paper
    reenact.evaluate(code)                scores of the code of a reproduction
    reenact.list_rules()                  the detectors that diagnose a training
    reenact.load_run("last")              a recorded run and its result
    reenact.TrainingOptions(...)          options that several functions share; also ModelOptions, RunOptions

`help(reenact.diagnose)` says more. Importing this package does nothing: no files, no network, no torch.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from reenact.drawing import Drawing as _Drawing
from reenact.drawing import draw_with as _draw_with
from reenact.version import __version__

if _TYPE_CHECKING:
    from reenact.api.bugs import judge_bug as judge_bug
    from reenact.api.bugs import reproduce_bug as reproduce_bug
    from reenact.api.hypotheses import holds as holds
    from reenact.api.hypotheses import test_hypothesis as test_hypothesis
    from reenact.api.keeping import keep as keep
    from reenact.api.linting import lint as lint
    from reenact.api.options import ModelOptions as ModelOptions
    from reenact.api.options import RunOptions as RunOptions
    from reenact.api.options import TrainingOptions as TrainingOptions
    from reenact.api.papers import evaluate as evaluate
    from reenact.api.papers import fingerprint as fingerprint
    from reenact.api.papers import reproduce_paper as reproduce_paper
    from reenact.api.reference import hyperparameters as hyperparameters
    from reenact.api.reference import list_rules as list_rules
    from reenact.api.reference import load_run as load_run
    from reenact.api.training import apply_fix as apply_fix
    from reenact.api.training import apply_repair as apply_repair
    from reenact.api.training import diagnose as diagnose
    from reenact.api.training import diagnose_trace as diagnose_trace
    from reenact.api.training import repair as repair
    from reenact.errors import ReenactError as ReenactError
    from reenact.errors import Stopped as Stopped
    from reenact.probe.inprocess import metric as metric
    from reenact.probe.inprocess import watch as watch
    from reenact.types import ExitCode as ExitCode
    from reenact.types import Progress as Progress

_HOMES = {
    "api.bugs": ("judge_bug", "reproduce_bug"),
    "api.hypotheses": ("holds", "test_hypothesis"),
    "api.keeping": ("keep",),
    "api.linting": ("lint",),
    "api.options": ("ModelOptions", "RunOptions", "TrainingOptions"),
    "api.papers": ("evaluate", "fingerprint", "reproduce_paper"),
    "api.reference": ("hyperparameters", "list_rules", "load_run"),
    "api.training": ("apply_fix", "apply_repair", "diagnose", "diagnose_trace", "repair"),
    "errors": ("ReenactError", "Stopped"),
    "notebook": ("load_ipython_extension", "unload_ipython_extension"),
    "probe.inprocess": ("metric", "watch"),
    "types": ("ExitCode", "Progress"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [
    "__version__",
    *(name for name in _HOME_OF if not name.endswith("_ipython_extension")),
]


def _drawing() -> _Drawing:
    import reenact.report.drawing as drawing

    return drawing


_draw_with(_drawing)


def __getattr__(name: str) -> object:
    """Every name of the API, loaded on first use; `%load_ext reenact` too."""
    if name == "callbacks":
        return _importlib.import_module("reenact.callbacks")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'reenact' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"reenact.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
