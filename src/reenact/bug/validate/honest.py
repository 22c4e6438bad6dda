"""What a script must not do with what it is to show: patch it, mock it, or take the watcher apart.

Covered: patching of modules and classes, mocks, copies of project code, reading the project's files
or version, raising the expected exception itself, reaching into frames, tracebacks, code objects,
the interpreter's hooks and its memory, sources of chance that no seed rules, and asking which
revision it runs on (signatures, defaults, attributes, exceptions that are caught). It is a list and
no proof: a script written by somebody who knows it can get around it. docs/bug.md shows the list.
"""

import ast
import sys
from collections.abc import Iterator

from reenact.bug.codebase import Class, Codebase, Function, Module, Outside
from reenact.bug.reproduction import Stage
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import Bindings
from reenact.claims.forbidden import ATTRIBUTES, CALLS, DOTTED, MODULES, SOURCE_FILE
from reenact.codegen.project import Problem
from reenact.codegen.syntax import Definition, FunctionNode, imported_names, targets_of

ASIDE = frozenset({"test", "tests", "testing", "docs", "examples", "tutorials", "benchmarks"})
"""Folders whose code is not under test."""
OF_PROJECT = frozenset(
    {"__version__", "__path__", "__name__", "__doc__", "__module__", "__qualname__"}
)
"""What would tell one revision of the project from another."""
_PROBES = frozenset({"hasattr", "getattr", "callable"})
"""Builtins that would ask an object of the project which revision it is."""
_TRIES = (
    ast.Try,
    *((ast.TryStar,) if sys.version_info >= (3, 11) else ()),
)


def dishonest(
    tree: ast.Module,
    bindings: Bindings,
    symptom: Symptom,
) -> tuple[Problem, ...]:
    """Everything the script does that would make its outcome worthless."""
    found: list[tuple[str, int]] = []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
    for node in nodes:
        acts = (
            *_reaches(node, bindings),
            *_patches(node, bindings),
            *_raises(node, symptom),
        )
        found += [(one, node.lineno) for one in (*acts, *_asks_which(node, bindings))]
    for node in (node for node in nodes if isinstance(node, Definition)):
        found += [
            (one, node.lineno)
            for one in _copies(
                node,
                bindings.project,
                is_top=node in tree.body,
            )
        ]
    return tuple(Problem(Stage.RELEVANCE, one, line=line) for one, line in dict.fromkeys(found))


def _reaches(node: ast.AST, bindings: Bindings) -> Iterator[str]:
    """Modules, calls and attributes that are not among a script's business."""
    for one in imported_names(node):
        name = one.module if isinstance(node, ast.Import) else one.target
        last = name.rpartition(".")[2]
        if name.partition(".")[0] in MODULES or name in DOTTED or last in ATTRIBUTES:
            yield f"A script that shows a bug may not use `{name}`."
    if isinstance(node, ast.Name) and (node.id in CALLS or node.id in ATTRIBUTES):
        yield f"A script that shows a bug may not use `{node.id}`."
    elif isinstance(node, ast.Attribute):
        named = node.attr in ATTRIBUTES or bindings.dotted(node) in DOTTED
        made_other = node.attr == "__class__" and isinstance(node.ctx, ast.Store)
        if named or made_other or (node.attr in OF_PROJECT and bindings.is_project(node.value)):
            yield f"A script that shows a bug may not touch `{ast.unparse(node)}`."
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and SOURCE_FILE.fullmatch(node.value)
    ):
        yield "A script that shows a bug may not name source files; it imports what it needs."


def _asks_which(node: ast.AST, bindings: Bindings) -> Iterator[str]:
    """Ways to do one thing on one revision of the project and another thing on another."""
    if isinstance(node, _TRIES) and node.handlers and _uses_project(node.body, bindings):
        yield "A script that shows a bug may not catch what the project raises; let it come out."
    elif isinstance(node, ast.With) and _uses_project(node.body, bindings):
        for manager in (ast.unparse(item.context_expr) for item in node.items):
            if manager.rpartition("(")[0].rpartition(".")[2] in (
                "suppress",
                "raises",
                "assertRaises",
            ):
                why = "around the project; let exceptions come out."
                yield f"A script that shows a bug may not use `{manager}` {why}"
    elif isinstance(node, FunctionNode) and node.name in ("__exit__", "__aexit__"):
        yield (
            "A script that shows a bug may not make a context manager: it could swallow exceptions."
        )
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in _PROBES:
        for one in node.args[:1]:
            if bindings.what(one) is not None and bindings.is_project(one):
                yield (
                    f"A script that shows a bug may not ask the project what it has: "
                    f"`{ast.unparse(node)}`."
                )


def _uses_project(body: list[ast.stmt], bindings: Bindings) -> bool:
    """Whether statements import or call something of the project."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    imports = any(
        bindings.project.owns(one.module) for node in nodes for one in imported_names(node)
    )
    return imports or any(
        isinstance(one, ast.Call) and bindings.is_project(one.func) for one in nodes
    )


def _patches(node: ast.AST, bindings: Bindings) -> Iterator[str]:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = targets_of(node)
        value = node.value
    elif isinstance(node, ast.Delete):
        targets = node.targets
    plain = isinstance(value, ast.Constant)
    for target in (one for one in targets if isinstance(one, ast.Attribute)):
        # A module or class is changed, or a function put where a method is; a setting of a library
        # is fine.
        base = bindings.what(target.value)
        outside = isinstance(base, Outside) or isinstance(value, ast.Lambda)
        method = not outside and isinstance(bindings.what(target), Function)
        changed = not plain and (outside or bool(bindings.dotted(target.value)))
        if isinstance(base, Module | Class | Function) or method or changed:
            yield (
                f"`{ast.unparse(target)}` is changed from outside: the code under test must stay "
                f"as it is."
            )


def _raises(node: ast.AST, symptom: Symptom) -> Iterator[str]:
    if not isinstance(node, ast.Raise) or node.exc is None or symptom.explicit is None:
        return
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if ast.unparse(raised).rpartition(".")[2] == symptom.explicit.name:
        yield f"The script raises {symptom.explicit.name} itself; the project must."


def _copies(node: Definition, project: Codebase, *, is_top: bool) -> Iterator[str]:
    """What the project has too: by name and form at the top level, by body anywhere."""
    paths = project.files.definitions.get(node.name, ()) if is_top else ()
    inside = (
        one
        for one in paths
        if not ASIDE.intersection(one.parts) and not one.name.startswith("test_")
    )
    others = (
        one for path in inside for one in project.files.nodes(path) if isinstance(one, Definition)
    )
    if any(_forms(node) & _forms(other) for other in others if other.name == node.name):
        yield f"`{node.name}` is defined again; import the project's own."
    elif project.holds_copy(node):
        yield f"`{node.name}` is a copy of project code; import the original."


def _forms(node: Definition) -> frozenset[str]:
    """The parameters of a function as one word, the methods of a class as several."""
    if isinstance(node, ast.ClassDef):
        return frozenset(one.name for one in node.body if isinstance(one, FunctionNode)) - {
            "__init__"
        }
    return frozenset(
        {
            ast.unparse(
                ast.arguments(
                    [],
                    node.args.args,
                    None,
                    [],
                    [],
                    None,
                    [],
                )
            )
        }
        - {""}
    )
