"""Which attributes, parameters and keywords of a program are its own, so that it may call them
anything.

What frameworks define is read off their classes in a process of its own, so that nothing heavy is
imported here.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from benchmarks.blind.rewrites.scopes import FunctionNode, Scopes, Use, parameters_of
from benchmarks.blind.rewrites.text import Project
from benchmarks.children import environment

READS_NAMES = frozenset({"globals", "locals", "vars", "eval", "exec"})
FRAMEWORKS = (
    "torch",
    "torch.nn",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "numpy",
    "keras",
    "keras.layers",
    "keras.callbacks",
    "keras.optimizers",
    "lightning",
    "sklearn.base",
    "sklearn.linear_model",
    "sklearn.preprocessing",
    "torch.distributions",
    "argparse",
    "pathlib",
    "collections",
    "builtins",
    "dataclasses",
    "accelerate",
    "transformers",
    "omegaconf",
    "torch.amp",
    "torch.nn.utils.rnn",
    "random",
    "types",
)
LOOK = """
import builtins, importlib, inspect, json, sys
found = set(dir(builtins))
for name in sys.argv[1:]:
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    for thing in list(vars(module).values()):
        if isinstance(thing, type):
            found |= set(dir(thing)) | set(getattr(thing, "__annotations__", ()))
            try:
                found |= set(inspect.signature(thing).parameters)
            except (TypeError, ValueError):
                pass
print(json.dumps(sorted(found)))
"""
BASES = """
import importlib, json, sys
found = {}
for path in sys.argv[1:]:
    names = path.split(".")
    for cut in range(len(names), 0, -1):
        try:
            thing = importlib.import_module(".".join(names[:cut]))
            for name in names[cut:]:
                thing = getattr(thing, name)
            found[path] = sorted(dir(thing))
            break
        except Exception:
            continue
print(json.dumps(found))
"""
POSITIONAL = frozenset({"forward", "__init__", "__getitem__", "__call__", "__len__"})
"""Methods of a framework's class that it calls without names of parameters."""
PASSING_ON = ("partial", "spawn", "apply", "jit", "vmap", "checkpoint")
"""Foreign functions that give keywords on to a function of the program."""
FOREIGN = "foreign"
PLAIN_DECORATORS = frozenset(
    {"no_grad", "inference_mode", "staticmethod", "classmethod", "property"}
)


def _asked(code: str, words: tuple[str, ...], python: str = sys.executable) -> str:
    finished = subprocess.run(  # noqa: S603 - our own text
        [python, "-c", code, *words],
        env=environment(KERAS_BACKEND="torch"),
        capture_output=True,
        text=True,
        check=True,
    )
    return finished.stdout.splitlines()[-1]


@lru_cache
def framework_names() -> frozenset[str]:
    """Attributes of values that frameworks give."""
    return frozenset(json.loads(_asked(LOOK, FRAMEWORKS)))


@lru_cache
def _names_of_bases(paths: tuple[str, ...], python: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(_asked(BASES, paths, python)) if paths else {}
    return found


@dataclass
class OwnClass:
    """A class of the program."""

    node: ast.ClassDef
    own_bases: set[str]
    foreign: set[str]
    """Paths of its other bases."""
    stored: set[str] = field(default_factory=set)
    """Attributes of `self` that it sets."""
    named: set[str] = field(default_factory=set)
    """Names of its body."""

    @property
    def is_record(self) -> bool:
        """Whether its fields are parameters: a dataclass or the like."""
        decorators = " ".join(ast.unparse(one) for one in self.node.decorator_list)
        return "dataclass" in decorators or any("NamedTuple" in base for base in self.foreign)


@dataclass(frozen=True)
class Owned:
    """What of a program has a name of its own choice."""

    attributes: frozenset[str]
    classes: Mapping[str, OwnClass]
    scopes: Mapping[str, Scopes]
    project: Project

    @property
    def strings(self) -> frozenset[str]:
        """Every word of a string or a data file: it may be looked up."""
        return _words(self.project, self.scopes)


def owned(project: Project, scopes: Mapping[str, Scopes]) -> Owned:
    """Read off all files of a program."""
    classes: dict[str, OwnClass] = {}
    for path, source in project.files.items():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                # Two of one name: whatever either of them has.
                classes[node.name if node.name not in classes else f"{node.name}@{path}"] = _class(
                    node, scopes[path]
                )
    _tell_own_bases(classes)
    blank = Owned(frozenset(), classes, scopes, project)
    return Owned(frozenset(_attributes(blank)), classes, scopes, project)


def _class(node: ast.ClassDef, scopes: Scopes) -> OwnClass:
    paths = {path for base in node.bases if (path := _path(base, scopes))}
    found = OwnClass(node, set(), paths)
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Attribute) or isinstance(statement.ctx, ast.Load):
            continue
        if _is_self(statement.value):
            found.stored.add(statement.attr)
    found.named = set(scopes.of_node[node].bound)
    return found


