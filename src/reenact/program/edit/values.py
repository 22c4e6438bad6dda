"""Literal values: numbers, strings, flags, wherever the trail of a knob ends, and on the command line too."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.program.datafile import write_value
from reenact.program.edit.literals import python_text, word_text
from reenact.program.edit.slices import follow_slices
from reenact.program.edit.workshop import Workshop
from reenact.program.knob import Kind, Knob
from reenact.program.read.calls import argument
from reenact.program.read.desk import Site
from reenact.program.read.ends import End, Spot, is_number, literal
from reenact.program.read.options import Given
from reenact.program.read.values import Found
from reenact.program.read.widths import WIDTHS, followers
from reenact.types import JsonValue


def set_value(shop: Workshop, knob: Knob, site: Site, value: JsonValue) -> None:
    """Write a literal where the knob's value stands, and everything that must follow."""
    found = site.found
    assert found is not None
    if found.scale != 1.0 and is_number(value):
        value = value / found.scale  # type: ignore[operator]
    write_at(shop, found.end, found.spot, found.text, value)
    if site.library == "torch" and site.layer is not None and knob.kind in WIDTHS:
        _follow_width(shop, site, found, value)
    if knob.kind is Kind.BATCH_SIZE:
        follow_slices(shop, site, found, value)
    if knob.kind is Kind.KERNEL_SIZE and site.library == "keras":
        _other_side(shop, site, value)


def write_at(shop: Workshop, end: End, spot: Spot, before: str, value: JsonValue) -> None:
    """Write a literal at the end of a trail: Python, YAML, JSON, and the command line where that is in
    force."""
    if end.option is not None and end.given is not None:
        shop.say(*_words(end.given, value))
    if end.option is not None and end.option.default is None:
        _say_new(shop, end, value)
        return
    source = shop.program.file(spot.file)
    if end.entry is not None and source is not None:
        shop.replace(spot, write_value(source.language, value, before))
        return
    shop.replace(spot, python_text(value, before))


def _words(given: Given, value: JsonValue) -> tuple[int, int, list[str]]:
    words = [word_text(part) for part in value] if isinstance(value, list | tuple) else [word_text(value)]
    if not given.flag:
        return given.index, given.count, words
    if given.count == 1 and given.words:
        sign = "=" if given.flag.startswith("--") else ""
        return given.index, given.count, [f"{given.flag}{sign}{words[0]}"]
    return given.index, given.count, [given.flag, *words]


def _say_new(shop: Workshop, end: End, value: JsonValue) -> None:
    """An option without a default: it is said on the command line."""
    assert end.option is not None
    flag = end.option.flags[0]
    if not flag.startswith("-"):
        raise NotChangeable(f"The value is the positional argument {flag!r} of the command line.")
    if end.given is None:
        shop.say(len(shop.arguments), 0, [flag, word_text(value)])


def _follow_width(shop: Workshop, site: Site, found: Found, value: JsonValue) -> None:
    """The input widths of the layers that take the output of this one."""
    assert site.layer is not None
    following = followers(shop.desk, shop.reading.models, site.layer, found.spot)
    if isinstance(following, str):
        raise NotChangeable(f"This width cannot be changed alone: {following}.")
    if following and not isinstance(value, int):
        raise NotChangeable(f"A width is a whole number. Received: {value!r}.")
    for item in following:
        shop.replace(item.spot, python_text(value * item.factor))  # type: ignore[operator]


def _other_side(shop: Workshop, site: Site, value: JsonValue) -> None:
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
        shop.replace(shop.desk.spot(second, site.scope), python_text(value))
