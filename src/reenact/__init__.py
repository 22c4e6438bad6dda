"""reenact re-enacts deep-learning work and tells whether it holds.

Importing this package does nothing: no files, no network, no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reenact.version import __version__

if TYPE_CHECKING:
    from reenact.probe.inprocess import metric as metric
    from reenact.probe.inprocess import watch as watch

__all__ = ["__version__", "metric", "watch"]


def __getattr__(name: str) -> Any:
    """`reenact.watch(model)`, `reenact.metric(name, value)`, `reenact.repair("train.py")` and `%load_ext
    reenact`, loaded on first use."""
    if name in ("metric", "watch"):
        from reenact.probe import inprocess

        return getattr(inprocess, name)
    if name == "repair":
        return import_module("reenact.repairs.pipeline").repair_file
    if name in ("load_ipython_extension", "unload_ipython_extension"):
        return getattr(import_module("reenact.notebook"), name)
    raise AttributeError(f"module 'reenact' has no attribute {name!r}")
