"""Data files that a program reads at start: every value of JSON and YAML text with its place, so
that it can be edited there, and values written back in the style of the file.

Configurations of hydra: the file that `@hydra.main` names, the groups it includes, and what the
command line gives instead. Only the text is read; hydra itself is not needed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.source import Language, SourceFile, Span
from reenact.types import JsonValue

if TYPE_CHECKING:
    import yaml

SPACE = re.compile(r"[ \t\r\n]*")
JSON_VALUE = json.JSONDecoder(strict=False)
MAX_DEPTH = 50


class BadData(ValueError):
    """A data file that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class DataEntry:
    """One value in a data file: what it is, where it is, what it holds."""

    span: Span
    value: JsonValue
    """Scalars as they are; none for a mapping or a list, whose entries are in `items`."""
    items: dict[str, DataEntry] | list[DataEntry] | None = None

    def get(
        self,
        key: str | int,
        *more: str | int,
    ) -> DataEntry | None:
        """The entry under a key of a mapping or an index of a list, and so on inwards."""
        found = None
        if isinstance(self.items, dict):
            found = self.items.get(str(key))
        elif isinstance(self.items, list) and isinstance(key, int):
            found = self.items[key] if -len(self.items) <= key < len(self.items) else None
        if found is not None and more:
            return found.get(*more)
        return found

    def plain(self) -> JsonValue:
        """The whole value without positions."""
        if isinstance(self.items, dict):
            return {key: entry.plain() for key, entry in self.items.items()}
        if isinstance(self.items, list):
            return [entry.plain() for entry in self.items]
        return self.value


def read_json(text: str) -> DataEntry:
    """Every value of a JSON document with its span; raises BadData."""
    entry, end = _value(text, _skip(text, 0), 0)
    if _skip(text, end) != len(text):
        raise BadData(f"something follows the document at offset {end}")
    return entry


def _value(
    text: str,
    at: int,
    depth: int,
) -> tuple[DataEntry, int]:
    if depth > MAX_DEPTH:
        raise BadData("nested too deeply")
    if text[at : at + 1] not in ("{", "["):
        value, end = _plain_value(text, at)
        return DataEntry(Span(at, end), value), end
    mapping = text[at] == "{"
    start = at
    items: dict[str, DataEntry] = {}
    at = _skip(text, at + 1)
    while text[at : at + 1] != ("}" if mapping else "]"):
        at = _expect(text, at, ",") if items else at
        key = str(len(items))
        if mapping:
            if text[at : at + 1] != '"':
                raise BadData(f"a key is missing at offset {at}")
            key, at = _plain_value(text, at)
            at = _expect(text, _skip(text, at), ":")
        items[key], at = _value(text, at, depth + 1)
        at = _skip(text, at)
    return DataEntry(
        Span(start, at + 1),
        None,
        items if mapping else list(items.values()),
    ), at + 1


def _plain_value(text: str, at: int) -> tuple[Any, int]:
    """A string, a number or a word of JSON, and where it ends."""
    try:
        return JSON_VALUE.raw_decode(text, at)
    except ValueError as error:
        raise BadData(f"no JSON value at offset {at}") from error


def _skip(text: str, at: int) -> int:
    return SPACE.match(text, at).end()  # type: ignore[union-attr]


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise BadData(f"{sign!r} is missing at offset {at}")
    return _skip(text, at + 1)


NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?")
PLAIN_WORD = re.compile(r"[A-Za-z_][\w./-]*")
YAML_WORDS = frozenset(
    (
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "null",
        "none",
        "y",
        "n",
    )
)
MAX_NODES = 20_000


@lru_cache(maxsize=64)
def read_data(file: SourceFile) -> DataEntry:
    """All values of a YAML or JSON file, each with its span; raises BadData."""
    if file.language is Language.JSON:
        return read_json(file.text)
    return _read_yaml(file.text)


def write_value(language: Language, value: JsonValue, before: str) -> str:
    """A value as text of that language; `before` is what is there now and lends its quotes."""
    text = json.dumps(value, ensure_ascii=False)
    if language is Language.JSON:
        return text
    if isinstance(value, str):
        if before[:1] == "'" and "'" not in value:
            return f"'{value}'"
        plain = PLAIN_WORD.fullmatch(value) and value.lower() not in YAML_WORDS
        return value if plain and before[:1] != '"' else text
    if isinstance(value, float):
        # YAML 1.1 takes `1e-05` for a word: a float needs its point.
        mantissa, exponent, power = repr(value).partition("e")
        if exponent and "." not in mantissa:
            return f"{mantissa}.0e{power}"
        return repr(value)
    return text


