"""The folder of files that run in the user's interpreter beside a trial, and its one part that we use too."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent / "inject"
SERVER = FOLDER / "reenact_trials_server.py"


@lru_cache(maxsize=1)
def links() -> ModuleType:
    """The part that turns links into copies before they are written to."""
    spec = importlib.util.spec_from_file_location("reenact_trials_links", FOLDER / "reenact_trials_links.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"The part to inject is not in {FOLDER}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
