"""Run by the user's interpreter: prints which interpreter this is and which packages it sees, as JSON.

Only the names of folders are read; no package is imported. Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator


def _packages() -> Iterator[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in sys.path:
        if not folder or os.path.abspath(folder) == here or not os.path.isdir(folder):
            continue
        for name in os.listdir(folder):
            if name.endswith((".dist-info", ".egg-info", ".egg-link")):
                yield name


json.dump({"version": sys.version, "prefix": sys.prefix, "packages": sorted(set(_packages()))}, sys.stdout)
