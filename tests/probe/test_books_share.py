"""Books take a share of the time: what is beyond it they pass over, whole looks at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reenact.probe import injected


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[str], Any]:
    hub = injected.part("books.hub")
    base = injected.part("books").Book
    seen: list[str] = []
    clock = SimpleNamespace(now=0.0, worked=0.0)

    class Noted(base):  # type: ignore[misc, valid-type]
        name = "noted"

        def look_begins(self) -> None:
            seen.append("look")

        def goes_back(self, loss: Any) -> None:
            seen.append("back")

        def stepped(self) -> None:
            seen.append("stepped")

        def cleared(self, optimizer: Any) -> None:
            seen.append("cleared")

    monkeypatch.setattr(hub, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(hub, "thread_time", lambda: clock.worked)
    return hub.Books(SimpleNamespace(), [Noted()]), seen, clock


def look(books: Any) -> None:
    books.look_begins()
    books.goes_back(None)
    books.stepped()


def test_the_first_looks_are_kept_whatever_they_take(kept: tuple[Any, list[str], Any]) -> None:
    books, seen, _ = kept
    hub = injected.part("books.hub")
    books.spent = 1000.0
    for _ in range(hub.FIRST):
        look(books)
    assert seen == ["look", "back", "stepped"] * hub.FIRST


def test_a_look_beyond_the_share_is_passed_over_as_a_whole(
    kept: tuple[Any, list[str], Any],
) -> None:
    books, seen, clock = kept
    hub = injected.part("books.hub")
    for _ in range(hub.FIRST):
        look(books)
    seen.clear()
    books.spent = hub.ALLOWED_S + 1.0
    look(books)
    assert seen == []
    # What is not of a look always reaches it.
    books.cleared(None)
    assert seen == ["cleared"]
    seen.clear()
    clock.now = 1.01 / hub.SHARE
    look(books)
    assert seen == [], "a busy machine"
    clock.worked = clock.now
    look(books)
    assert seen == ["look", "back", "stepped"]


def test_between_looks_nothing_is_passed_over(kept: tuple[Any, list[str], Any]) -> None:
    books, seen, _ = kept
    books.spent, books._looks = 1000.0, 1000
    look(books)
    assert seen == []
    books.goes_back(None)
    assert seen == ["back"]


def test_what_books_take_counts_by_the_work_of_their_thread(
    kept: tuple[Any, list[str], Any],
) -> None:
    books, _, clock = kept
    books.look_begins()

    def slow(_: Any) -> None:
        clock.now += 4.0
        clock.worked += 1.0

    books.books[0].goes_back = slow
    books.goes_back(None)
    assert books.spent == 0.0, "reckoned up once a look"
    clock.now += 4.0
    clock.worked += 1.0
    books.look_begins()
    # Eight seconds by the clock in which two were worked, half of them by the books.
    assert books.spent == 1.0


def test_books_are_written_less_and_less_often_and_at_the_end(
    kept: tuple[Any, list[str], Any],
) -> None:
    books, _, clock = kept
    written: list[float] = []
    folder = SimpleNamespace(write_json=lambda *_: written.append(clock.now))
    books.recorder = SimpleNamespace(owned=True, folder=folder)
    for second in range(1, 61):
        clock.now = float(second)
        look(books)
        books.write()
    assert len(written) < 25
    assert written[-1] - written[-2] > 5 * (written[1] - written[0])
    books.write(at_end=True)
    assert written[-1] == 60.0
    before = len(written)
    books.write()
    assert len(written) == before, "nothing happened since"
