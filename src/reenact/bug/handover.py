"""Hand over to `diagnose`: what its rules say of the project's training programs, by reading alone.

Covered: nothing of the project runs or is imported, links are not followed, nothing outside the
checkout is read. Not covered: programs that only other languages, notebooks or command lines start.
"""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reenact.bug.context.index import CodeIndex
from reenact.bug.context.training import find_loops
from reenact.codegen.syntax import imported_names
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import ReenactError
from reenact.journal import Journal
from reenact.program.program import Program, program_from_text

MOST_PROGRAMS = 3
MOST_FILES = 150
"""Files of one program, nearest imports first."""


def read_findings(code: CodeIndex) -> tuple[str, ...]:
    """What static rules find in the training programs of a project, each in a sentence."""
    chunks = [loop.chunk for loop in find_loops(code, code.files.paths, {})]
    paths = dict.fromkeys(one.path for one in sorted(chunks, key=lambda one: one.is_aside))
    inside = {one.path for one in chunks if not one.is_aside}
    # Files with a training loop, the best loop first, no tests.
    trained = (path for path in paths if path in inside or "test" not in path.as_posix().lower())
    entries = [path for path in trained if _is_started(code, path)][:MOST_PROGRAMS]
    return tuple(sentence for path in entries for sentence in _sentences(code, path))


def _is_started(code: CodeIndex, path: PurePosixPath) -> bool:
    """Whether a file does something when it is run: it has a guard, or calls at its top level."""
    tree = code.files.tree(path)
    body = tree.body if tree is not None else []
    guarded = any(isinstance(node, ast.If) and "__name__" in ast.dump(node.test) for node in body)
    acts = (node for node in body if isinstance(node, ast.For | ast.While | ast.Expr))
    return guarded or any(isinstance(one, ast.Call) for node in acts for one in ast.walk(node))


def _sentences(code: CodeIndex, path: PurePosixPath) -> Iterator[str]:
    try:
        with Journal.in_memory() as journal:
            services = DiagnoseServices(journal=journal, traces=Path())
            found = diagnose(
                _program(code, path),
                DiagnoseOptions(depth=Depth.STATIC),
                services,
            )
    except ReenactError as error:
        yield f"{path} could not be read: {error.sentence}"
        return
    for seen in (one.first for one in found.findings):
        place = seen.place or path
        yield f"{place}: {seen.code} {seen.name}: {seen.saw}. {seen.why}"


def _program(code: CodeIndex, entry: PurePosixPath) -> Program:
    """The file and what it imports of the project, as text: a program without a folder."""
    files = code.files
    paths = [entry]
    for path in paths:
        names: list[str] = []
        for node in files.nodes(path):
            for one in imported_names(node, files.package(path)):
                names += [one.module] if isinstance(node, ast.Import) else [one.module, one.target]
        others = dict.fromkeys(files.modules[name] for name in names if name in files.modules)
        paths += [other for other in others if other not in paths][: MOST_FILES - len(paths)]
    texts = {path.as_posix(): files.texts[path] for path in paths}
    return program_from_text(
        texts.pop(entry.as_posix()),
        name=entry.as_posix(),
        others=texts,
    )
