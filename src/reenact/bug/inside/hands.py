"""Finds out whether an exception that comes out of the project was built by the script.

The script is compiled with a hook around everything that it hands over: arguments, what it assigns,
what it puts into lists and classes. Exceptions that it builds are remembered; iterators and
functions of libraries are replaced by ones that do the same and notice what is raised in them. What
they raise without anything of the project's own, because the project only set them going, is the
script's.
"""

from __future__ import annotations

import ast
import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from reenact.claims.inside.genuine import EXACT, contradiction, is_genuine, made_plain
else:
    from genuine import EXACT, contradiction, is_genuine, made_plain

HOOK = "_reenact_hands_over"
LAZY = ("builtins", "itertools")
"""Modules whose iterators run what the script gave them."""
FOREIGN = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.MethodType,
    types.FunctionType,
    functools.partial,
    operator.itemgetter,
    operator.methodcaller,
    operator.attrgetter,
    functools._lru_cache_wrapper,
)


class Hands:
    """What a script handed over in one run, and what was raised in it."""

    def __init__(
        self,
        owner: Callable[[str], str],
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: no fixed revision reports, so objects of the script must be what they say."""
        self._owner = owner
        self._alone = alone
        self._own: list[Any] = []
        self._plain: dict[str, str] = {}
        self._built: list[tuple[BaseException, str]] = []
        self._depth = 0

    @property
    def active(self) -> bool:
        """Whether something runs that the script handed over."""
        return self._depth > 0

    def hooked(self, text: bytes, script: str) -> types.CodeType:
        """The script with the hook, each line where it was."""
        tree = ast.fix_missing_locations(_Hooked().visit(ast.parse(text, script)))
        return compile(tree, script, "exec", dont_inherit=True)

    def made(self, error: BaseException) -> str:
        """How the script made this exception, in words; empty where it did not."""
        made = next(
            (how for built, how in self._built if built is error),
            "",
        )
        return made or next(
            filter(None, map(contradiction, self._own)),
            "",
        )

    @property
    def plain(self) -> str:
        """Classes of the script that answered like the built-in types that they are, in words."""
        return ", ".join(
            f"{name} answers like the {base} that it is" for name, base in self._plain.items()
        )

    def hand(self, value: Any) -> Any:
        """What is handed over instead of a value: itself, or what notices what is raised in it."""
        kind = type(value)
        if isinstance(value, BaseException):
            self._built.append((value, f"the script built this {kind.__name__}"))
        elif (
            kind.__module__ in LAZY
            and hasattr(kind, "__next__")
            and kind is not types.GeneratorType
        ):
            return LentIterator(self, value)
        elif kind in FOREIGN and self._is_library(value):
            return LentFunction(self, value)
        elif self._alone and kind not in EXACT and not is_genuine(kind):
            self._own.append(value)
            if base := made_plain(kind):
                self._plain[kind.__name__] = base
        return value

    def _is_library(self, value: Any) -> bool:
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType):
            return self._owner(function.__code__.co_filename) == "library"
        return True

    def run(
        self,
        what: Callable[..., Any],
        *given: Any,
        **named: Any,
    ) -> Any:
        """Call what was handed over; an exception without anything of the project in it is the
        script's.
        """
        self._depth += 1
        try:
            return what(*given, **named)
        except StopIteration:
            raise
        except BaseException as error:
            if not self._passed_project(error) and self._is_passed_on([*given, *named.values()]):
                name = getattr(what, "__name__", type(what).__name__)
                self._built.append(
                    (
                        error,
                        f"it is raised by {name}, which the script handed to the project",
                    )
                )
            raise
        finally:
            self._depth -= 1

    def _passed_project(self, error: BaseException) -> bool:
        """Whether the exception came through project code within what was handed over."""
        trace = error.__traceback__
        while trace is not None:
            if self._owner(trace.tb_frame.f_code.co_filename) == "project":
                return True
            trace = trace.tb_next
        return False

    def _is_passed_on(self, given: list[Any]) -> bool:
        """Whether all that it was called with is what the script passed in at the outermost
        call.
        """
        frame: types.FrameType | None = sys._getframe(2)
        outermost: types.FrameType | None = None
        while frame is not None and self._owner(frame.f_code.co_filename) != "script":
            if self._owner(frame.f_code.co_filename) == "project":
                outermost = frame
            frame = frame.f_back
        if outermost is None or not given:
            return True
        code = outermost.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        passed: list[Any] = []
        for name in code.co_varnames[:count]:
            value = outermost.f_locals.get(name)
            passed.append(value)
            passed.extend(value if isinstance(value, (list, tuple)) else ())
            passed.extend(value.values() if isinstance(value, dict) else ())
        return all(any(one is other for other in passed) for one in given)


class Lent:
    """Stands in for something of a library that the script hands over."""

    def __init__(self, hands: Hands, inner: Any) -> None:
        self._hands = hands
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class LentFunction(Lent):
    """A function that does the same as another one."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._hands.run(self._inner, *given, **named)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        # As a member of a class: what binds itself to an object still does, what does not still
        # does not.
        bind = getattr(type(self._inner), "__get__", None)
        return (
            self
            if bind is None
            else LentFunction(
                self._hands,
                bind(self._inner, owner, kind),
            )
        )


class LentIterator(Lent):
    """An iterator that gives the same as another one."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._hands.run(self._inner.__next__)


class _Hooked(ast.NodeTransformer):
    """Puts the hook around what is handed over; names, lines and order stay."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [_hook(one) for one in node.args]
        for keyword in node.keywords:
            if keyword.arg is not None:
                keyword.value = _hook(keyword.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _hook(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        node.value = _hook(node.value) if node.value is not None else None
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        node.value = _hook(node.value) if node.value is not None else None
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._display(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return self._display(node)

    def _display(
        self,
        node: ast.List | ast.Tuple | ast.Set,
    ) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node, ast.Set) or isinstance(node.ctx, ast.Load):
            node.elts = [_hook(one) for one in node.elts]
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        node.values = [
            _hook(value) if key is not None else value
            for key, value in zip(node.keys, node.values)  # noqa: B905 - of the same length
        ]
        return node


def _hook(node: ast.expr) -> ast.expr:
    if isinstance(
        node,
        (
            ast.Starred,
            ast.Constant,
            ast.Lambda,
            ast.JoinedStr,
        ),
    ):
        return node
    return ast.copy_location(
        ast.Call(
            ast.Name(HOOK, ast.Load()),
            [node],
            [],
        ),
        node,
    )
