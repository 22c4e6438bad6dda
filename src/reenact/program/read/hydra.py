"""Configurations of hydra: the file that `@hydra.main` names, the groups it includes, and what the command
line gives instead. Only the text is read; hydra itself is not needed."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from reenact.program.datafile import BadData, Entry, read_data
from reenact.program.read.scope import argument, keyword
from reenact.program.source import SourceFile

MAIN = ("hydra.main", "hydra.compose")
SUFFIX = ".yaml"


def named_config(call: ast.Call) -> str:
    """The file that a call with `config_name=` reads, below the program's own folder; empty where none is
    written out."""
    name = keyword(call, "config_name")
    folder = argument(call, 0, "config_path")
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return ""
    above = folder.value if isinstance(folder, ast.Constant) and isinstance(folder.value, str) else ""
    return str(PurePosixPath(above) / _with_suffix(name.value))


def included(config: SourceFile) -> Iterator[PurePosixPath]:
    """Files beside a configuration that its list `defaults` includes: `- optimizer: adam`, `- base`."""
    root = _read(config)
    for group, option in _defaults(root) if root is not None else ():
        yield config.path.parent / group / _with_suffix(option)


def from_group(
    config: Entry, file: str, key: str, files: Sequence[SourceFile], arguments: Sequence[str]
) -> tuple[str, Entry] | None:
    """The value under a key that the configuration itself does not hold: the group of that name, or an entry
    of a file that is included whole. The command line may choose another option of a group."""
    beside = PurePosixPath(file).parent
    known = {str(one.path): one for one in files}
    chosen = dict(word.split("=", 1) for word in arguments if "=" in word)
    for group, option in _defaults(config):
        if group != key if group else is_overridden(key, arguments):
            continue
        path = str(beside / group / _with_suffix(chosen.get(group, option) if group else option))
        root = _read(known[path]) if path in known else None
        found = root if group or root is None else root.get(key)
        if found is not None:
            return path, found
    return None


def is_overridden(key: str, arguments: Sequence[str]) -> bool:
    """Whether a word such as `optimizer.lr=0.1` takes the place of what the file says under this key."""
    names = (word.partition("=")[0].lstrip("+~") for word in arguments if "=" in word)
    return any(name.rpartition(".")[2] == key for name in names)


def _defaults(config: Entry) -> Iterator[tuple[str, str]]:
    """Group and option; the group is empty for a file that is included whole."""
    listed = config.get("defaults")
    for item in listed.items if listed is not None and isinstance(listed.items, list) else ():
        value = item.plain()
        if isinstance(value, str) and value != "_self_":
            yield "", value
        elif isinstance(value, dict):
            pairs = ((name, option) for name, option in value.items() if isinstance(option, str))
            yield from ((name.removeprefix("override ").partition("@")[0], option) for name, option in pairs)


def _with_suffix(name: str) -> str:
    return name if name.endswith((SUFFIX, ".yml")) else name + SUFFIX


def _read(file: SourceFile) -> Entry | None:
    try:
        return read_data(file)
    except BadData:
        return None