def _tell_own_bases(classes: Mapping[str, OwnClass]) -> None:
    names = {name.partition("@")[0] for name in classes}
    for one in classes.values():
        one.own_bases = {path for path in one.foreign if path.rpartition(".")[2] in names}
        one.foreign -= one.own_bases


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _path(node: ast.expr, scopes: Scopes) -> str:
    """`torch.nn.Module` for `nn.Module`; empty where it is no path."""
    if isinstance(node, ast.Subscript):
        return _path(node.value, scopes)
    if isinstance(node, ast.Attribute):
        before = _path(node.value, scopes)
        return f"{before}.{node.attr}" if before else ""
    if not isinstance(node, ast.Name):
        return ""
    return imported_as(scopes).get(node.id, node.id)


@lru_cache(maxsize=256)
def imported_as(scopes: Scopes) -> dict[str, str]:
    """Name to the path of what it was imported from."""
    found = {}
    for statement in ast.walk(scopes.module.node):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                found[alias.asname or alias.name] = f"{statement.module or ''}.{alias.name}"
    return found


def _attributes(own: Owned) -> set[str]:
    bases = tuple(sorted({base for one in own.classes.values() for base in one.foreign}))
    known = _names_of_bases(bases, own.project.python)
    inherited = {name for names in known.values() for name in names} | set(dir(object))
    unknown = [
        one for one in own.classes.values() if any(base not in known for base in one.foreign)
    ]
    candidates: set[str] = set()
    for one in own.classes.values():
        if one in unknown:
            continue
        candidates |= one.stored
        if not one.foreign or all("Enum" not in base for base in one.foreign):
            candidates |= one.named
    for one in unknown:
        inherited |= one.stored | one.named
    candidates -= inherited | _blocked_fields(own) | own.strings | _imported(own)
    candidates = {name for name in candidates if not name.startswith("__")}
    return candidates - set(_ambiguous(own, candidates))


def _imported(own: Owned) -> set[str]:
    return {name for one in own.scopes.values() for name in imported_as(one)}


def _blocked_fields(own: Owned) -> set[str]:
    """Fields of records: they are parameters and keys too."""
    return {name for one in own.classes.values() if one.is_record for name in one.named}


def _words(project: Project, scopes: Mapping[str, Scopes]) -> frozenset[str]:
    text = [project.data]
    for one in scopes.values():
        for node in ast.walk(one.module.node):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text.append(node.value)
    found = set(re.findall(r"[^\W\d]\w*", "\n".join(text)))
    dashed = re.findall(r"[^\W\d]\w*(?:-\w+)+", "\n".join(text))
    return frozenset(found | {word.replace("-", "_") for word in dashed})


def _ambiguous(own: Owned, candidates: set[str]) -> Iterator[str]:
    """Names that a framework's values have too, where it is not clear whose attribute is read."""
    api = framework_names()
    for scopes in own.scopes.values():
        for node in ast.walk(scopes.module.node):
            if not isinstance(node, ast.Attribute) or node.attr not in candidates & api:
                continue
            if _is_self(node.value) or _is_imported(node.value, scopes):
                continue
            if not _is_own_instance(node.value, scopes, own):
                yield node.attr


def _is_imported(node: ast.expr, scopes: Scopes) -> bool:
    """Whether it is a path from an import."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in imported_as(scopes)


def _is_own_instance(node: ast.expr, scopes: Scopes, own: Owned) -> bool:
    """Whether a name is bound to instances of the program's classes alone."""
    if not isinstance(node, ast.Name):
        return False
    owner = scopes.around[node].owner(node.id)
    uses = [use for use in scopes.uses if use.name == node.id and use.owner is owner]
    bindings = [use for use in uses if not _loads(use)]
    made = _made_of(scopes)
    return bool(bindings) and all(made.get(use.node, "") in own.classes for use in bindings)


def _loads(use: Use) -> bool:
    return isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load)


@lru_cache(maxsize=256)
def _made_of(scopes: Scopes) -> dict[ast.AST, str]:
    """Target of an assignment to the class that is called there."""
    found: dict[ast.AST, str] = {}
    for node in ast.walk(scopes.module.node):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda", "double"):
                call = call.func.value if isinstance(call.func.value, ast.Call) else call
            if isinstance(call.func, ast.Name):
                found |= dict.fromkeys(node.targets, call.func.id)
    return found


def is_own_access(node: ast.Attribute, scopes: Scopes) -> bool:
    """Whether an attribute is read off a value of the program, not off a module."""
    return not _is_imported(node.value, scopes)


