"""The classes of faults and symptoms, as data (taxonomy.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def classes(of: str) -> Mapping[str, str]:
    """The codes and words of `fault` or `symptom`."""
    text = files("reenact.bug").joinpath("taxonomy.toml").read_text(encoding="utf-8")
    found: Mapping[str, str] = tomllib.loads(text)[of]
    return found


def listing(of: str) -> str:
    """The classes as a prompt lists them."""
    return "\n".join(f"{code}: {words}" for code, words in classes(of).items())
