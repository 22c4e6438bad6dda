"""Literal values: numbers, strings, flags, wherever the trail of a hyperparameter ends, and on the command
line too."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.program.datafile import write_value
from reenact.program.edit.literals import python_text, word_text
from reenact.program.edit.slices import follow_slices
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.read.analysis import Site
from reenact.program.read.calls import argument
from reenact.program.read.ends import End, Spot, is_number, literal
from reenact.program.read.options import Given
from reenact.program.read.values import Found
from reenact.program.read.widths import WIDTHS, followers
from reenact.types import JsonValue


def set_value(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    """Write a literal where the hyperparameter's value stands, and everything that must follow."""
    found = site.found
    assert found is not None
    if found.scale != 1.0 and is_number(value):
        value = value / found.scale  # type: ignore[operator]
    write_at(editor, found.end, found.spot, found.text, value)
    if site.library == "torch" and site.layer is not None and param.kind in WIDTHS:
        _follow_width(editor, site, found, value)
    if param.kind is Kind.BATCH_SIZE:
        follow_slices(editor, site, found, value)
    if param.kind is Kind.KERNEL_SIZE and site.library == "keras":
        _other_side(editor, site, value)


def write_at(editor: SourceEditor, end: End, spot: Spot, before: str, value: JsonValue) -> None:
    """Write a literal at the end of a trail: Python, YAML, JSON, and the command line where that is in
    force."""
    if end.option is not None and end.given is not None:
        editor.say(*_words(end.given, value))
    if end.option is not None and end.option.default is None:
        _say_new(editor, end, value)
        return
    source = editor.program.file(spot.file)
    if end.entry is not None and source is not None:
        editor.replace(spot, write_value(source.language, value, before))
        return
    editor.replace(spot, python_text(value, before))


def _words(given: Given, value: JsonValue) -> tuple[int, int, list[str]]:
    words = [word_text(part) for part in value] if isinstance(value, list | tuple) else [word_text(value)]
    if not given.flag:
        return given.index, given.count, words
    if given.count == 1 and given.words:
        sign = "=" if given.flag.startswith("--") else ""
        return given.index, given.count, [f"{given.flag}{sign}{words[0]}"]
    return given.index, given.count, [given.flag, *words]


def _say_new(editor: SourceEditor, end: End, value: JsonValue) -> None:
    """An option without a default: it is said on the command line."""
    assert end.option is not None
    flag = end.option.flags[0]
    if not flag.startswith("-"):
        raise NotChangeable(f"The value is the positional argument {flag!r} of the command line.")
    if end.given is None:
        editor.say(len(editor.arguments), 0, [flag, word_text(value)])


def _follow_width(editor: SourceEditor, site: Site, found: Found, value: JsonValue) -> None:
    """The input widths of the layers that take the output of this one."""
    assert site.layer is not None
    following = followers(editor.analysis, editor.reading.models, site.layer, found.spot)
    if isinstance(following, str):
        raise NotChangeable(f"This width cannot be changed alone: {following}.")
    if following and not isinstance(value, int):
        raise NotChangeable(f"A width is a whole number. Received: {value!r}.")
    for item in following:
        editor.replace(item.spot, python_text(value * item.factor))  # type: ignore[operator]


def _other_side(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    """`Convolution2D(32, 3, 3)` of Keras 1 says the kernel's two sides one by one."""
    call = site.call
    if (
        call is None
        or site.layer is None
        or not site.layer.made.callee.dotted.endswith("2D")
        or len(call.args) < 3
    ):
        return
    second = argument(call, 2)
    if second is None or not is_number(literal(second)) or not isinstance(value, int):
        return
    if site.layer.name.startswith("Convolution") or isinstance(second, ast.Constant):
        editor.replace(editor.analysis.spot(second, site.scope), python_text(value))
