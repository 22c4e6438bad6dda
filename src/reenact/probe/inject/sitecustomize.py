"""Starts the probe in an interpreter whose PYTHONPATH names this folder, then leaves no trace of
itself.

The interpreter imports this before the program. It loads the probe, takes this folder out of
`sys.path`, and runs the `sitecustomize` that would have run without us, if there is one.
"""

import os
import sys


def _start_probe() -> None:
    if sys.version_info < (3, 9):  # noqa: UP036 - the program brings the interpreter
        sys.stderr.write(
            "reenact: the probe needs Python 3.9 or later; this program runs unobserved.\n"
        )
        return
    from reenact_probe import importing

    if "REENACT_PROBE" in os.environ:
        importing.install()
    from reenact_probe import boot

    boot.from_environment()


def _hand_over() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.path_importer_cache.pop(here, None)
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


_start_probe()
_hand_over()
