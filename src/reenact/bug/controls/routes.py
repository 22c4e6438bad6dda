"""What a script chooses after the first different answer: it goes another route, and hands in
something new.

From that answer on the two runs may differ. What they are given may differ too, because answers are
handed on, as they are or with something computed from them. A script that goes the same route on
both revisions, each of its own instructions, has chosen nothing. One that branches may, if what it
hands in there is known: answered by the project before, or given to the other revision too. A value
that is neither was chosen. Not covered: a choice without a branch (an item of a list, by a number
that the project answered).
"""

from collections.abc import Iterator, Mapping, Set

from reenact.bug.recorded_calls import LOST, RecordedCalls

_NO_DATA = ("object ", "class ", "callable ", "module ", "seen before", "closed: ")
"""Leaves that say what kind of thing there is, or nothing."""


def chosen(one: RecordedCalls, other: RecordedCalls) -> str:
    """What the script chose to hand to the first revision alone, in words; empty where it chose
    nothing.
    """
    routes = {event.route for event in other.events} | {other.route}
    if LOST in routes or one.route == LOST or one.cut or other.cut:
        return ""
    functions = {event.function for event in other.events}
    given = {
        leaf
        for event in other.events
        if event.way == "in"
        for leaf in other.trees[event.tree].items()
    }
    answered: set[str] = set()
    for event in one.events:
        leaves = one.trees[event.tree]
        if event.way == "out":
            answered.update(leaves.values())
            continue
        if event.route in routes:
            # It was given before the routes part, or on both.
            given.update(leaves.items())
        elif event.function not in functions:
            return f"it calls {event.function} (line {event.line})"
        elif new := next(_new(leaves, given, answered), ""):
            return f"it gives {event.function} another `{new}` (line {event.line})"
    if one.kept and one.route != other.route:
        return next(
            (
                f"`{new}` is another"
                for new in _new(
                    one.kept,
                    set(other.kept.items()),
                    answered,
                )
            ),
            "",
        )
    return ""


def _new(
    leaves: Mapping[str, str], given: Set[tuple[str, str]], answered: Set[str]
) -> Iterator[str]:
    """Paths of what was not given and not answered."""
    for path, leaf in sorted(
        leaves.items(),
        key=lambda pair: len(pair[0]),
    ):
        # The weights of a model change by an optimizer, between two calls of the project.
        is_state = "." in path and (path.endswith("[:]") or leaf.startswith(("tensor ", "array ")))
        is_default = path.endswith("?") or f"{path}?" in leaves
        if is_state or is_default or leaf.startswith(_NO_DATA):
            continue
        if (path, leaf) not in given and leaf not in answered:
            yield path
