"""What two revisions were given by the same script, and what they answered, side by side.

Up to the first different answer a script must give both revisions the same. An attribute that
objects of one revision alone have makes no difference; nor does what differs between two runs of
one revision.
"""

import ast
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import StrEnum

from reenact.bug.project_files import ProjectFiles
from reenact.bug.recorded_calls import CallEvent, RecordedCalls
from reenact.codegen.syntax import FunctionNode

Place = tuple[int, str]
"""The number of an event, and a path in what passed there."""


class Found(StrEnum):
    """What the comparison of two runs comes to."""

    ANSWERS = "the revisions answer differently"
    GIVEN = "the script gives them different things"
    ALIKE = "nothing differs"
    UNKNOWN = "it cannot be decided"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first difference between two runs."""

    found: Found
    function: str = ""
    """Where it was."""
    why: str = ""


def compared(
    one: RecordedCalls,
    other: RecordedCalls,
    *,
    unstable: Set[Place] = frozenset(),
    only: Set[str] = frozenset(),
    used: Set[str] = frozenset(),
) -> Comparison:
    """The first difference. `unstable` are places that differ without a reason, `only` functions
    that one of the revisions alone has, `used` the names that the script writes.
    """
    constant = constant_that_differs(one, other, used)
    by_constant = Comparison(Found.ANSWERS, constant, "a constant") if constant else None
    for number, (left, right) in enumerate(zip(one.events, other.events, strict=False)):
        if (left.way, left.function) != (right.way, right.function):
            return (
                _entered_only(left, right, only=only) or by_constant or _other_function(left, right)
            )
        paths = differing(
            one.trees[left.tree],
            other.trees[right.tree],
        )
        paths = [path for path in paths if (number, path) not in unstable]
        if paths and left.way == "out":
            return Comparison(Found.ANSWERS, left.function, paths[0])
        if paths:
            why = f"{left.function} is given another `{paths[0]}` (line {left.line})"
            return by_constant or Comparison(Found.GIVEN, left.function, why)
    rest = (
        *one.events[len(other.events) :],
        *other.events[len(one.events) :],
    )
    return (
        by_constant
        or _entered_only(
            *rest[:1],
            only=only,
        )
        or _nothing_differs(one, other, unstable)
    )


def _nothing_differs(one: RecordedCalls, other: RecordedCalls, unstable: Set[Place]) -> Comparison:
    """Alike, unless something was not recorded or says nothing."""
    cut = one.cut or other.cut
    if cut:
        return Comparison(Found.UNKNOWN, why=cut)
    if any(one.events[number].way == "out" for number, _ in unstable if number < len(one.events)):
        return Comparison(Found.UNKNOWN, why="an answer differs from run to run")
    return Comparison(Found.ALIKE)


def _entered_only(*events: CallEvent, only: Set[str]) -> Comparison | None:
    """The project's own difference: a function that one revision alone has, or an import that
    fails.
    """
    for event in events:
        if event.function in only or event.function.startswith("<module> "):
            return Comparison(Found.ANSWERS, event.function, "only one revision goes through it")
    return None


def _other_function(left: CallEvent, right: CallEvent) -> Comparison:
    why = (
        f"one calls {left.function} (line {left.line}), the other {right.function} (line "
        f"{right.line})"
    )
    return Comparison(Found.GIVEN, left.function, why)


def unstable_places(one: RecordedCalls, other: RecordedCalls) -> frozenset[Place]:
    """What differs between two runs of the same revision, up to where they part."""
    found: set[Place] = set()
    for number, (left, right) in enumerate(zip(one.events, other.events, strict=False)):
        if (left.way, left.function) != (right.way, right.function):
            break
        found.update(
            (number, path)
            for path in differing(
                one.trees[left.tree],
                other.trees[right.tree],
            )
        )
    return frozenset(found)


def differing(
    one: Mapping[str, str],
    other: Mapping[str, str],
) -> list[str]:
    """Paths that both have and that hold different things. Below an argument that was left to its
    default on both sides nothing counts.
    """
    both = [path for path in one if path in other and not path.endswith("?")]
    defaults = {path[:-1] for path in one if path.endswith("?") and path in other}
    found = [path for path in both if one[path] != other[path] and _argument(path) not in defaults]
    # The outermost first: what lies below a place that is something else differs for that reason.
    return sorted(found, key=len)


def _argument(path: str) -> str:
    """The name of the argument that a path begins with."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def constant_that_differs(one: RecordedCalls, other: RecordedCalls, used: Set[str]) -> str:
    """A constant that the script names and that the revisions have otherwise:
    `package.module/LIMIT`, or of a class `package.module/Meter:limit`.
    """
    for path in differing(one.constants, other.constants):
        name = re.split(
            r"[.\[]",
            path.rpartition("/")[2],
            maxsplit=1,
        )[0]
        if name.rpartition(":")[2] in used:
            return name.replace(":", ".")
    return ""


def names_in(script: str) -> frozenset[str]:
    """Every name that a script reads or imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return frozenset(found)


def functions_of_one(buggy: ProjectFiles, fixed: ProjectFiles) -> frozenset[str]:
    """Qualified names of functions that only one of two revisions has."""
    return frozenset(_functions(buggy) ^ _functions(fixed))


def _functions(files: ProjectFiles) -> set[str]:
    found: set[str] = set()
    for path in files.paths:
        tree = files.tree(path)
        waiting = []
        if tree is not None:
            waiting = [(node, "") for node in tree.body]
        while waiting:
            node, before = waiting.pop()
            inner = before
            if isinstance(node, FunctionNode):
                found.add(before + node.name)
                inner = f"{before}{node.name}.<locals>."
            elif isinstance(node, ast.ClassDef):
                inner = f"{before}{node.name}."
            waiting += [
                (child, inner)
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.stmt)
            ]
    return found
