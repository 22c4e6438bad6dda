"""Carry out changes: collect their edits, write the files anew, see that they still parse."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.errors import PatchRefused
from reenact.program.change import Change, Insert, Replace
from reenact.program.edit.losses import check_outputs
from reenact.program.edit.optimizers import finish_short_names
from reenact.program.edit.perform import perform
from reenact.program.edit.source_editor import SourceEditor, TextEdit, written
from reenact.program.notebook import Notebook, write_cell
from reenact.program.program import Program
from reenact.program.read.index import FileIndex, index_of
from reenact.program.read.reading import read
from reenact.program.source import Language, SourceFile


def carry_out(program: Program, changes: Sequence[Change]) -> Program:
    """The program after the changes; the given one stays as it is."""
    editor = SourceEditor(read(program))
    for change in sorted(changes, key=_turn):
        perform(editor, change)
    check_outputs(editor)
    finish_short_names(editor)
    changed = []
    for path, edits in editor.finish().items():
        source = program.file(path)
        assert source is not None
        new = _rewritten(editor, source, edits)
        _must_parse(source, new)
        changed.append(new)
    return program.with_files(changed).with_arguments(editor.new_arguments())


def _turn(change: Change) -> int:
    """Hyperparameters first, new layers behind the activations these put in, exchanges last: they mind what
    is there."""
    return 2 if isinstance(change, Replace) else 1 if isinstance(change, Insert) else 0


def _rewritten(editor: SourceEditor, source: SourceFile, edits: list[TextEdit]) -> SourceFile:
    index = editor.analysis.sources.indexes.get(str(source.path))
    if index is not None and index.notebook is not None:
        return source.with_text(_rewritten_notebook(source.text, index.notebook, edits))
    return source.with_text(written(source.text, edits))


def _rewritten_notebook(text: str, notebook: Notebook, edits: list[TextEdit]) -> str:
    """Every edit goes into the cell it falls in; the JSON around the cells stays as it is."""
    pieces: list[str] = []
    at = 0
    last = notebook.cells[-1]
    for cell in notebook.cells:
        own = [
            edit
            for edit in edits
            if cell.start <= edit.span.start <= cell.end or (cell is last and edit.span.start > cell.end)
        ]
        if not own:
            continue
        source = written(cell.source, [_moved(edit, cell.start, len(cell.source)) for edit in own])
        pieces += [text[at : cell.entry.span.start], write_cell(text, cell.entry, source)]
        at = cell.entry.span.end
    return "".join([*pieces, text[at:]])


def _moved(edit: TextEdit, start: int, length: int) -> TextEdit:
    """An edit of the joined script as an edit of one cell; what lies behind its end is put at its end."""
    span = edit.span
    if span.start - start > length:
        return TextEdit(type(span)(length, length), "\n" + edit.text.rstrip("\n"), edit.order)
    return TextEdit(type(span)(span.start - start, min(span.end - start, length)), edit.text, edit.order)


def _must_parse(old: SourceFile, new: SourceFile) -> None:
    """What was Python must be Python still, cell by cell."""
    if new.language not in (Language.PYTHON, Language.NOTEBOOK):
        return
    before, after = index_of(old), index_of(new)
    wrong = after if isinstance(after, str) else ""
    if isinstance(before, FileIndex) and isinstance(after, FileIndex) and after.notebook and before.notebook:
        lost = [remark for remark in after.notebook.remarks if remark not in before.notebook.remarks]
        wrong = "; ".join(lost)
    if wrong:
        raise PatchRefused(
            f"The changed {new.path} would not be Python any more: {wrong}.",
            next_step="This is a defect of reenact; please keep the program that shows it.",
        )
