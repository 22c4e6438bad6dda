"""The suspected cause without a second revision: execution slices (Agrawal et al. 1995).

What the script executes of the project is compared with what its longest part executes that does
not show the bug: the beginning of the script, before the last call. The lines that only the whole
script reaches, in the functions of the traceback or those that ran last, come first.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reenact.bug.project_files import ProjectFiles
from reenact.bug.reproduction import SuspectedCause
from reenact.bug.script_runner import Frame

MOST_LINES = 12
Executed = Mapping[str, Sequence[int]]
"""The lines of each file of the project that a run executed in functions, the last ones last."""
Trace = Callable[[str], Executed]


@dataclass(frozen=True, slots=True)
class _Line:
    file: str
    number: int
    rank: int


def cause_in_slices(
    script: str, frames: Sequence[Frame], files: ProjectFiles, trace: Trace
) -> SuspectedCause | None:
    """What only the failing part of a script executes; none where that is nothing."""
    beginning = script_before_last_call(script)
    whole = trace(script)
    before = trace(beginning) if beginning.strip() else {}
    known = {(file, line) for file, lines in before.items() for line in lines}
    failed = {frame.file: frame.line for frame in frames if frame.whose == "project"}
    only: list[_Line] = []
    for file, lines in whole.items():
        for order, line in enumerate(lines):
            if (file, line) not in known:
                # Of the files of the traceback first, then by how late it ran.
                only.append(_Line(file, line, order + (1_000_000 if file in failed else 0)))
    texts = {path.as_posix(): text.splitlines() for path, text in files.texts.items()}
    ranked = sorted(only, key=lambda one: -one.rank)
    shown = [one for one in ranked if _has_code(texts, one)][:MOST_LINES]
    if not shown:
        return None
    than = "the part of the script before its last call" if before else "the import of the project"
    return SuspectedCause(
        how=f"Only the failing call executes these lines ({len(only)} more than {than}); no second "
        f"revision was there to decide between them.",
        lines=tuple(
            f"{one.file}:{one.number}: {texts[one.file][one.number - 1].strip()[:160]}"
            for one in shown
        ),
    )


def _has_code(texts: Mapping[str, Sequence[str]], one: _Line) -> bool:
    lines = texts.get(one.file, ())
    return 0 < one.number <= len(lines) and bool(lines[one.number - 1].strip())


def script_before_last_call(script: str) -> str:
    """The script without its last statement that calls something, and what follows."""
    body = ast.parse(script).body
    calls = [
        one
        for one in body
        if not isinstance(one, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
        and any(isinstance(node, ast.Call) for node in ast.walk(one))
    ]
    if not calls:
        return ""
    lines = script.splitlines(keepends=True)
    return "".join(lines[: calls[-1].lineno - 1])
