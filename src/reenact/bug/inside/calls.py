"""Writes down what goes from the script into the project and what comes back, in the order in which
it did.

`in`: the arguments of a call that the script makes (also through a library), or what a function of
the script answers to the project. `out`: what a call of the project gave back or raised and left in
its arguments, or the arguments with which the project called a function of the script. Calls within
the project are left out. Each comes with the route of the script until then (every instruction of
its own), as one number: where that is the same on two revisions, the script decided nothing by what
it knew of them.
"""

from __future__ import annotations

import dis
import gc
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from reenact.bug.inside import judge
    from reenact.bug.inside.digest import Digest, raised_leaf
else:
    import judge
    from digest import Digest, raised_leaf

MOST_EVENTS, MOST_LEAVES = 4000, 150_000
"""After so many the recording ends, and says so."""
MOST_STEPS = 3_000_000
"""Instructions of the script after which its route is not followed any more."""
KEPT = ("observed", "reference")
"""What a script leaves for the check of a silent bug."""
LOST = -1
"""The route of a script that was not followed to its end."""
RETURNS = frozenset(
    dis.opmap[name]
    for name in (
        "RETURN_VALUE",
        "YIELD_VALUE",
        "RETURN_CONST",
        "RETURN_GENERATOR",
        "YIELD_FROM",
        "SEND",
    )
    if name in dis.opmap
)
"""Instructions at which a function ends without an exception."""
if TYPE_CHECKING:
    Trace = Callable[[types.FrameType, str, Any], Any]


