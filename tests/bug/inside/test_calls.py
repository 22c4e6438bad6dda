"""What passes between script and project is written down in its order, and only that."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.bug.inside.calls import MOST_EVENTS
from reenact.bug.recorded_calls import RecordedCalls
from reenact.bug.script_runner import Mode
from tests.bug.test_script_runner import runner_for

PROJECT = '''"""Functions of every kind."""

LIMIT = 3
calls = []


class Box:
    size = 2

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    @property
    def first(self):
        return inner(self.items)


def inner(items):
    return items[0]


def numbers(count):
    for number in range(count):
        yield number


def apply(function, *values, scale=2.0, **more):
    return function(*values) * scale


def grow(items):
    items.append(1)


def fails(items):
    try:
        inner([])
    except IndexError:
        return 0.5
    return items


def breaks(items):
    return inner(items)
'''


def recorded(toy: Any, script: str) -> RecordedCalls:
    package = toy.folder / "buggy" / "acme"
    (package / "losses.py").unlink()
    (package / "__init__.py").write_text(PROJECT)
    runner, revision = runner_for(toy)
    seen = runner.run(script, None, [0], revision, Mode.CALLS)[0]
    assert seen.calls is not None, seen
    return seen.calls


def passed(calls: RecordedCalls) -> list[tuple[str, str]]:
    return [(event.way, event.function) for event in calls.events]


def test_only_what_the_script_calls(toy: Any) -> None:
    calls = recorded(toy, "from acme import Box\nbox = Box([4])\nprint(len(box), box.first)\n")
    assert passed(calls) == [
        ("in", "Box.__init__"),
        ("out", "Box.__init__"),
        ("in", "Box.__len__"),
        ("out", "Box.__len__"),
        ("in", "Box.first"),
        ("out", "Box.first"),
    ]
    assert [event.line for event in calls.events] == [2, 2, 3, 3, 3, 3]
    assert calls.trees[calls.events[3].tree]["gives"] == "1"
    assert calls.trees[calls.events[1].tree]["after self.items[0]"] == "4"


def test_calls_through_a_library_count(toy: Any) -> None:
    calls = recorded(toy, "from acme import inner\nprint(list(map(inner, [[1], [2]])))\n")
    assert passed(calls) == [("in", "inner"), ("out", "inner")] * 2


def test_callbacks_are_answers_of_the_project(toy: Any) -> None:
    calls = recorded(
        toy,
        "from acme import apply\ndef own(value):\n    return value + 1\napply(own, 5)\n",
    )
    assert passed(calls) == [
        ("in", "apply"),
        ("out", "own"),
        ("in", "own"),
        ("out", "apply"),
    ]
    trees = [calls.trees[event.tree] for event in calls.events]
    assert trees[0]["scale?"] == "default"
    assert trees[0]["values[0]"] == "5"
    assert trees[1] == {"value": "5"}
    assert trees[2] == {"gives": "6"}
    assert trees[3]["gives"] == "12.0"


def test_what_is_raised_and_what_is_caught(toy: Any) -> None:
    calls = recorded(
        toy,
        "from acme import breaks, fails, grow\nx = []\nfails(x)\ngrow(x)\nbreaks([])\n",
    )
    gives = {
        event.function: calls.trees[event.tree] for event in calls.events if event.way == "out"
    }
    assert gives["fails"]["gives"] == "0.5", "what it caught itself is not what it gave"
    assert gives["grow"]["after items[0]"] == "1"
    assert gives["breaks"]["gives"] == "raised IndexError: list index out of range"


def test_generators_are_asked_again_and_again(toy: Any) -> None:
    calls = recorded(toy, "from acme import numbers\nprint(list(numbers(2)))\n")
    outs = [calls.trees[event.tree]["gives"] for event in calls.events if event.way == "out"]
    assert outs == ["0", "1", "None"]


def test_constants_of_modules_and_classes(toy: Any) -> None:
    calls = recorded(toy, "import acme\n")
    assert calls.constants["acme/LIMIT"] == "3"
    assert calls.constants["acme/Box:size"] == "2"
    assert not any("inner" in name or "__" in name for name in calls.constants)


def test_an_import_that_fails_is_an_answer(toy: Any) -> None:
    script = "import acme.broken\n"
    (toy.folder / "buggy" / "acme" / "broken.py").write_text("1 / 0\n")
    calls = recorded(toy, script)
    assert passed(calls) == [("out", "<module> acme/broken.py")]


@pytest.mark.parametrize(
    ("count", "cut"), [(MOST_EVENTS // 2 - 1, False), (MOST_EVENTS // 2, True)]
)
def test_a_long_run_is_cut_and_says_so(toy: Any, count: int, cut: bool) -> None:
    calls = recorded(toy, f"from acme import inner\nfor _ in range({count}):\n    inner([1])\n")
    assert bool(calls.cut) == cut
    assert len(calls.events) == 2 * count


def test_a_script_cannot_take_the_recorders_place_unnoticed(toy: Any) -> None:
    calls = recorded(toy, "import sys\nfrom acme import inner\nsys.settrace(None)\ninner([1])\n")
    assert calls.cut == "something else traces the calls"
