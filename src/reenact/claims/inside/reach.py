"""How a check gets at a program that is one script. Scripts of checks import it by the name
`reenact_reach`.

    train = reach.module()              the entry without its main part, as an import gives it
    train = reach.module("model.py")    another file of the program
    seen = reach.until("for epoch in")  the program, up to the statement that begins so
    seen = reach.at("fit")              the program, up to a call of this function
    seen = reach.steps(5)               the program, up to the fifth step of an optimizer

What `module` and `until` give has the program's names as attributes. What `at` gives has the names
of the caller there, and the arguments of the call in `arguments`. What `steps` gives
has the names of the entry, the lines that were printed in `printed`, and in `calls` how often each
function of the program ran.

The watcher runs each script once more with `later` above 1: then `steps` goes on for longer, and
`at` stops at a later call. What is claimed must hold there too.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import os
import sys
import types
from typing import Any

ENDED = "the program ended before"
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class NotReached(Exception):
    """The program ended, or has no such place, before the check got where it wanted."""


class _Stop(BaseException):
    """Ends the program at the place that was reached; no `except Exception` catches it."""


class Seen(types.SimpleNamespace):
    """The program's names where it was stopped."""

    def __contains__(self, name: str) -> bool:
        return hasattr(self, name)


class _Setup:
    """What the watcher says: which program, and how far to go."""

    entry = ""
    root = ""
    arguments: tuple[str, ...] = ()
    later = 1
    reached = 0
    """How often a script got to where it wanted."""


setup = _Setup()


def module(file: str = "") -> types.ModuleType:
    """A file of the program without its main part; the entry by default."""
    path = _path(file)
    name = os.path.splitext(os.path.basename(path))[0]
    made = types.ModuleType(name)
    made.__file__ = path
    sys.modules[name] = made
    _execute(_code(path), vars(made))
    setup.reached += 1
    return made


def until(text: str, file: str = "") -> Seen:
    """The names that the first statement which begins with `text` sees, just before it runs."""
    path = _path(file)
    wanted = _plain(text)
    lines = [
        statement.lineno
        for statement in ast.walk(_tree(path))
        if isinstance(statement, ast.stmt) and _plain(ast.unparse(statement)).startswith(wanted)
    ]
    if not lines:
        raise NotReached(f"no statement of {os.path.basename(path)} begins with {text!r}")
    line = min(lines)
    left = [setup.later]
    found: list[Seen] = []

    def enter(frame: types.FrameType, event: str, given: Any) -> Any:  # noqa: ARG001
        code = frame.f_code
        if code.co_filename == path and line in {number for _, _, number in code.co_lines()}:
            return follow
        return None

    def follow(frame: types.FrameType, event: str, given: Any) -> Any:  # noqa: ARG001
        if event == "line" and frame.f_lineno == line:
            left[0] -= 1
            if left[0] == 0 or frame.f_code.co_name == "<module>":
                found.append(Seen(**_public({**frame.f_globals, **frame.f_locals})))
                raise _Stop
        return follow

    _run(sys.settrace, enter)
    if not found:
        raise NotReached(f"{ENDED} line {line} of {os.path.basename(path)}")
    setup.reached += 1
    return found[0]


def at(function: str, nth: int = 1) -> Seen:
    """The names of the caller at the nth call of a function, by its last name. Where a library calls
    it, the caller is the line of the program that led there.
    """
    calls = _Calls(function.rpartition(".")[2], nth + setup.later - 1)
    _run(sys.setprofile, calls.look)
    if calls.seen is None:
        raise NotReached(f"{ENDED} call {nth + setup.later - 1} of {function}")
    setup.reached += 1
    return calls.seen


class _Calls:
    """Counts calls of one function that the program makes, and ends it at one of them."""

    def __init__(self, name: str, left: int) -> None:
        self.name = name
        self.left = left
        self.within: types.FrameType | None = None
        """The call that was counted last, while it goes on: what it calls is the same call."""
        self.seen: Seen | None = None

    def look(self, frame: types.FrameType, event: str, given: Any) -> None:
        """What the interpreter calls at each call and return."""
        if self.within is not None:
            if event == "return" and frame is self.within:
                self.within = None
            return
        if event == "call" and _called(frame) == self.name:
            self._counted(_nearest(frame.f_back), frame)
        elif event == "c_call" and getattr(given, "__name__", "") == self.name:
            self._counted(frame if _is_ours(frame.f_code.co_filename) else None, None)

    def _counted(self, caller: types.FrameType | None, called: types.FrameType | None) -> None:
        if caller is None:
            return
        self.left -= 1
        self.within = called
        if self.left == 0:
            values = []
            if called is not None:
                values = [called.f_locals[name] for name in _parameters(called.f_code)]
            names = _public({**caller.f_globals, **caller.f_locals})
            self.seen = Seen(**names, arguments=values)
            raise _Stop


