"""What a script must not do with what it is to show: patch it, mock it, or take the watcher apart.

Covered: patching of modules and classes, mocks, copies of project code (copies.py), reading the project's
files or version, raising the expected exception itself, reaching into frames, tracebacks, code objects, the
interpreter's hooks and its memory, sources of chance that no seed rules. Not covered: a script written by
somebody who knows this list; what it can forge then is bounded by the run on the fixed revision.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reenact.bug.project.lookup import Outside
from reenact.bug.project.module import Class, Function, Module
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import Bindings
from reenact.bug.validate.copies import copied
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODULES = _words("""
    unittest mock pytest inspect gc ctypes atexit faulthandler builtins importlib code codeop dis imp runpy
    tracemalloc subprocess socket signal secrets uuid marshal pickletools linecache traceback
""")
"""Modules that a script for showing a bug has no business with."""
CALLS = _words("exec eval compile __import__ globals locals vars breakpoint input delattr setattr")
ATTRIBUTES = _words("""
    __code__ __globals__ __closure__ __dict__ __bases__ __subclasses__ __traceback__ with_traceback __file__
    __spec__ __loader__ __builtins__ _getframe f_back f_locals f_globals tb_frame gi_frame excepthook settrace
    setprofile urandom SystemRandom meta_path path_hooks showwarning __setattr__ __cause__ __context__
    CodeType FunctionType ModuleType MethodType
""")
DOTTED = _words(
    "sys.modules sys.path sys.stdin os._exit os.abort os.kill os.fork os.execv os.system os.popen"
)
OF_PROJECT = _words("__version__ __path__ __name__ __doc__ __module__ __qualname__")
"""What would tell one revision of the project from another."""
_SOURCE = re.compile(r"\S*(?:\.pyc?|\brepository/)\S*")


def dishonest(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> tuple[Problem, ...]:
    """Everything the script does that would make its outcome worthless."""
    found: list[Problem] = []
    for node in ast.walk(tree):
        found += _reaches(node, bindings)
        found += _patches(node, bindings)
        found += _raises(node, symptom)
    found += copied(tree, bindings.project)
    return tuple(dict.fromkeys(found))


def _object(sentence: str, node: ast.stmt | ast.expr) -> Problem:
    return Problem(Stage.RELEVANCE, sentence, line=node.lineno)


def _reaches(node: ast.AST, bindings: Bindings) -> Iterator[Problem]:
    """Modules, calls and attributes that are none of a script's business."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for name in _imported(node):
            yield _object(f"A script that shows a bug may not use `{name}`.", node)
    elif isinstance(node, ast.Name) and (node.id in CALLS or node.id in ATTRIBUTES):
        yield _object(f"A script that shows a bug may not use `{node.id}`.", node)
    elif isinstance(node, ast.Attribute) and _is_out_of_reach(node, bindings):
        yield _object(f"A script that shows a bug may not touch `{ast.unparse(node)}`.", node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _SOURCE.fullmatch(node.value):
        yield _object("A script that shows a bug may not name source files; it imports what it needs.", node)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """What an import brings that a script has no business with."""
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    for one in node.names:
        name = f"{module}.{one.name}" if module else one.name
        if name.partition(".")[0] in MODULES or name in DOTTED or one.name in ATTRIBUTES:
            yield name


def _is_out_of_reach(node: ast.Attribute, bindings: Bindings) -> bool:
    if node.attr in ATTRIBUTES or bindings.dotted(node) in DOTTED:
        return True
    if node.attr == "__class__":
        return isinstance(node.ctx, ast.Store)
    return node.attr in OF_PROJECT and bindings.is_project(node.value)


def _patches(node: ast.AST, bindings: Bindings) -> Iterator[Problem]:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.Delete):
        targets = node.targets
    for target in targets:
        if isinstance(target, ast.Attribute) and _is_patch(target, value, bindings):
            yield _object(
                f"`{ast.unparse(target)}` is changed from outside: the code under test must stay as it is.",
                target,
            )


def _is_patch(target: ast.Attribute, value: ast.expr | None, bindings: Bindings) -> bool:
    """Changing a module or class, or putting a function where a method is; a setting of a library is none."""
    base = bindings.what(target.value)
    if isinstance(base, Module | Class | Function):
        return True
    plain = isinstance(value, ast.Constant)
    if isinstance(base, Outside):
        return not plain
    if isinstance(value, ast.Lambda):
        return True
    replaced = bindings.what(target)
    return isinstance(replaced, Function) or (bool(bindings.dotted(target.value)) and not plain)


def _raises(node: ast.AST, symptom: Symptom) -> Iterator[Problem]:
    if not isinstance(node, ast.Raise) or node.exc is None or symptom.explicit is None:
        return
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if ast.unparse(raised).rpartition(".")[2] == symptom.explicit.name:
        yield _object(f"The script raises {symptom.explicit.name} itself; the project must.", node)
