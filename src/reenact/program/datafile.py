"""YAML and JSON files that a program reads at start: values with their places, and values written back in
style."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from reenact.program.jsontext import BadJson, Entry, read_json
from reenact.program.lines import Span
from reenact.program.source import Language, SourceFile
from reenact.types import JsonValue

NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?")
PLAIN_WORD = re.compile(r"[A-Za-z_][\w./-]*")
YAML_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"))
MAX_NODES = 20_000


class BadData(ValueError):
    """A data file that cannot be read; the text says why."""


@lru_cache(maxsize=64)
def read_data(file: SourceFile) -> Entry:
    """All values of a YAML or JSON file, each with its span; raises BadData."""
    try:
        return read_json(file.text) if file.language is Language.JSON else _read_yaml(file.text)
    except BadJson as error:
        raise BadData(str(error)) from error


def write_value(language: Language, value: JsonValue, before: str) -> str:
    """A value as text of that language; `before` is what stands there now and lends its quotes."""
    if language is Language.JSON:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return _yaml_string(value, before)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return _yaml_float(value)
    return json.dumps(value, ensure_ascii=False)


def _yaml_string(value: str, before: str) -> str:
    if before[:1] == "'" and "'" not in value:
        return f"'{value}'"
    plain = PLAIN_WORD.fullmatch(value) and value.lower() not in YAML_WORDS
    return value if plain and before[:1] != '"' else json.dumps(value, ensure_ascii=False)


def _yaml_float(value: float) -> str:
    """YAML 1.1 takes `1e-05` for a word: a float needs its point."""
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text


def _read_yaml(text: str) -> Entry:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise BadData("PyYAML is not installed") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadData(str(error).splitlines()[0][:120]) from error
    if node is None:
        raise BadData("the file is empty")
    budget = [MAX_NODES]
    return _entry(node, text, budget)


def _entry(node: object, text: str, budget: list[int]) -> Entry:
    import yaml

    budget[0] -= 1
    if budget[0] < 0:
        raise BadData("too many values, or aliases that multiply")
    assert isinstance(node, yaml.Node)
    span = Span(node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.MappingNode):
        _flatten(node)
        return Entry(span, None, {str(key.value): _entry(value, text, budget) for key, value in node.value})
    if isinstance(node, yaml.SequenceNode):
        return Entry(span, None, [_entry(value, text, budget) for value in node.value])
    return Entry(span, _scalar(node, text[span.start : span.end]))


def _flatten(node: object) -> None:
    """Merge keys (`<<: *base`) become entries that stand where the anchor wrote them."""
    import yaml

    loader = yaml.SafeLoader("")
    try:
        loader.flatten_mapping(node)  # type: ignore[arg-type]
    except yaml.YAMLError as error:
        raise BadData(str(error).splitlines()[0][:120]) from error
    finally:
        loader.dispose()


def _scalar(node: object, written: str) -> JsonValue:
    import yaml

    assert isinstance(node, yaml.ScalarNode)
    if NUMBER.fullmatch(written.strip()):
        # Programs say float(cfg["lr"]) because PyYAML reads 1e-3 as a string: for us it is a number.
        return _number(written.strip().replace("_", ""))
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        return str(node.value)
    finally:
        loader.dispose()
    return value if isinstance(value, bool | int | float | str | None) else str(node.value)


def _number(written: str) -> int | float:
    try:
        return int(written)
    except ValueError:
        return float(written)
