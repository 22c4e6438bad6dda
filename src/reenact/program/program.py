"""A training program as data: its files, how it is started, and where it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from reenact.errors import UnreadableProgram
from reenact.program.syntax.index import index_of
from reenact.program.syntax.launcher import Launch, gather, locate, read_line
from reenact.program.syntax.pieces import statement_line
from reenact.program.syntax.source import (
    Language,
    LineTable,
    SourceFile,
    decode,
    language_of,
    read_source,
)
from reenact.types import Place

CODE = (Language.PYTHON, Language.NOTEBOOK)


@dataclass(frozen=True)
class Program:
    """Files, entry point, arguments. Frozen: a patched program is another one."""

    folder: Path
    """Everything that belongs to it lies below; places and hyperparameters name files relative
    to it.
    """
    entry: PurePosixPath
    """The script, the notebook, or the file that `-m` starts."""
    files: tuple[SourceFile, ...]
    """Entry first, then local modules that it imports, then YAML and JSON files that it names."""
    launch: Launch
    working: Path
    """The folder it is started in: relative data paths count from there."""
    bases: tuple[PurePosixPath, ...] = (PurePosixPath("."),)
    """Folders that imports are looked up in."""

    @cached_property
    def by_path(self) -> Mapping[str, SourceFile]:
        return {str(file.path): file for file in self.files}

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.launch.arguments

    @property
    def entry_file(self) -> SourceFile:
        return self.files[0]

    def file(self, path: str | PurePosixPath) -> SourceFile | None:
        return self.by_path.get(str(path))

    def with_files(self, changed: Iterable[SourceFile]) -> Program:
        """The same program with some files replaced."""
        new = {file.path: file for file in changed}
        return replace(
            self,
            files=tuple(new.get(file.path, file) for file in self.files),
        )

    def with_arguments(self, arguments: Sequence[str]) -> Program:
        return replace(
            self,
            launch=replace(self.launch, arguments=tuple(arguments)),
        )

    @property
    def is_notebook(self) -> bool:
        return self.entry_file.language is Language.NOTEBOOK

    def script(self) -> str:
        """Python text of the entry: its own, or a notebook's code cells with magics neutralised."""
        return _python(self.entry_file)

    def cell(self, place: Place) -> tuple[int, int] | None:
        """Index of the cell (from 0) and line in it (from 1) of a place in a notebook; none
        elsewhere.
        """
        file = self.file(place.file)
        index = index_of(file) if file is not None and file.language is Language.NOTEBOOK else ""
        if isinstance(index, str) or not index.notebook:
            return None
        return index.notebook.cell_line(place.line)

    def where(self, place: Place) -> str:
        """A place as a reader says it: `train.py:3:9`, or `study.ipynb cell 4 line 2`."""
        cell = self.cell(place)
        if cell is None:
            return str(place)
        return f"{place.file} cell {cell[0]} line {cell[1]}"

    def line(self, place: Place) -> str:
        """The source line of a place, without its line end."""
        file = self.file(place.file)
        table = LineTable(_python(file) if file is not None else "")
        if not 0 < place.line <= len(table.starts):
            return ""
        start = table.starts[place.line - 1]
        return table.text[start : table.line_end(start)]

    def statement(self, place: Place) -> Place:
        """The line on which the statement at a place begins, which its other lines share; of a
        compound statement the head alone is one, and each of its block.
        """
        file = self.file(place.file)
        index = index_of(file) if file is not None and file.language in CODE else ""
        line = place.line if isinstance(index, str) else statement_line(index, place.line)
        return Place(place.file, line)

    @property
    def unparsed(self) -> tuple[SourceFile, ...]:
        """Files that could not be understood, each with its reason."""
        indexes = [(file, index_of(file)) for file in self.files if file.language in CODE]
        return tuple(replace(file, unparsed=why) for file, why in indexes if isinstance(why, str))


def _python(file: SourceFile) -> str:
    """The Python text of a file: its own, or that of a notebook's cells."""
    index = index_of(file) if file.language in CODE else ""
    return file.text if isinstance(index, str) else index.text


def read_program(words: Sequence[str], working: Path | None = None) -> Program:
    """The program that a command line starts: `["train.py", "--lr", "0.1"]`, `["-m", "pkg"]`, a
    launcher line.

    Reads files, runs nothing. Raises UnreadableProgram when there is nothing to read.
    """
    launch = read_line(words)
    working = (working or Path.cwd()).resolve()
    script, folder, bases = locate(launch, working)
    entry = read_source(folder, script)
    if entry.unparsed:
        says = f"The program cannot be read: {entry.unparsed}. Received: {launch.target}."
        raise UnreadableProgram(
            says,
            next_step="Give a Python source or a notebook that this user may read.",
        )
    root, files, tops = gather(launch, working, folder, bases, entry)
    return Program(
        root,
        files[0].path,
        files,
        launch,
        working,
        tops,
    )


def program_from_text(
    text: str,
    name: str = "train.py",
    arguments: Sequence[str] = (),
    others: Mapping[str, str] | None = None,
) -> Program:
    """A program that stands in no folder: for tests, generated code and other people's snippets."""
    texts = [(PurePosixPath(path), body) for path, body in ((name, text), *(others or {}).items())]
    raw = [(path, body.encode("utf-8", "surrogatepass")) for path, body in texts]
    files = tuple(
        decode(
            path,
            body,
            language_of(path) or Language.PYTHON,
        )
        for path, body in raw
    )
    return Program(
        Path(),
        files[0].path,
        files,
        Launch(name, arguments=tuple(arguments)),
        Path(),
    )