def _read_yaml(text: str) -> DataEntry:
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise BadData("the file is empty")
        return _entry(loader, node, text, [MAX_NODES])
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadData(str(error).splitlines()[0][:120]) from error


def _entry(
    loader: yaml.SafeLoader,
    node: yaml.Node,
    text: str,
    budget: list[int],
) -> DataEntry:
    import yaml

    budget[0] -= 1
    if budget[0] < 0:
        raise BadData("too many values, or aliases that multiply")
    span = Span(node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.MappingNode):
        # Merge keys (`<<: *base`) become entries that are where the anchor wrote them.
        loader.flatten_mapping(node)
        items = {str(key.value): _entry(loader, value, text, budget) for key, value in node.value}
        return DataEntry(span, None, items)
    if isinstance(node, yaml.SequenceNode):
        return DataEntry(
            span,
            None,
            [_entry(loader, value, text, budget) for value in node.value],
        )
    return DataEntry(
        span,
        _scalar(
            loader,
            node,
            text[span.start : span.end].strip(),
        ),
    )


def _scalar(loader: yaml.SafeLoader, node: yaml.Node, written: str) -> JsonValue:
    import yaml

    if NUMBER.fullmatch(written):
        # Programs say float(cfg["lr"]) because PyYAML reads 1e-3 as a string: for us it is a
        # number.
        plain = written.replace("_", "")
        if plain.lstrip("+-").isdecimal():
            return int(plain)
        return float(plain)
    try:
        value = loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        return str(node.value)
    if isinstance(value, bool | int | float | str | None):
        return value
    return str(node.value)


MAIN = ("hydra.main", "hydra.compose")
SUFFIX = ".yaml"


def named_config(call: ast.Call) -> str:
    """The file below the program's folder that a call with `config_name=` reads; empty for none."""
    given = (
        keyword(call, "config_name"),
        argument(call, 0, "config_path"),
    )
    name, folder = (
        getattr(one, "value", "") if isinstance(one, ast.Constant) else "" for one in given
    )
    if not name or not isinstance(name, str):
        return ""
    return str(PurePosixPath(folder if isinstance(folder, str) else "") / _with_suffix(name))


def included(config: SourceFile) -> Iterator[PurePosixPath]:
    """Files next to a configuration that its list `defaults` includes: `- optimizer: adam`, `-
    base`.
    """
    root = entries_of(config)
    for group, option in _defaults(root) if root is not None else ():
        yield config.path.parent / group / _with_suffix(option)


def from_group(
    config: DataEntry,
    file: str,
    key: str,
    files: Sequence[SourceFile],
    arguments: Sequence[str],
) -> tuple[str, DataEntry] | None:
    """The value under a key that the configuration itself does not hold: the group of that name, or
    an entry of a file that is included whole. The command line may choose another option of a
    group.
    """
    beside = PurePosixPath(file).parent
    known = {str(one.path): one for one in files}
    chosen = dict(word.split("=", 1) for word in arguments if "=" in word)
    for group, option in _defaults(config):
        if group != key if group else is_overridden(key, arguments):
            continue
        path = str(beside / group / _with_suffix(chosen.get(group, option) if group else option))
        root = entries_of(known[path]) if path in known else None
        found = root if group or root is None else root.get(key)
        if found is not None:
            return path, found
    return None


def is_overridden(key: str, arguments: Sequence[str]) -> bool:
    """Whether a word such as `optimizer.lr=0.1` takes the place of what the file says under
    this key.
    """
    names = (word.partition("=")[0].lstrip("+~") for word in arguments if "=" in word)
    return any(name.rpartition(".")[2] == key for name in names)


def _defaults(config: DataEntry) -> Iterator[tuple[str, str]]:
    """Group and option; the group is empty for a file that is included whole."""
    listed = config.get("defaults")
    for item in listed.items if listed is not None and isinstance(listed.items, list) else ():
        value = item.plain()
        if isinstance(value, str) and value != "_self_":
            yield "", value
        elif isinstance(value, dict):
            pairs = ((name, option) for name, option in value.items() if isinstance(option, str))
            yield from (
                (
                    name.removeprefix("override ").partition("@")[0],
                    option,
                )
                for name, option in pairs
            )


def _with_suffix(name: str) -> str:
    if name.endswith((SUFFIX, ".yml")):
        return name
    return name + SUFFIX


def entries_of(file: SourceFile) -> DataEntry | None:
    try:
        return read_data(file)
    except BadData:
        return None
