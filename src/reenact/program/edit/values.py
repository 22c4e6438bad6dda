"""Literal values and library names, wherever the trail of a hyperparameter ends, and on the command
line too, written in the style of what is there now.
"""

import ast
import json

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import SourceEditor, known
from reenact.program.flow.ends import End, Given, is_number, literal, name_spot, spot_of
from reenact.program.flow.values import Callee, Found
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.syntax.calls import argument, has_unpacking
from reenact.program.syntax.datafile import write_value
from reenact.program.training.analysis import EditSite
from reenact.program.training.model import WIDTHS, followers
from reenact.types import JsonValue


def python_text(value: JsonValue, before: str = "") -> str:
    """A JSON value as Python source; quotes, brackets and quoted numbers follow what stood
    there.
    """
    quote = before[:1] if before[:1] in ("'", '"') else '"'
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        if quote == '"' or "'" in value or "\\" in text:
            return text
        return f"'{value}'"
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        if before[:1] in ("'", '"'):
            return f"{quote}{value!r}{quote}"
        return repr(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(python_text(part) for part in value)
        if before[:1] == "[":
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    raise NotChangeable(f"This value cannot be written as a Python literal. Received: {value!r}.")


def word_text(value: JsonValue) -> str:
    """A value as one word of a command line."""
    if isinstance(value, str):
        return value
    if value is not None and not isinstance(value, bool):
        return json.dumps(value)
    return str(value)


def set_value(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    """Write a literal where the hyperparameter's value is, and everything that must follow."""
    found = known(site.found)
    if found.scale != 1.0 and is_number(value):
        value = value / found.scale  # type: ignore[operator]
    write_at(editor, found.end, value)
    if site.library == "torch" and site.layer is not None and param.kind in WIDTHS:
        _follow_width(editor, site, found, value)
    if param.kind is Kind.BATCH_SIZE:
        follow_slices(editor, site, found, value)
    if param.kind is Kind.KERNEL_SIZE and site.library == "keras":
        _other_side(editor, site, value)


def write_at(editor: SourceEditor, end: End, value: JsonValue) -> None:
    """Write a literal at the end of a trail: in Python, YAML, JSON, or on the command line."""
    if end.option is not None and end.given is not None:
        editor.say(*_words(end.given, value))
    if end.option is not None and end.option.default is None:
        # An option without a default is given on the command line.
        flag = end.option.flags[0]
        if not flag.startswith("-"):
            raise NotChangeable(
                f"The value is the positional argument {flag!r} of the command line."
            )
        if end.given is None:
            editor.say(
                len(editor.program.arguments),
                0,
                [flag, word_text(value)],
            )
        return
    spot = editor.analysis.values.spot(end)
    before = editor.analysis.values.text(end, spot)
    data = editor.program.file(spot.file) if end.entry is not None else None
    text = (
        write_value(data.language, value, before)
        if data is not None
        else python_text(value, before)
    )
    editor.replace(spot, text)


def _words(given: Given, value: JsonValue) -> tuple[int, int, list[str]]:
    words = [word_text(part) for part in (value if isinstance(value, list | tuple) else [value])]
    if given.flag and given.count == 1 and given.words:
        words = [given.flag + ("=" if given.flag.startswith("--") else "") + words[0]]
    elif given.flag:
        words = [given.flag, *words]
    return given.index, given.count, words


def _follow_width(editor: SourceEditor, site: EditSite, found: Found, value: JsonValue) -> None:
    """The input widths of the layers that take the output of this one."""
    following = followers(
        editor.reading.models,
        known(site.layer),
        found.spot,
    )
    if isinstance(following, str):
        raise NotChangeable(f"This width cannot be changed alone: {following}.")
    if following and not isinstance(value, int):
        raise NotChangeable(f"A width is a whole number. Received: {value!r}.")
    for item in following:
        editor.replace(
            item.spot,
            python_text(value * item.factor),  # type: ignore[operator]
        )


def _other_side(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """`Convolution2D(32, 3, 3)` of Keras 1 says the kernel's two sides one by one."""
    layer = known(site.layer)
    second = argument(known(site.call), 2) if layer.made.callee.dotted.endswith("2D") else None
    if second is None or not is_number(literal(second)) or not isinstance(value, int):
        return
    if layer.name.startswith("Convolution") or isinstance(second, ast.Constant):
        editor.replace(spot_of(second), python_text(value))


def follow_slices(editor: SourceEditor, site: EditSite, found: Found, value: JsonValue) -> None:
    """`x[i : i + 18]` in `for i in range(0, rows, 18)`: the slices go as far as the steps."""
    loop = site.node
    written = found.end.node
    if loop is None or not isinstance(written, ast.Constant) or written not in ast.walk(loop):
        return
    # Numbers that slices reckon with, and those that count the rounds of the loop.
    reckoned: list[ast.AST] = [part for part in ast.walk(loop) if isinstance(part, ast.Slice)]
    reckoned += [loop.iter] if isinstance(loop, ast.For) else []
    sums = [part for node in reckoned for part in ast.walk(node) if isinstance(part, ast.BinOp)]
    for number in [term for part in sums for term in (part.left, part.right)]:
        same = isinstance(number, ast.Constant) and number.value == written.value
        if same and number is not written:
            editor.replace(spot_of(number), python_text(value))


def rename(editor: SourceEditor, node: ast.AST, old: str, new: str) -> None:
    """Put the library object `new` where the name of `old` is written, perhaps far from its
    call.
    """
    if not isinstance(node, ast.Name | ast.Attribute):
        raise NotChangeable("The name of what is called is not written as a name.")
    home, _, name = new.rpartition(".")
    if isinstance(node, ast.Attribute) and old.rpartition(".")[0] == home:
        editor.replace(name_spot(node), name)
    else:
        editor.replace(
            spot_of(node),
            editor.name_for(new, node),
        )


def rename_callee(editor: SourceEditor, callee: Callee, new: str) -> None:
    rename(editor, callee.end.node, callee.dotted, new)


def choose(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """Another word for `getattr(nn, word)` or `TABLE[word]`."""
    callee = known(site.callee)
    if callee.choices and value not in callee.choices:
        offered = ", ".join(callee.choices)
        raise NotChangeable(f"The table of the program offers {offered}. Received: {value!r}.")
    write_at(editor, callee.end, value)


def exchange_callee(
    editor: SourceEditor, site: EditSite, new: str, *kept: str, positional: int = 0
) -> None:
    """Another library class or function in the place of one, with those arguments that both
    take.
    """
    call = known(site.call)
    rename_callee(editor, known(site.callee), new)
    if has_unpacking(call):
        raise NotChangeable(
            "The call takes unpacked arguments; what would have to go cannot be determined."
        )
    for part in (
        *call.args[positional:],
        *(one.value for one in call.keywords if one.arg not in kept),
    ):
        editor.drop_argument(call, part)