class Recorder:
    """Follows the calls of one run of a script."""

    def __init__(self, project: str, script: str) -> None:
        self._project = project
        self._script = script
        self._owners: dict[str, str] = {}
        self._functions: dict[int, Any] = {}
        self._trees: dict[tuple[tuple[str, str], ...], int] = {}
        self._leaves = 0
        self._events: list[list[Any]] = []
        self._closed = False
        self._cut = ""
        self._route = 0
        self._steps = 0
        self._asked = 0
        """Functions of the script that the project is calling now: how often it does is its own
        choice.
        """

    def start(self) -> None:
        """Record from here on, in this thread."""
        sys.settrace(self._called)

    def stop(
        self,
        namespace: Mapping[str, Any],
    ) -> dict[str, Any]:
        """What was recorded, and what the script left to look at. `taken` says that something else
        took the place of the recorder.
        """
        taken = sys.gettrace() != self._called and not self._cut
        sys.settrace(None)
        constants = self._constants()
        kept = Digest()
        for name in (name for name in KEPT if name in namespace):
            kept.add(name, namespace[name])
        return {
            "trees": [dict(tree) for tree in self._trees],
            "events": self._events,
            "constants": constants,
            "kept": kept.leaves,
            "route": self._route,
            "closed": self._closed,
            "cut": "something else traces the calls" if taken else self._cut,
        }

    def owner(self, frame: types.FrameType | None) -> str:
        """Whose the nearest frame is that is not a library's; empty when there is none."""
        while frame is not None:
            whose = self._whose(frame.f_code.co_filename)
            if whose != "library":
                return whose
            frame = frame.f_back
        return ""

    def _whose(self, filename: str) -> str:
        if filename not in self._owners:
            self._owners[filename] = judge.where(filename, self._project, self._script)
        return self._owners[filename]

    def _called(
        self,
        frame: types.FrameType,
        event: str,
        _: Any,
    ) -> Trace | None:
        """The trace function: Python asks it at every call, and after that only where it says
        so.
        """
        if event != "call" or self._cut:
            return None
        whose = self._whose(frame.f_code.co_filename)
        if whose == "library":
            return None
        caller = self.owner(frame.f_back)
        try:
            if whose == "project" and caller == "script":
                return self._entered(frame)
            if whose == "script" and caller == "project":
                return self._answered(frame)
            if whose == "script" and not self._asked:
                return self._followed(frame)
        except Exception as error:  # noqa: BLE001 - what fails here must not reach the script
            self._cut = f"a call could not be recorded ({type(error).__name__})"
        return None

    def _entered(self, frame: types.FrameType) -> Trace | None:
        """The script calls the project."""
        frame.f_trace_lines = False
        if frame.f_code.co_name == "<module>":
            return self._importing(frame)
        name, given, defaults = self._given(frame)
        # Nothing was passed, or just the default: another default is not another argument.
        defaulted = [
            argument for argument, value in given.items() if defaults.get(argument, frame) is value
        ]
        before = Digest()
        for argument, value in given.items():
            before.add(argument, value)
            if argument in defaulted:
                before.leaves[f"{argument}?"] = "default"
        self._note("in", name, frame, before)

        def ended(left: Digest) -> None:
            for argument, value in given.items():
                if argument not in defaulted:
                    left.add(f"after {argument}", value)
            self._note("out", name, frame, left)

        return self._until_the_end(ended)

    def _answered(self, frame: types.FrameType) -> Trace | None:
        """The project calls a function of the script."""
        frame.f_trace_lines = False
        name, given, _ = self._given(frame)
        handed = Digest()
        for argument, value in given.items():
            handed.add(argument, value)
        self._note("out", name, frame, handed)
        self._asked += 1

        def ended(answer: Digest) -> None:
            self._asked -= 1
            self._note("in", name, frame, answer)

        return self._until_the_end(ended)

    def _followed(self, frame: types.FrameType) -> Trace:
        """The script runs its own code: every instruction counts."""
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        first = frame.f_code.co_firstlineno

        def follow(inner: types.FrameType, event: str, _: Any) -> Trace:
            if event == "opcode" and self._route != LOST:
                self._steps += 1
                # Numbers alone: their hash is the same in every process, and never -1.
                self._route = (
                    hash((self._route, first, inner.f_lasti)) if self._steps < MOST_STEPS else LOST
                )
            return follow

        return follow

    def _importing(self, frame: types.FrameType) -> Trace:
        """A file of the project is imported: of interest only when that fails, because what is
        imported first by what depends on the revision.
        """
        file = os.path.relpath(frame.f_code.co_filename, self._project)

        def ended(left: Digest) -> None:
            if any(leaf.startswith("raised ") for leaf in left.leaves.values()):
                self._note("out", f"<module> {file}", frame, left)

        return self._until_the_end(ended)

    def _until_the_end(self, ended: Callable[[Digest], None]) -> Trace:
        raised: list[BaseException] = []

        def follow(inner: types.FrameType, event: str, value: Any) -> Trace:
            if event == "exception":
                raised[:] = [value[1]]
            elif event == "return" and not self._cut:
                left = Digest()
                if raised and inner.f_code.co_code[inner.f_lasti] not in RETURNS:
                    left.leaves["gives"] = raised_leaf(raised[0])
                else:
                    left.add("gives", value)
                try:
                    ended(left)
                except Exception as error:  # noqa: BLE001 - what fails here must not reach the script
                    self._cut = f"a call could not be recorded ({type(error).__name__})"
            return follow

        return follow

    def _given(self, frame: types.FrameType) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The function's name, what it was given, and the defaults of its parameters."""
        code = frame.f_code
        function = self._function(code)
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        names = [name for name in code.co_varnames[:count] if not name.startswith(".")]
        local = frame.f_locals
        given = {name: local[name] for name in names if name in local}
        defaults: dict[str, Any] = {}
        if function is not None:
            positional = code.co_varnames[: code.co_argcount]
            values = function.__defaults__ or ()
            defaults.update(zip(positional[len(positional) - len(values) :], values))  # noqa: B905
            defaults.update(function.__kwdefaults__ or {})
        qualified = getattr(code, "co_qualname", "") or getattr(
            function, "__qualname__", code.co_name
        )
        return qualified, given, defaults

    def _function(self, code: types.CodeType) -> Any:
        """A function with this code."""
        if id(code) not in self._functions:
            holders = (one for one in gc.get_referrers(code) if isinstance(one, types.FunctionType))
            self._functions[id(code)] = next(
                (one for one in holders if one.__code__ is code),
                None,
            )
        return self._functions[id(code)]

    def _note(
        self,
        way: str,
        name: str,
        frame: types.FrameType,
        digest: Digest,
    ) -> None:
        tree = tuple(sorted(digest.leaves.items()))
        if tree not in self._trees:
            self._leaves += len(tree)
            self._trees[tree] = len(self._trees)
        self._events.append(
            [
                way,
                name,
                self._line(frame),
                self._trees[tree],
                self._route,
            ]
        )
        self._closed = self._closed or (digest.closed and way == "out")
        if len(self._events) >= MOST_EVENTS or self._leaves >= MOST_LEAVES:
            self._cut = f"only the first {len(self._events)} were recorded"

    def _line(self, frame: types.FrameType | None) -> int:
        """The line of the script from which this comes."""
        while frame is not None:
            if self._whose(frame.f_code.co_filename) == "script":
                return frame.f_lineno or 0
            frame = frame.f_back
        return 0

    def _constants(self) -> dict[str, str]:
        """What modules and classes of the project hold that is not code."""
        leaves: dict[str, str] = {}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if not isinstance(module, types.ModuleType) or not isinstance(file, str):
                continue
            if self._whose(file) == "project":
                found = Digest()
                for name, value in _constants_of(module):
                    found.add(
                        f"{module.__name__}/{name}",
                        value,
                        3,
                    )
                leaves.update(found.leaves)
        return leaves


def _constants_of(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Constants of a module by name, those of its classes as `class:name`."""
    for name, value in _data_of(vars(module)):
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                for inner, held in _data_of(vars(value)):
                    yield f"{name}:{inner}", held
        elif not isinstance(value, types.ModuleType):
            yield name, value


def _data_of(names: Any) -> Iterator[tuple[str, Any]]:
    """Names without those that Python itself sets."""
    code = (types.FunctionType, staticmethod, classmethod, property)
    for name, value in list(names.items()):
        if not name.startswith("__") and not isinstance(value, code):
            yield name, value
