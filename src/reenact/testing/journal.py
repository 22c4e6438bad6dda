"""Twins and conformance for the journal: a clock that jumps, and what any store of artefacts must do.

A journal that touches no disk is `Journal.in_memory()`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reenact.errors import JournalDamaged
from reenact.journal.artefacts import Artefacts


class JumpingClock:
    """A clock that tests move: `wall` in any direction, `passed` only forward."""

    def __init__(self) -> None:
        self.wall = datetime(2026, 1, 1, tzinfo=UTC)
        self.passed = 0.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.passed

    def work(self, seconds: float) -> None:
        """Let time pass for both."""
        self.wall += timedelta(seconds=seconds)
        self.passed += seconds


class ArtefactsConformance:
    """Inherit it and give the fixture `store`."""

    @pytest.fixture
    def store(self) -> Artefacts:
        raise AssertionError("Give a fixture named store that makes an empty store of artefacts.")

    def test_what_was_kept_is_read_back(self, store: Artefacts) -> None:
        kept = store.keep(b"\x00weights")
        assert kept.size == 8
        assert store.has(kept.sha256)
        assert store.read(kept.sha256) == b"\x00weights"

    def test_the_same_bytes_are_kept_once(self, store: Artefacts) -> None:
        assert store.keep(b"same") == store.keep(b"same")
        assert len(list(store.names())) == 1

    def test_nothing_is_something_too(self, store: Artefacts) -> None:
        assert store.read(store.keep(b"").sha256) == b""

    def test_names_are_listed_in_order(self, store: Artefacts) -> None:
        kept = [store.keep(bytes([number])).sha256 for number in range(20)]
        assert list(store.names()) == sorted(kept)

    def test_what_was_dropped_is_damage_when_read(self, store: Artefacts) -> None:
        kept = store.keep(b"gone")
        store.drop(kept.sha256)
        store.drop(kept.sha256)
        assert not store.has(kept.sha256)
        with pytest.raises(JournalDamaged):
            store.read(kept.sha256)
