"""The crash that a report shows, and whether one that was seen is the same.

The report's own traceback says class, file, function and line. Another machine words messages
otherwise: another interpreter, another release of a library, other values and paths.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import PurePosixPath

from reenact.bug.inside.judge import in_order
from reenact.bug.project_files import ProjectFiles
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Explicit
from reenact.claims.check import LEAST_LETTERS
from reenact.files import packaged_table

LONGEST_LINE = 1000
MOST_LINES = 4000
"""Of a report: longer ones are logs."""
MOST_CRASHES = 20
VARYING = re.compile(r"0x[0-9a-f]+|(?:/[\w.+-]+){2,}|\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
"""Addresses, paths and numbers, which differ from machine to machine."""
_QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`")
_FRAME = re.compile(r'^\W*File "(?P<path>[^"]+\.py)", line (?P<line>\d+), in (?P<name>[\w<>.]+)')
_RAISED = re.compile(r"^(?:E\s+)?(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: *(?P<message>.*))?$")
_MARKS = re.compile(r"^[\s~^]*$")


class Likeness(StrEnum):
    """How a crash that was seen is like the reported one."""

    SAME = "same"
    """The class, and the message but for values, paths and known rewordings."""
    PLACE = "place"
    """The class, file, function and line; the message says something else, and no one wrote it."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ReportedCrash:
    """One traceback of a report, from its innermost frame in the project."""

    exception: str
    """The class without its module."""
    message: str
    file: PurePosixPath
    """Of this checkout."""
    line: int
    function: str
    text: str
    """The line as the traceback shows it; empty where it shows none."""

    def is_at(self, frame: Frame, files: ProjectFiles) -> bool:
        """Whether a frame is this place. The text of the line decides where there is one: the
        report may come from another revision.
        """
        path = PurePosixPath(frame.file)
        if (path, frame.function) != (self.file, self.function):
            return False
        if not self.text or path not in files.texts:
            return frame.line == self.line
        return self.text in statement_lines(files, path, frame.line)


def reported_crashes(report: str, files: ProjectFiles) -> tuple[ReportedCrash, ...]:
    """The crashes whose tracebacks stand in a report and go through files of this checkout."""
    found: list[ReportedCrash] = []
    frames: list[ReportedCrash] = []
    indent = 0
    after_frame = False
    lines = [_unquoted(line[:LONGEST_LINE]) for line in report.split("\n")[:MOST_LINES]]
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        frame = _FRAME.match(line)
        raised = _RAISED.match(line.strip())
        # The last line of a traceback is left of its frames; the code of a frame does not.
        ends = depth < indent or (depth == indent and not after_frame)
        after_frame = frame is not None
        if frame is not None:
            indent = depth
            frames += _in_project(frame, lines, number, files)
        elif frames and raised is not None and ends:
            name = raised["name"].rpartition(".")[2]
            if name[:1].isupper():
                message = (raised["message"] or "").strip()
                found.append(replace(frames[-1], exception=name, message=message))
                frames = []
    return tuple(found[:MOST_CRASHES])


def _unquoted(line: str) -> str:
    """Without the marks of a quotation, of a mail or of a group of exceptions."""
    return re.sub(r"^\s*[>|]+ ?", "", line)


def _in_project(
    frame: re.Match[str], lines: Sequence[str], number: int, files: ProjectFiles
) -> Iterator[ReportedCrash]:
    path = project_path(PurePosixPath(frame["path"].replace("\\", "/")), files)
    if path is None:
        return
    after = "" if number + 1 == len(lines) else lines[number + 1].strip()
    is_text = bool(after) and not after.startswith("File ") and not _MARKS.match(after)
    text = " ".join(after.split()) if is_text else ""
    yield ReportedCrash("", "", path, int(frame["line"]), frame["name"], text)


def project_path(reported: PurePosixPath, files: ProjectFiles) -> PurePosixPath | None:
    """The file of this checkout that a path of another machine means; none where it is not one."""
    best: tuple[int, PurePosixPath] | None = None
    for path, name in files.module_names.items():
        tail = (*name.split(".")[:-1], path.name)
        if path.name == "__init__.py":
            tail = (*name.split("."), path.name)
        if reported.parts[-len(tail) :] != tail:
            continue
        # A module without a package says little: not one below the package of a library.
        above = reported.parts[-len(tail) - 1 : -len(tail)]
        if len(tail) == 1 and "site-packages" in reported.parts and above != ("site-packages",):
            continue
        if best is None or len(tail) > best[0]:
            best = (len(tail), path)
    return best[1] if best is not None else None


def statement_lines(files: ProjectFiles, path: PurePosixPath, line: int) -> frozenset[str]:
    """The lines of the statement at a line, without their blanks; of a block its head alone."""
    source = files.texts[path].splitlines()
    first = last = line
    node = _statement_at(files, path, line)
    if node is not None:
        first, last = node.lineno, _head_end(node)
    return frozenset(" ".join(one.split()) for one in source[first - 1 : last])


