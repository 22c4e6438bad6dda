"""Rows that train and judge, copies on both sides of a split, rows for validation that are changed."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    edit,
    nodes_at,
    offered,
    reading_of,
    refused,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import value_of
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    block_of,
    elements,
    file_of,
    is_call,
    last_word,
    within,
)
from reenact.program.training.rows.augmented import RANDOM_CHANGES


def judge_other_rows(evidence: Evidence) -> Fixes:
    """The rows that judge begin where the rows that train end."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    found: list[Fixes] = []
    for index in evidence.files:
        ends = [one for one in within(index.tree, ast.Subscript) if _last(one) is not None]
        for cut in within(index.tree, ast.Subscript):
            first = _first(cut)
            for other in ends:
                last = _last(other)
                if first is None or last is None or not same(cut.value, other.value):
                    continue
                if first[0] < last[0] and not found:
                    found.append(_moved_ends(evidence, first[0], last[0]))
    return offered(*found, refused("Which rows to judge by is for the program to say."))


def _first(cut: ast.Subscript) -> tuple[int, ast.Constant] | None:
    """180 of `x[180:]`."""
    part = cut.slice
    if isinstance(part, ast.Slice) and part.upper is None and part.step is None:
        return _whole_number(part.lower)
    return None


def _last(cut: ast.Subscript) -> tuple[int, ast.Constant] | None:
    """240 of `x[:240]`."""
    part = cut.slice
    if isinstance(part, ast.Slice) and part.lower is None and part.step is None:
        return _whole_number(part.upper)
    return None


def _whole_number(node: ast.expr | None) -> tuple[int, ast.Constant] | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value, node
    return None


def _moved_ends(evidence: Evidence, old: int, new: int) -> Fixes:
    return edit(evidence, f"judge by the rows from {new} on", _begin_later, old, new)


def _begin_later(editor: SourceEditor, old: int, new: int) -> None:
    for index in editor.analysis.sources.indexes.values():
        for cut in within(index.tree, ast.Subscript):
            first = _first(cut)
            if first is not None and first[0] == old:
                editor.replace(spot_of(first[1]), str(new))


def split_in_order(evidence: Evidence, node: ast.AST) -> Fixes:
    """What overlaps is split at one place of the series, not by chance."""
    if not is_call(node, "train_test_split"):
        return refused("Rows that overlap are to be split at one place of the series, not drawn.")
    return edit(evidence, "split the series at one place", _at_one_place, node)


def _at_one_place(editor: SourceEditor, call: ast.Call) -> None:
    editor.set_argument(call, "shuffle", "False")
    for name in ("stratify", "random_state"):
        given = keyword(call, name)
        if given is not None:
            editor.drop_argument(call, given)


def split_first(evidence: Evidence, place: Place | None) -> Fixes:
    """Rows are split before any of them is drawn again."""
    for call in nodes_at(evidence, place, ast.Call):
        draw = statement_of(call)
        block = block_of(draw)
        later = block[block.index(draw) + 1 :] if draw in block else []
        for split in later:
            if isinstance(draw, ast.Assign) and isinstance(split, ast.Assign):
                fixes = _drawn_after(evidence, draw, split)
                if fixes:
                    return fixes
    return refused("What is drawn again reaches the split by more than one statement.")


def _drawn_after(evidence: Evidence, draw: ast.Assign, split: ast.Assign) -> Fixes:
    """`x, y = draw(x, y)` and then `train_test_split(x, y)`: the draw after it, of its first parts."""
    drawn = [last_word(one) for one in elements(draw.targets[0])]
    call = draw.value
    given = [last_word(one) for one in call.args] if isinstance(call, ast.Call) else []
    parts = [last_word(one) for one in elements(split.targets[0])]
    cut = (
        [last_word(one) for one in split.value.args]
        if is_call(split.value, "train_test_split")
        else []
    )
    if not (len(drawn) == len(given) == len(cut) == 2 and len(parts) == 4):
        return ()
    if cut != drawn or "" in (*given, *parts):
        return ()
    return edit(evidence, "draw rows again after the split", _draw_later, draw, split, given, parts)


def _draw_later(
    editor: SourceEditor,
    draw: ast.Assign,
    split: ast.Assign,
    given: list[str],
    parts: list[str],
) -> None:
    call, cut = draw.value, split.value
    assert isinstance(call, ast.Call)
    assert isinstance(cut, ast.Call)
    for old, new in zip(cut.args, given, strict=True):
        editor.replace(spot_of(old), new)
    index = file_of(draw)
    first, last = spot_of(call.args[0]).start, spot_of(call.args[1]).end
    whole = spot_of(call)
    train = f"{parts[0]}, {parts[2]}"
    text = f"{index.text[whole.start : first]}{train}{index.text[last : whole.end]}"
    editor.after(split, f"{train} = {text}")
    editor.remove_statement(draw)


def plain_for_validation(evidence: Evidence, statement: ast.AST, change: ast.expr | None) -> Fixes:
    """Rows for validation are not changed at random, as `change` does it."""
    if not isinstance(statement, ast.Assign) or change is None:
        return refused("Where the rows for validation get what changes them is not seen.")
    made = statement.value
    parts = elements(statement.targets[0])
    if is_call(made, "random_split") and made.args and len(parts) > 1:
        data = value_of(made.args[0])
        return _own_data(evidence, statement, parts[1:], data, change)
    return edit(evidence, "leave the rows for validation as they are", _identity, change)


def _identity(editor: SourceEditor, given: ast.expr) -> None:
    editor.replace(spot_of(given), _plain(editor, given))


def _plain(editor: SourceEditor, given: ast.expr) -> str:
    """The transforms that draw nothing; what changes nothing where there are none."""
    value = value_of(given)
    items = elements(value.args[0]) if is_call(value, "Compose") and value.args else []
    kept = [one for one in items if not is_call(one, *RANDOM_CHANGES)]
    if isinstance(value, ast.Call) and kept:
        return f"{editor.text(value.func)}([{', '.join(map(editor.text, kept))}])"
    return f"{editor.name_for('torch.nn.Identity', given)}()"


def _own_data(
    evidence: Evidence,
    split: ast.Assign,
    parts: list[ast.expr],
    data: ast.expr,
    given: ast.expr,
) -> Fixes:
    return edit(
        evidence,
        "give the rows for validation a data set that changes nothing",
        _other_data,
        split,
        parts,
        data,
        given,
    )


def _other_data(
    editor: SourceEditor,
    split: ast.Assign,
    parts: list[ast.expr],
    data: ast.expr,
    given: ast.expr,
) -> None:
    index = file_of(data)
    whole, spot = spot_of(data), spot_of(given)
    text = index.text[whole.start : spot.start] + _plain(editor, given)
    text += index.text[spot.end : whole.end]
    for part in parts:
        editor.after(split, f"{editor.text(part)}.dataset = {text}")
