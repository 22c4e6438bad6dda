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
from typing import TypeAlias

from reenact.bug.project.files import ProjectFiles
from reenact.bug.project.lookup import Class, Codebase, Function, Module, Outside
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import Bindings
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem
from reenact.codegen.project import parsed

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ASIDE = frozenset({"test", "tests", "testing", "docs", "examples", "tutorials", "benchmarks"})
"""Folders whose code is not under test."""
SEVERAL = 3
"""Statements from which on an equal body is a copy and no coincidence."""


def copied(tree: ast.Module, project: Codebase) -> Iterator[Problem]:
    """Functions and classes that the project has: by name and form at the top level, by body anywhere."""
    for node in ast.walk(tree):
        if not isinstance(node, Definition):
            continue
        if node in tree.body and _is_anew(node, project.files):
            yield _anew(f"`{node.name}` is defined anew; import the project's own.", node)
        elif _is_copy(node, project):
            yield _anew(f"`{node.name}` is a copy of project code; import the original.", node)


def _anew(sentence: str, node: Definition) -> Problem:
    return Problem(Stage.RELEVANCE, sentence, line=node.lineno)


def _is_anew(node: Definition, files: ProjectFiles) -> bool:
    """Whether the project has one of that name and form: the same parameters, or a method in common."""
    for path in files.definitions.get(node.name, ()):
        if ASIDE.intersection(path.parts) or path.name.startswith("test_"):
            continue
        for other in _definitions(files.text(path)):
            if other.name == node.name and _forms(node) & _forms(other):
                return True
    return False


def _forms(node: Definition) -> frozenset[str]:
    """The parameters of a function as one word, the methods of a class as several."""
    if isinstance(node, ast.ClassDef):
        methods = (one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        return frozenset(methods) - {"__init__"}
    return frozenset({ast.unparse(ast.arguments([], node.args.args, None, [], [], None, []))} - {""})


def _is_copy(node: Definition, project: Codebase) -> bool:
    if len(node.body) < SEVERAL:
        return False
    body = _body(node)
    if body not in project.copies:
        project.copies[body] = any(
            _holds(node, body, project.files.text(path)) for path in project.files.paths
        )
    return project.copies[body]


def _holds(node: Definition, body: str, text: str) -> bool:
    """Whoever copies a function keeps the words that are rare in it; only files that hold them are parsed."""
    names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return all(name in text for name in names) and body in _bodies(text)


def _bodies(text: str) -> set[str]:
    return {_body(node) for node in _definitions(text) if len(node.body) >= SEVERAL}


def _definitions(text: str) -> list[Definition]:
    tree = parsed(text)
    return [node for node in ast.walk(tree) if isinstance(node, Definition)] if tree is not None else []


def _body(node: Definition) -> str:
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(ast.dump(line) for line in node.body[1 if told else 0 :])


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
