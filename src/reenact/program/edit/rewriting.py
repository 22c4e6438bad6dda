"""Edits of one program as changes of a patch: each stretch of lines that is written again is one
change, quoted with as many lines around it as make it the only one of its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.program.edit.change import Rewrite
from reenact.program.edit.source_editor import SourceEditor, TextEdit, written
from reenact.program.syntax.scope import FileIndex
from reenact.program.syntax.source import Span


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Whole lines, and the edits in them."""

    start: int
    end: int
    edits: tuple[TextEdit, ...]


def rewrites(editor: SourceEditor) -> tuple[Rewrite, ...]:
    """What was collected, as changes; raises PatchConflict where two edits want one place."""
    changes: list[Rewrite] = []
    for path, edits in editor.finish().items():
        index = editor.analysis.sources.indexes[path]
        stretches = [_lines_of(index, edit) for edit in edits]
        changes += [_rewrite(index, one) for one in _apart(index, stretches)]
    return tuple(one for one in changes if one.old != one.new)


def _lines_of(index: FileIndex, edit: TextEdit) -> _Stretch:
    start = index.lines.line_start(edit.span.start)
    end = index.lines.line_end(edit.span.end, behind=True)
    return _Stretch(start, max(end, start), (edit,))


def _apart(index: FileIndex, stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Stretches that do not touch, each long enough to stand in the file only once."""
    joined = _joined(stretches)
    while True:
        grown = [_grown(index, one) for one in joined]
        again = _joined(grown)
        if len(again) == len(joined):
            return again
        joined = again


def _joined(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    kept: list[_Stretch] = []
    for one in stretches:
        if kept and one.start <= kept[-1].end:
            last = kept.pop()
            one = _Stretch(last.start, max(last.end, one.end), (*last.edits, *one.edits))
        kept.append(one)
    return kept


def _grown(index: FileIndex, stretch: _Stretch) -> _Stretch:
    text = index.text
    start, end = stretch.start, stretch.end
    while (start, end) != (0, len(text)) and (
        start == end or text.count(text[start:end]) != 1 or not text[start:end].strip()
    ):
        start = index.lines.line_start(max(0, start - 1))
        end = index.lines.line_end(min(end, len(text)), behind=True)
    return _Stretch(start, end, stretch.edits)


def _rewrite(index: FileIndex, stretch: _Stretch) -> Rewrite:
    moved = [
        TextEdit(
            Span(
                edit.span.start - stretch.start,
                edit.span.end - stretch.start,
                edit.span.file,
            ),
            edit.text,
            edit.order,
        )
        for edit in stretch.edits
    ]
    old = index.text[stretch.start : stretch.end]
    return Rewrite(index.path, old, written(old, moved), by_template=True)