def reads_names(own: Owned) -> bool:
    """Whether the program looks at its own names."""
    return any(
        use.name in READS_NAMES and use.owner is None
        for scopes in own.scopes.values()
        for use in scopes.uses
    )


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters that may be called anything, and the keywords that are given for them."""

    of_function: Mapping[ast.AST, frozenset[str]]
    of_call: Mapping[ast.keyword, str]
    """Keyword to its name."""


def own_parameters(own: Owned) -> Parameters:
    """Of functions whose callers are all known, as far as they give names."""
    keywords = _keywords(own)
    by_kind: dict[str, list[FunctionNode]] = {}
    for scopes in own.scopes.values():
        for node in scopes.of_node:
            if isinstance(node, FunctionNode):
                by_kind.setdefault(_kind(node, scopes, own), []).append(node)
    free: dict[ast.AST, frozenset[str]] = {}
    of_callee: dict[str, frozenset[str]] = {}
    for kind, nodes in by_kind.items():
        sets = [_free_parameters(node, kind, keywords) for node in nodes]
        sort, _, name = kind.partition(" ")
        if name and sort in ("function", "class"):
            # Two functions of one name may both be meant by a call.
            of_callee[name] = frozenset.intersection(*sets)
            sets = [of_callee[name] for _ in nodes]
        free |= dict(zip(nodes, sets, strict=True))
    of_call = {
        keyword: keyword.arg
        for callee, keyword in keywords.direct
        if keyword.arg is not None and keyword.arg in of_callee.get(callee, frozenset())
    }
    return Parameters(free, of_call)


def _free_parameters(node: FunctionNode, kind: str, keywords: _Keywords) -> frozenset[str]:
    if kind == FOREIGN:
        return frozenset()
    sort, _, name = kind.partition(" ")
    method = "__init__" if sort == "class" else name
    if kind in keywords.starred or method in keywords.starred:
        return frozenset()
    names = {one.arg for one in parameters_of(node.args)} - {"self", "cls"}
    # A function may be an attribute too: of a module, or of what it was stored in.
    return frozenset(names - keywords.unknown - keywords.of_method.get(method, set()))


@dataclass
class _Keywords:
    direct: list[tuple[str, ast.keyword]] = field(default_factory=list)
    of_method: dict[str, set[str]] = field(default_factory=dict)
    starred: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)


def _keywords(own: Owned) -> _Keywords:
    """Every keyword that the program gives, by what it calls."""
    functions = {
        node.name
        for scopes in own.scopes.values()
        for node in scopes.of_node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    found = _Keywords()
    for scopes in own.scopes.values():
        for node in ast.walk(scopes.module.node):
            if isinstance(node, ast.Call):
                _note(node, scopes, functions | set(own.classes), found)
    return found


def _note(call: ast.Call, scopes: Scopes, known: set[str], found: _Keywords) -> None:
    names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    is_starred = any(keyword.arg is None for keyword in call.keywords)
    function = call.func
    path = _path(function, scopes)
    if isinstance(function, ast.Name) and function.id in known:
        found.direct += [(function.id, one) for one in call.keywords if one.arg is not None]
        if is_starred:
            found.starred |= {f"function {function.id}", f"class {function.id}"}
    elif _is_imported(function, scopes):
        if path.endswith(PASSING_ON):
            found.unknown |= names
    elif isinstance(function, ast.Attribute):
        found.of_method.setdefault(function.attr, set()).update(names)
        if is_starred:
            found.starred.add(function.attr)
    else:
        found.unknown |= names


def _kind(node: FunctionNode, scopes: Scopes, own: Owned) -> str:
    """`function NAME`, `method NAME`, `class NAME` for what makes one, or `foreign`."""
    if isinstance(node, ast.Lambda):
        return "function "
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name not in PLAIN_DECORATORS:
            return FOREIGN
    owner = scopes.around[node]
    if not owner.is_class:
        return f"function {node.name}"
    cls = next((one for one in own.classes.values() if one.node is owner.node), None)
    if cls is None or not _may_rename_in(node.name, cls, own):
        return FOREIGN
    return f"class {cls.node.name}" if node.name == "__init__" else f"method {node.name}"


def _may_rename_in(method: str, cls: OwnClass, own: Owned) -> bool:
    foreign = set(cls.foreign)
    waiting = set(cls.own_bases)
    seen: set[str] = set()
    while waiting:
        base = waiting.pop()
        name = base.rpartition(".")[2]
        if name in own.classes and name not in seen:
            seen.add(name)
            foreign |= own.classes[name].foreign
            waiting |= own.classes[name].own_bases
    text = "\n".join(source.text for source in own.project.files.values())
    if method == "__init__" and ("save_hyperparameters" in text or "BaseEstimator" in text):
        return False
    # A subclass's __init__ may be called by the name of its base: super().__init__(size=3).
    if method == "__init__" and "get_config" in text:
        return False
    known = _names_of_bases(tuple(sorted(foreign)), own.project.python)
    inherited = {name for names in known.values() for name in names}
    is_ours = method not in inherited and all(base in known for base in foreign)
    plain = all(base.endswith(("nn.Module", "Dataset", "object")) for base in foreign)
    return is_ours or (plain and method in POSITIONAL)
