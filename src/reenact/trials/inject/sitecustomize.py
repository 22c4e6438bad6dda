"""Stands guard over a trial's links in the Python processes that the trial starts, and over its
rule for giving up in the one that trains; then hands over to the `sitecustomize` that would have
run without us. The probe's own `sitecustomize` is before this one.
"""

import os
import sys


def _stand_guard() -> None:
    # Without the probe, which is loaded before this, there is nothing that says when torch
    # arrives.
    if "reenact_probe" not in sys.modules:
        return
    from reenact_trials_cards import note_at_end

    note_at_end()
    if os.environ.get("REENACT_TRIAL_ROOT"):
        from reenact_trials_links import guard

        guard()
    if os.environ.get("REENACT_TRIAL_STOP"):
        from reenact_probe import boot
        from reenact_trials_stop import watch

        watch(boot.current())


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


_stand_guard()
_hand_over()