def _statement_at(files: ProjectFiles, path: PurePosixPath, line: int) -> ast.stmt | None:
    """The smallest statement that has the line."""
    found = [
        node
        for node in files.nodes(path)
        if isinstance(node, ast.stmt) and node.lineno <= line <= _head_end(node)
    ]
    return min(found, key=lambda node: _head_end(node) - node.lineno, default=None)


def _head_end(node: ast.stmt) -> int:
    """The last line of a statement; of a block the last one before its body."""
    body: list[ast.stmt] | None = getattr(node, "body", None)
    if body:
        return max(node.lineno, body[0].lineno - 1)
    return node.end_lineno or node.lineno


def likeness(
    reported: Explicit,
    crashes: Sequence[ReportedCrash],
    seen: RunObservation,
    files: ProjectFiles,
) -> Likeness:
    """Whether what was raised is the reported crash. A message that was written for its `raise`
    must be that of the report; others only support.
    """
    if reported.fits(seen.classes, seen.message):
        return Likeness.SAME
    if reported.name not in seen.classes:
        return Likeness.OTHER
    if any(says(one, seen.message) for one in wordings(reported.name, reported.message)):
        return Likeness.SAME
    at_place = [one for one in crashes if one.exception == reported.name]
    at_place = [one for one in at_place if seen.project_frames]
    at_place = [one for one in at_place if one.is_at(seen.project_frames[-1], files)]
    if not at_place:
        return Likeness.OTHER
    if any(_same_words(one.message, seen, files) for one in at_place):
        return Likeness.SAME
    return Likeness.OTHER if seen.refused else Likeness.PLACE


def says(reported: str, message: str) -> bool:
    """Whether a message has the words of another in their order, values and paths left out."""
    pieces = [piece for part in reported.split("*") for piece in VARYING.split(part)]
    fragments = [one for one in (" ".join(piece.split()).lower() for piece in pieces) if one]
    letters = sum(map(str.isalpha, "".join(fragments)))
    return letters >= LEAST_LETTERS and in_order(fragments, message)


def wordings(name: str, message: str) -> Iterator[str]:
    """The message as it is, and in the words of other versions of Python and of libraries."""
    yield message
    plain = " ".join(message.split())
    for of, words in _rewordings():
        if of != name:
            continue
        for pattern in words:
            match = _pattern(pattern).search(plain)
            if match is not None:
                yield from (_filled(one, match.groups()) for one in words if one != pattern)


@cache
def _rewordings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = packaged_table("reenact.bug", "rewordings.toml")
    return tuple((one["of"], tuple(one["words"])) for one in table["messages"])


@cache
def _pattern(words: str) -> re.Pattern[str]:
    ends_open = words.endswith("*")
    pieces = words.rstrip("*").split("*")
    between = "(.+?)".join(map(re.escape, pieces))
    return re.compile(between + ("(.+)" if ends_open else ""), re.IGNORECASE)


def _filled(words: str, values: Sequence[str]) -> str:
    """Another wording with the values that are known; what is not known may be anything."""
    first, *rest = words.split("*")
    given = [*values, *["*"] * len(rest)]
    return first + "".join(value + part for value, part in zip(given, rest, strict=False))


def _same_words(reported: str, seen: RunObservation, files: ProjectFiles) -> bool:
    """Whether two messages of one place differ in their values alone."""
    if not reported:
        return not seen.message
    one = _without_values(reported)
    other = _without_values(seen.message.split("\n")[0])
    if one == other and one:
        return True
    written = _written_words(seen, files)
    letters = sum(map(str.isalpha, "".join(written)))
    return (
        letters >= LEAST_LETTERS and in_order(written, reported) and in_order(written, seen.message)
    )


def _without_values(message: str) -> str:
    return " ".join(VARYING.sub(" ", _QUOTED.sub(" ", message)).split()).lower()


def _written_words(seen: RunObservation, files: ProjectFiles) -> list[str]:
    """The texts of the project's `raise` that raised it: what of the message its values are not."""
    inner = seen.frames[-1]
    path = PurePosixPath(inner.file)
    if inner.whose != "project" or path not in files.texts:
        return []
    node = _statement_at(files, path, inner.line)
    if not isinstance(node, ast.Raise | ast.Assert):
        return []
    message = node.exc if isinstance(node, ast.Raise) else node.msg
    texts = [
        part.value
        for part in (ast.walk(message) if message is not None else ())
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    pieces = [piece for text in texts for piece in re.split(r"%[-+ #0-9.]*\w|\{[^{}]*\}", text)]
    return [one for one in (" ".join(piece.split()).lower() for piece in pieces) if one]
