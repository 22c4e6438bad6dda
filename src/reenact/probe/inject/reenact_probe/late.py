"""Run something right after the program has imported a module, and never import it ourselves.

The callbacks guard themselves: some belong to the probe, some (seeds, the shim) must outlive it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from reenact_probe.types import Module


class _Watcher:
    """A finder at the head of `sys.meta_path` that finds nothing itself: it only listens."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[Any], object]]] = {}
        self.busy: set[str] = set()

    def find_spec(
        self,
        name: str,
        path: Any = None,
        target: Any = None,
    ) -> Any:
        if name not in self.waiting or name in self.busy:
            return None
        self.busy.add(name)
        finders = [
            find for f in sys.meta_path if f is not self and (find := getattr(f, "find_spec", None))
        ]
        try:
            spec = next(
                filter(None, (find(name, path, target) for find in finders)),
                None,
            )
        finally:
            self.busy.discard(name)
        if spec is not None and spec.loader is not None:
            self._listen(name, spec.loader)
        return spec

    def _listen(self, name: str, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: Module) -> None:
            # On the instance, for this one import: the loader stays the object the import system
            # made.
            del loader.exec_module
            execute(module)
            for callback in self.waiting.pop(name, ()):
                callback(module)

        loader.exec_module = exec_module


_watcher = _Watcher()


def when_imported(name: str, callback: Callable[[Any], object]) -> None:
    """Call `callback(module)` once `name` is imported; at once when it already is."""
    module = sys.modules.get(name)
    # A module that is still being imported has no finished face yet.
    if module is not None and not getattr(
        getattr(module, "__spec__", None), "_initializing", False
    ):
        callback(module)
        return
    if _watcher not in sys.meta_path:
        sys.meta_path.insert(0, _watcher)
    _watcher.waiting.setdefault(name, []).append(callback)


def forget() -> None:
    """Listen to nothing any more."""
    _watcher.waiting.clear()
    if _watcher in sys.meta_path:
        sys.meta_path.remove(_watcher)