def _nearest(frame: types.FrameType | None) -> types.FrameType | None:
    """The nearest frame of the program."""
    while frame is not None and not _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def steps(count: int) -> Seen:
    """The program up to so many steps of its optimizers."""
    wanted = count * setup.later
    taken = [0]
    calls: collections.Counter[str] = collections.Counter()
    printed: list[str] = []

    def step(*_: Any, **__: Any) -> None:
        taken[0] += 1
        if taken[0] >= wanted:
            raise _Stop

    def look(frame: types.FrameType, event: str, given: Any) -> None:  # noqa: ARG001
        if event == "call" and _is_ours(frame.f_code.co_filename):
            calls[frame.f_code.co_name] += 1

    undo = _after_steps(step)
    said = builtins.print
    builtins.print = _listening(said, printed)
    try:
        names = _run(sys.setprofile, look)
    finally:
        builtins.print = said
        for one in undo:
            one()
    if taken[0] < wanted:
        raise NotReached(f"{ENDED} step {wanted}: it took {taken[0]}")
    setup.reached += 1
    return Seen(**_public(names), printed=printed, calls=dict(calls))


def _run(watch: Any, look: Any) -> dict[str, Any]:
    """The entry as it is started, until `look` or a step ends it; its names."""
    path = _path("")
    main = types.ModuleType("__main__")
    main.__file__ = path
    # The program finds itself there, as when it is started.
    sys.modules["__main__"] = main
    sys.argv[:] = [path, *setup.arguments]
    code = _code(path)
    watch(look)
    try:
        _execute(code, vars(main))
    except (_Stop, SystemExit):
        return vars(main)
    finally:
        watch(None)
    return vars(main)


def _execute(code: types.CodeType, names: dict[str, Any]) -> None:
    names.setdefault("__builtins__", builtins)
    exec(code, names)  # noqa: S102 - the program under test, in the box


def _called(frame: types.FrameType) -> str:
    """The name of a function that is entered; of a class that is made, the name of the class."""
    name = frame.f_code.co_name
    if name != "__init__":
        return name
    made = frame.f_locals.get(next(iter(_parameters(frame.f_code)), ""))
    return type(made).__name__


def _after_steps(step: Any) -> list[Any]:
    """Have `step` called after each step of an optimizer; what undoes that."""
    undo = []
    # Those that the program imports are there: importing another framework takes seconds.
    torch_optimizer = sys.modules.get("torch.optim.optimizer")
    if torch_optimizer is not None:
        undo.append(torch_optimizer.register_optimizer_step_post_hook(step).remove)
    optimizers = sys.modules.get("keras.optimizers")
    if optimizers is None:
        return undo
    base = optimizers.Optimizer.__mro__
    owner = next(one for one in base if "apply" in vars(one))
    before = owner.apply

    def apply(self: Any, *given: Any, **named: Any) -> Any:
        result = before(self, *given, **named)
        step()
        return result

    owner.apply = apply

    def put_back() -> None:
        owner.apply = before

    return [*undo, put_back]


def _listening(said: Any, printed: list[str]) -> Any:
    def hear(*parts: Any, **how: Any) -> None:
        if how.get("file") is None:
            printed.append(str(how.get("sep") or " ").join(map(str, parts)))
        said(*parts, **how)

    return hear


def _path(file: str) -> str:
    path = os.path.normpath(os.path.join(setup.root, file)) if file else setup.entry
    if not os.path.isfile(path):
        raise NotReached(f"the program has no file {file}")
    return path


def _tree(path: str) -> ast.Module:
    with open(path, "rb") as source:
        return ast.parse(source.read())


def _code(path: str) -> types.CodeType:
    return compile(_tree(path), path, "exec", dont_inherit=True)


def _plain(text: str) -> str:
    """A piece of source without what formatting leaves free."""
    return "".join(text.split()).replace("'", '"')


@functools.cache
def _is_ours(filename: str) -> bool:
    """Whether a file is the program's: below its folder, not a package, not the watcher."""
    if not os.path.isabs(filename) or filename.startswith(_HERE):
        return False
    path = os.path.realpath(filename)
    return path.startswith(os.path.realpath(setup.root) + os.sep) and "site-packages" not in path


def _parameters(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount]


def _public(names: dict[str, Any]) -> dict[str, Any]:
    hidden = ("arguments", "printed", "calls")
    return {
        name: value
        for name, value in names.items()
        if name.isidentifier() and not name.startswith("__") and name not in hidden
    }
