"""Holds what was seen until it is written: rows of three tables, metrics and events, header and
graph.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from reenact_probe.config import Config
from reenact_probe.folder import COLUMNS, Folder, Table
from reenact_probe.places import Made
from reenact_probe.schedule import Schedule
from reenact_probe.types import Facts

SCHEMA = 1


class Observer(Protocol):
    """What watches a framework."""

    def finish(self) -> None:
        """The process ends: tell what is left."""

    def crash_facts(self, error: BaseException) -> Facts:
        """What is known of the layer in which this was raised."""


class Recorder:
    """One recording. Framework-free: the observers of torch and Keras call it."""

    FLUSH_SECONDS = 2.0
    FLUSH_ROWS = 20_000
    """Rows of layers that are written before their time, to keep memory small."""
    MAX_NOTES = 200_000
    """Metrics and events kept over the whole run; a program that logs more has the later ones
    dropped.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.schedule = Schedule(config.preset, self.note_missing)
        self.folder = Folder(config.folder, config.hide)
        self.began = time.perf_counter()
        self.step = 0
        """Optimizer steps completed."""
        self.epoch = -1
        """Epochs begun, less one; -1 while no epoch is known."""
        self.spent = 0.0
        """Seconds the probe itself took."""
        self.tables = {name: Table(name) for name in COLUMNS}
        self.observers: list[Observer] = []
        """Asked for the rest when the process ends."""
        self.made = Made()
        """Where the program makes things."""
        self.at_close: list[Callable[[], object]] = []
        """What is done once everything is written."""
        self.missing: list[str] = []
        self._metrics: list[list[Any]] = []
        self._events: list[Facts] = []
        self.kinds: set[str] = set()
        """Of the events so far."""
        self._notes = 0
        self.on_metric: list[Callable[[str, Any, str], None]] = []
        """Called with name, value and source of every metric once it is noted."""
        self.claimed: bool | None = None
        """Whether this process records; none while no one has asked: nothing was trained."""
        self.next_flush = self.began + 0.5
        """When the next chunk is due."""
        self._closed = False
        self._header: Facts = {
            "schema": SCHEMA,
            "columns": {name: list(columns) for name, columns in COLUMNS.items()},
            "started": time.time(),
            "pid": os.getpid(),
            "cwd": os.getcwd(),
            "python": platform.python_version(),
            "preset": config.preset,
            "seed": config.seed,
            "frameworks": {},
            "layers": [],
            "parameters": [],
            "missing": self.missing,
        }

    @property
    def owned(self) -> bool:
        """Whether this process records; asked for when training is first seen."""
        if self.claimed is None:
            self.claimed = self.folder.claim()
            self.write_header(argv=list(getattr(sys, "argv", [])))
        return self.claimed

    def write_header(self, **facts: Any) -> None:
        self._header.update(facts)
        if self.claimed:
            self.folder.write_json("header.json", self._header)

    def note_framework(self, name: str, version: object) -> None:
        self._header["frameworks"][name] = str(version)

    def note_missing(self, sentence: str) -> None:
        """Name something this trace cannot hold."""
        if sentence not in self.missing:
            self.missing.append(sentence)
            self.write_header()

    def write_graph(self, graph: Facts) -> None:
        if self.owned:
            self.folder.write_json("graph.json", graph)

    def write_data(self, facts: Facts | None) -> None:
        """Write the facts of the data, where there are new ones."""
        if facts is not None:
            self.folder.write_json("data.json", facts)

    def metric(self, name: Any, value: Any, source: str) -> None:
        # What is not a single number is not kept.
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            row = [
                str(name),
                float(value),
                self.step,
                self.epoch,
                self.now(),
                source,
            ]
            self._metrics += [row] if self._has_space() else []
        for listener in self.on_metric:
            listener(str(name), value, source)

    def event(self, kind: str, **facts: Any) -> None:
        self.kinds.add(kind)
        if self._has_space():
            self._events.append(
                dict(
                    facts,
                    kind=kind,
                    step=self.step,
                    epoch=self.epoch,
                    time=self.now(),
                )
            )

    def _has_space(self) -> bool:
        self._notes += 1
        return self._notes <= self.MAX_NOTES

    def now(self) -> float:
        return time.perf_counter() - self.began

    def flush(self) -> None:
        now = time.perf_counter()
        # The pause grows with the run, so that chunks stay few.
        self.next_flush = now + max(self.FLUSH_SECONDS, (now - self.began) / 50)
        if not self.owned or not (
            self._metrics or self._events or any(map(len, self.tables.values()))
        ):
            return
        if self.folder.bytes >= self.folder.MAX_BYTES:
            for name in ("parameters", "layers"):
                self.tables[name].take()
            self.note_missing(
                "the trace reached its size limit: later layer and parameter rows are left out"
            )
        members = {name: table.take() for name, table in self.tables.items()}
        notes = {
            "metrics": self._metrics,
            "events": self._events,
            "spent": self.spent,
        }
        self._metrics = []
        self._events = []
        self.folder.write_chunk(members, notes)

    def close(self, ending: Facts) -> None:
        """Write what is left and how it ended; later calls do nothing."""
        was_closed, self._closed = self._closed, True
        if not was_closed:
            self.flush()
        if self.claimed and not was_closed:
            ending = dict(
                ending,
                steps=self.step,
                seconds=self.now(),
                spent=self.spent,
            )
            self.folder.write_json("ending.json", ending)
            for call in self.at_close:
                call()
