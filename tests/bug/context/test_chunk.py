"""Chunks hold every line once and are cut where a reader would cut."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import PurePosixPath
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.bug.context import chunk as chunk_file
from reenact.bug.context import index, rank, training
from reenact.bug.context.chunk import BIG, WINDOW, cut
from reenact.llm import provider

PATH = PurePosixPath("a.py")


def covered(text: str) -> list[int]:
    return [line for one in cut(PATH, text) for line in range(one.first, one.last + 1)]


def check_partition(text: str) -> None:
    lines = covered(text)
    assert len(lines) == len(set(lines)), "a line is in two chunks"
    filled = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert filled <= set(lines)


def named(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.name) for one in cut(PATH, textwrap.dedent(text))]


@pytest.mark.parametrize("module", [chunk_file, index, rank, training, provider, inspect, textwrap])
def test_every_line_of_real_files_is_in_one_chunk(module: ModuleType) -> None:
    check_partition(inspect.getsource(module))


LINES = [
    "x = 1",
    "def f(a, b=2):\n    return a",
    "@mark\n@other(1)\ndef g(): pass",
    "class A:\n    y = 1\n    def m(self):\n        def inner(): pass\n        return 2\n    z = 3",
    "class Big:\n" + "\n".join(f"    def m{n}(self):\n        return {n}" for n in range(50)),
    "class Table:\n"
    + "\n".join(f"    a{n} = {n}" for n in range(100))
    + "\n    def last(self): pass",
    "# a comment",
    "",
    "if x:\n    def h(): pass\nelse:\n    h = None",
    "if y:\n"
    + "\n".join(f"    def c{n}():\n        pass" for n in range(50))
    + "\nelse:\n    z = 1",
    '"""text\n# no comment\n"""',
    "try:\n    import a\nexcept ImportError:\n    a = None\nfinally:\n    b = 1",
    "async def s():\n    await t()",
]


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_every_line_of_any_mixture_is_in_one_chunk(parts: list[str]) -> None:
    check_partition("\n".join(parts))


@given(st.text(alphabet="def class:\n ()#'\"x=", max_size=120))
def test_nonsense_is_cut_too(text: str) -> None:
    check_partition(text)


def test_functions_classes_and_the_rest() -> None:
    text = """\
    import a

    # what f does
    @cached
    def f(x, *, y=1):
        def inner(): pass

    class Small:
        def m(self): pass

    LAST = 1
    """
    chunks = cut(PATH, textwrap.dedent(text), 3)
    assert [(one.kind, one.name, one.first) for one in chunks] == [
        ("top level", "", 1),
        ("function", "f", 3),
        ("class", "Small", 8),
        ("top level", "", 11),
    ]
    assert (chunks[1].number, chunks[1].last, chunks[1].parameters) == (
        4,
        6,
        ("x", "y"),
    )
    assert chunks[1].text.startswith("# what f does\n@cached\ndef f(x, *, y=1):")
    assert chunks[2].defines == ("Small", "Small.m")
    assert chunks[3].defines == ("LAST",)


def big(head: Callable[[int], str]) -> str:
    return (
        "class Net(Base):\n"
        + head(3)
        + "".join(f"\n    def m{n}(self):\n        return {n}\n" for n in range(BIG // 2))
    )


def test_a_big_class_is_split_at_its_methods() -> None:
    short = cut(PATH, big(lambda _: "    size = 1\n"))
    assert short[0].name == "Net.m0"
    assert short[0].first == 1
    assert short[0].defines == ("Net", "Net.m0")
    long = cut(PATH, big(lambda n: "".join(f"    size{i} = {i}\n" for i in range(n * 4))))
    assert (long[0].kind, long[0].name, long[1].name) == ("class", "Net", "Net.m0")
    assert {one.kind for one in long[1:]} == {"method"}


def test_a_comment_stays_with_what_is_below() -> None:
    assert named("x = 1\n\n\n# --- part two\n\ndef f(): pass\n") == [
        ("top level", ""),
        ("function", "f"),
    ]


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = (" * 5000, "print 'old'\n", "\x00", "if x:\n" * 300]
)
def test_what_is_no_python_is_cut_in_windows(text: str) -> None:
    assert {one.kind for one in cut(PATH, text)} <= {"text"}


def test_windows_know_what_they_define() -> None:
    text = "print 'old'\ndef old(): pass\n" + "x\n" * WINDOW + "class Late: pass\n"
    assert [one.defines for one in cut(PATH, text)] == [("old",), ("Late",)]
