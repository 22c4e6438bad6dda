"""Hand over to `diagnose`: what its rules say of the project's training programs, by reading alone.

Covered: nothing of the project runs or is imported, links are not followed, nothing outside the checkout is
read. Not covered: programs that only other languages, notebooks or command lines start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reenact.bug.context.build import open_index
from reenact.bug.context.code import Code
from reenact.bug.context.training import find_loops
from reenact.bug.project.lookup import Module, absolute
from reenact.diagnosis.depth import Depth
from reenact.diagnosis.options import DiagnoseOptions
from reenact.diagnosis.pipeline import DiagnoseServices, diagnose
from reenact.errors import ReenactError
from reenact.journal import Journal
from reenact.program.program import Program, program_from_text

MOST_PROGRAMS = 3
MOST_FILES = 150
"""Files of one program, nearest imports first."""


def read_findings(folder: Path, index_folder: Path | None = None) -> tuple[str, ...]:
    """What static rules accuse in the training programs of a checkout, each in a sentence."""
    code = Code(open_index(folder, index_folder), folder)
    entries = [path for path in _trained_in(code) if _is_started(code, path)][:MOST_PROGRAMS]
    return tuple(said for path in entries for said in _said(code, path))


def _trained_in(code: Code) -> Iterator[PurePosixPath]:
    """Files with a training loop, the best loop first, no tests."""
    loops = find_loops(code, sorted(code.index.signs), {})
    files = dict.fromkeys(code.path(one.chunk) for one in loops if not code.index.is_aside(one.chunk))
    asides = dict.fromkeys(code.path(one.chunk) for one in loops if code.index.is_aside(one.chunk))
    return iter([*files, *(path for path in asides if "test" not in path.as_posix().lower())])


def _is_started(code: Code, path: PurePosixPath) -> bool:
    """Whether a file does something when it is run: it has a guard, or calls at its top level."""
    tree = code.tree(path)
    if tree is None:
        return False
    guarded = any(isinstance(node, ast.If) and "__name__" in ast.dump(node.test) for node in tree.body)
    acts = (node for node in tree.body if isinstance(node, ast.For | ast.While | ast.Expr))
    return guarded or any(_calls(node) for node in acts)


def _calls(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def _said(code: Code, path: PurePosixPath) -> Iterator[str]:
    try:
        with Journal.in_memory() as journal:
            found = diagnose(
                _program(code, path),
                DiagnoseOptions(depth=Depth.STATIC),
                DiagnoseServices(journal=journal, traces=Path()),
            )
    except ReenactError as error:
        yield f"{path} could not be read: {error.sentence}"
        return
    for one in found.findings:
        finding = one.suspect.first
        place = finding.place or path
        yield f"{place}: {finding.code} {finding.name}: {finding.saw}. {finding.why}"


def _program(code: Code, entry: PurePosixPath) -> Program:
    """The file and what it imports of the project, as text: a program that stands in no folder."""
    found = {entry: None}
    for path in (waiting := [entry]):
        for other in _imported(code, path):
            if other not in found and len(found) < MOST_FILES:
                found[other] = None
                waiting.append(other)
    texts = {path.as_posix(): "\n".join(code.lines(path)) for path in found}
    return program_from_text(texts.pop(entry.as_posix()), name=entry.as_posix(), others=texts)


def _imported(code: Code, path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Files of the project that a file imports."""
    modules = code.project.files.modules
    module = Module(code.modules.get(path, ""), path, path.name == "__init__.py")
    for node in ast.walk(code.tree(path) or ast.Module([], [])):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        yield from (modules[name] for name in names if name in modules)
