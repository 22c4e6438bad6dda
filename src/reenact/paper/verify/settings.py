"""Every named value of a project, with its line: data files, command lines of scripts, Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from reenact.codegen.project import Project
from reenact.paper.criterion import CodeLine
from reenact.program.datafile import BadData, read_data
from reenact.program.jsontext import Entry
from reenact.program.lines import LineTable
from reenact.program.source import Language, SourceFile

Value: TypeAlias = "bool | int | float | str | tuple[Value, ...] | None"
DATA = {".yaml": Language.YAML, ".yml": Language.YAML, ".json": Language.JSON}
_OPTION = re.compile(r"--([A-Za-z][\w-]*)[= ]+([^\s\\;&|]+)")
_TOML = re.compile(r"^\s*([\w.-]+|\"[^\"]+\")\s*=\s*(.+?)\s*(?:#.*)?$")
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value under a name."""

    name: str
    value: Value
    line: CodeLine
    given: bool = False
    """Handed to something that is called: used where it stands."""

    def __str__(self) -> str:
        return f"{self.line}: {self.name} = {self.value!r}"


def settings_of(project: Project) -> tuple[Setting, ...]:
    """All settings, in the order of files and lines; a file that cannot be read has none."""
    from reenact.paper.verify.read_python import python_settings

    found: list[Setting] = []
    for name in sorted(project.files):
        text, suffix = project.files[name], PurePosixPath(name).suffix
        if suffix == ".py":
            found += python_settings(name, text)
        elif suffix in DATA:
            found += _data(name, text, DATA[suffix])
        elif suffix == ".toml":
            found += _by_line(name, text, _TOML)
        elif suffix == ".sh":
            found += _by_line(name, text, _OPTION)
    return tuple(found)


def line_at(name: str, text: str, number: int) -> CodeLine:
    """That line of a file, without its indentation."""
    lines = text.splitlines()
    return CodeLine(name, number, lines[number - 1].strip() if 0 < number <= len(lines) else "")


def _data(name: str, text: str, language: Language) -> Iterator[Setting]:
    try:
        entry = read_data(SourceFile(PurePosixPath(name), text, language))
    except BadData:
        return
    yield from _entries(name, text, LineTable(text), "", entry)


def _entries(name: str, text: str, table: LineTable, key: str, entry: Entry) -> Iterator[Setting]:
    """A list of plain values is one value; what lies deeper has the name of its own key."""
    if isinstance(entry.items, dict):
        for inner, one in entry.items.items():
            yield from _entries(name, text, table, inner, one)
        return
    value: Value
    if isinstance(entry.items, list):
        for one in entry.items:
            if one.items is not None:
                yield from _entries(name, text, table, key, one)
        value = tuple(_scalar(one.value) for one in entry.items if one.items is None)
        if not value:
            return
    else:
        value = _scalar(entry.value)
    number, _ = table.line_column(entry.span.start)
    yield Setting(key, value, line_at(name, text, number))


def _scalar(value: object) -> Value:
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _by_line(name: str, text: str, pattern: re.Pattern[str]) -> Iterator[Setting]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        for match in pattern.finditer(line):
            yield Setting(
                match.group(1).strip('"'), _word(match.group(2)), CodeLine(name, number, line.strip())
            )


def _word(written: str) -> Value:
    bare = written.strip().strip("\"'")
    return float(bare.replace("_", "")) if _NUMBER.fullmatch(bare) else bare
