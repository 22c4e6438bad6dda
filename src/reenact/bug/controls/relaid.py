"""A revision in another layout: other comments, blank lines and line numbers, other docstrings and
READMEs, and code that does the same.

Covered: that it does the same is checked file by file, by its syntax tree; a file that would not be
the same, or that cannot be read as Python, stays as it is. Docstrings are changed only where
nothing in the project reads any.
"""

import ast
import io
import os
import re
import shutil
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reenact.bug.project_files import ProjectFiles, project_files, read_plain

_KEPT = re.compile(r"#\s*type:|#!|#.*coding[:=]")
"""Comments that are read by more than people."""
_PROSE = re.compile(
    r"(?i)(?:readme|change(?:s|log)|history|news|authors|contributing)(?:\.\w+)?|.*\.(?:md|rst)"
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LARGE = 1024 * 1024
"""Bytes from which a file that is not changed is linked where that is possible."""
_LONG_AGO = 1_000_000_000
"""The time of every file of a copy, in seconds: no script learns anything from it."""
_READ_DOCSTRINGS = frozenset(
    {
        "__doc__",
        "getdoc",
        "get_docstring",
        "cleandoc",
        "help",
        "doctest",
        "pydoc",
        "docopt",
        "docstring_parser",
        "numpydoc",
        "click",
        "typer",
        "fire",
        "plac",
        "ply",
        "fastapi",
        "invoke",
    }
)
"""Names and modules that make something of docstrings."""


def lay_out(files: ProjectFiles, folder: Path, *, docstrings: bool) -> ProjectFiles:
    """A copy of a revision below a new folder, in another layout."""
    named = _named_files(files)
    for path in all_files(files.folder):
        source = files.folder / path
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
            continue
        changed = _changed(files, path, docstrings=docstrings, named=named)
        if changed is None:
            copy_file(source, target)
            continue
        target.write_bytes(changed)
        os.utime(target, (_LONG_AGO, _LONG_AGO))
    return project_files(folder)


def copy_file(source: Path, target: Path) -> None:
    """The same file at another place; a large one as a link, so that data is not doubled."""
    if source.stat().st_size >= _LARGE:
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
    else:
        shutil.copyfile(source, target)
        os.utime(target, (_LONG_AGO, _LONG_AGO))


def reads_docstrings(files: ProjectFiles) -> bool:
    """Whether anything in the project may make something of a docstring."""
    return any(
        _names(node) & _READ_DOCSTRINGS for path in files.paths for node in files.nodes(path)
    )


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {one.name.partition(".")[0] for one in node.names}
    if isinstance(node, ast.ImportFrom):
        return {
            (node.module or "").partition(".")[0],
            *(one.name for one in node.names),
        }
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    return set()


def _named_files(files: ProjectFiles) -> frozenset[str]:
    """Texts of the project's code, which may name files that it reads."""
    nodes = (node for path in files.paths for node in files.nodes(path))
    texts = (
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return frozenset(text.rpartition("/")[2] for text in texts if len(text) < 200)


def all_files(folder: Path) -> Iterator[PurePosixPath]:
    """Every plain file and link below a folder, without the history of the repository and
    compiled files.
    """
    for inner, folders, names in os.walk(folder):
        here = Path(inner)
        below = PurePosixPath(here.relative_to(folder).as_posix())
        linked = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(
            name for name in folders if name not in (".git", "__pycache__", *linked)
        )
        for name in sorted([*names, *linked]):
            path = here / name
            if path.is_symlink() or path.is_file():
                yield below / name


def _changed(
    files: ProjectFiles, path: PurePosixPath, *, docstrings: bool, named: frozenset[str]
) -> bytes | None:
    """The new content of a file; none where it stays as it is."""
    is_prose = _PROSE.fullmatch(path.name) is not None and path.name not in named
    if path not in files.texts and not is_prose:
        return None
    data = read_plain(files.folder / path)
    if isinstance(data, str):
        return None
    return b"Words of a text.\n" if is_prose else relaid(data, docstrings=docstrings)


def relaid(data: bytes, *, docstrings: bool) -> bytes | None:
    """A Python file in another layout; none where that cannot be done without a change of what
    it does.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = (
            data.decode(encoding)
            .replace("\r\n", "\n")
            .replace(
                "\r",
                "\n",
            )
        )
        before = ast.parse(data)
        new = _with_other_lines(text, _docstring_places(before) if docstrings else {})
        encoded = new.encode(encoding)
        after = ast.parse(encoded)
    except (
        SyntaxError,
        ValueError,
        LookupError,
        tokenize.TokenError,
        RecursionError,
        MemoryError,
    ):
        return None
    same = _bare(before) == _bare(after) if docstrings else ast.dump(before) == ast.dump(after)
    return encoded if same else None


def _docstring_places(tree: ast.Module) -> dict[tuple[int, int], str]:
    """Where each docstring starts, and what is there instead: the same at the same place of the
    code, whatever the docstring was.
    """
    places: dict[tuple[int, int], str] = {}
    for number, owner in enumerate(
        node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)
    ):
        if ast.get_docstring(owner, clean=False) is not None:
            first = owner.body[0]
            places[first.lineno, first.col_offset] = f'"""Words of place {number}."""'
    return places


def _bare(tree: ast.Module) -> str:
    """The tree as text, with every docstring alike; the tree is changed."""
    for owner in ast.walk(tree):
        if isinstance(owner, _DOCUMENTED) and ast.get_docstring(owner, clean=False) is not None:
            owner.body[0] = ast.Expr(ast.Constant("docstring"))
    return ast.dump(tree)


def _with_other_lines(
    text: str,
    docstrings: dict[tuple[int, int], str],
) -> str:
    """The text without comments and blank lines, and with others instead, which depend on the code
    alone: two revisions with the same code get the same text.
    """
    lines: list[str | None] = list(text.split("\n"))
    layout = _Layout()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        layout.read(token)
    for row, column in layout.comments:
        lines[row - 1] = (lines[row - 1] or "")[:column].rstrip()
    # Columns of the syntax tree count bytes, those of tokens letters: a docstring has only blanks
    # before it.
    for token in (one for one in layout.strings if one.start in docstrings):
        (row, column), (last, end) = token.start, token.end
        before = (lines[row - 1] or "")[:column]
        after = (lines[last - 1] or "")[end:]
        lines[row - 1 : last] = [
            before + docstrings[token.start] + after,
            *[None] * (last - row),
        ]
    for row in layout.empty:
        lines[row - 1] = None
    return "\n".join(_spread(lines, layout.starts))


@dataclass
class _Layout:
    """Where the statements, comments, texts and lines without code of a file are."""

    starts: list[int] = field(default_factory=list)
    """The first row of each statement."""
    comments: list[tuple[int, int]] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    strings: list[tokenize.TokenInfo] = field(default_factory=list)
    _between: bool = True
    """Before the first word of a statement."""

    def read(self, token: tokenize.TokenInfo) -> None:
        """The next token."""
        if token.type == tokenize.COMMENT:
            if not _KEPT.match(token.string):
                self.comments.append(token.start)
                if self._between:
                    self.empty.append(token.start[0])
        elif token.type == tokenize.NEWLINE:
            self._between = True
        elif token.type == tokenize.NL:
            if self._between and not token.line.strip():
                self.empty.append(token.start[0])
        elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            if self._between:
                self.starts.append(token.start[0])
            self._between = False
            if token.type == tokenize.STRING:
                self.strings.append(token)


def _spread(
    lines: list[str | None],
    starts: list[int],
) -> Iterator[str]:
    """The lines that are left, with a comment and some blank lines before each statement."""
    numbers = {row: number for number, row in enumerate(starts, start=1)}
    for row, line in enumerate(lines, start=1):
        if line is None:
            continue
        if row in numbers:
            indent = line[: len(line) - len(line.lstrip())]
            yield f"{indent}# Statement {numbers[row]} begins here."
            yield from [""] * (numbers[row] % 3)
        yield line
