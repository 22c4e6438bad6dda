"""What a script hands over is watched, and does what it would have done."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import pytest

from reenact.bug.inside.hands import HOOK, Hands, LentFunction, LentIterator


def hands() -> Hands:
    return Hands(lambda file: "script" if file == "script.py" else "library")


def test_iterators_and_functions_of_libraries_stand_in_for_themselves() -> None:
    watch = hands()
    assert list(watch.hand(map(abs, [-1, 2]))) == [1, 2]
    assert list(watch.hand(itertools.chain([1], [2]))) == [1, 2]
    assert isinstance(watch.hand(math.sqrt), LentFunction)
    assert watch.hand(math.sqrt)(4.0) == 2.0
    assert watch.hand(math.sqrt).__name__ == "sqrt"
    assert watch.hand(functools.partial(max, 3))(1) == 3
    assert sorted([(1, 2), (2, 1)], key=watch.hand(operator.itemgetter(1))) == [
        (2, 1),
        (1, 2),
    ]
    assert isinstance(watch.hand(iter([1])), LentIterator)


@pytest.mark.parametrize(
    "value", [1, "a", [1], {"a": 1}, int, None, object(), (one for one in "ab")]
)
def test_other_things_are_handed_over_as_they_are(value: Any) -> None:
    assert hands().hand(value) is value


def test_as_a_member_of_a_class_it_binds_as_before() -> None:
    watch = hands()

    class Values:
        __len__ = watch.hand(functools.partial(int, "3"))

        def plain(self) -> int:
            return 1

    Values.bound = watch.hand(functools.lru_cache(Values.plain))
    assert len(Values()) == 3
    assert Values().bound() == 1


def raised_in(call: Any) -> BaseException:
    with pytest.raises(ArithmeticError) as caught:
        call()
    return caught.value


def test_an_exception_that_was_built_is_known_by_itself() -> None:
    watch = hands()
    built, other = ValueError("a"), ValueError("a")
    watch.hand(built)
    assert watch.made(built) == "the script built this ValueError"
    assert watch.made(other) == ""


def test_what_is_raised_in_something_handed_over() -> None:
    watch = hands()
    error = raised_in(lambda: list(watch.hand(map(operator.truediv, [1], [0]))))
    assert "which the script handed to the project" in watch.made(error)
    assert not watch.active
    with pytest.raises(StopIteration):
        next(watch.hand(iter([])))


def test_the_hooked_script_does_the_same_at_the_same_lines() -> None:
    watch = hands()
    script = b"""
import math
from functools import partial
first, *rest = [abs, 2, 3]
pair = {"f": math.sqrt, **{"g": 1}}
def own(x: int = 2, *more, key=None) -> int:
    return partial(pow, x)
class A:
    f = len
value = [own(3, *rest, key=abs)(2), (first)(-4), f"{max([1, 2]):>3}", pair["f"](9.0), A.f("ab")]
try:
    raise ValueError("no")
except (ValueError, TypeError) as error:
    value += [str(error)]
"""
    plain: dict[str, Any] = {}
    exec(compile(script, "script.py", "exec"), plain)
    hooked: dict[str, Any] = {HOOK: watch.hand}
    code = watch.hooked(script, "script.py")
    exec(code, hooked)
    assert hooked["value"] == plain["value"] == [9, 4, "  2", 3.0, 2, "no"]
    assert {line for _, _, line in code.co_lines()} == {
        line for _, _, line in compile(script, "script.py", "exec").co_lines()
    }
