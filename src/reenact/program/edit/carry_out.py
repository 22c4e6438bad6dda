"""Carry out changes: find the editor for each hyperparameter, collect the edits, write the files
again, see that they still parse.
"""

from collections.abc import Sequence
from dataclasses import replace

from reenact.errors import NotChangeable, PatchRefused, UnknownHyperparameter
from reenact.program.edit import missing, optimizers, values
from reenact.program.edit.activations import (
    apply_activation,
    keras_string,
    set_activation,
    torch_class,
)
from reenact.program.edit.change import Change, Insert, Remove, Replace, Rewrite, Set
from reenact.program.edit.layers import insert_layer, remove_layer, set_layer
from reenact.program.edit.lists import replacement_text
from reenact.program.edit.losses import check_outputs, replace_loss, set_loss
from reenact.program.edit.missing import set_in_loop
from reenact.program.edit.source_editor import SourceEditor, TextEdit, known, written
from reenact.program.flow.ends import spot_of
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import Program
from reenact.program.syntax.index import index_of, parsed
from reenact.program.syntax.notebook import Notebook, write_cell
from reenact.program.syntax.scope import FileIndex
from reenact.program.syntax.source import Language, SourceFile, Span
from reenact.program.training.analysis import EditSite, Style
from reenact.program.training.layer_hyperparameters import NAMED_KINDS
from reenact.program.training.layers import activation_word
from reenact.program.training.reading import read
from reenact.types import JsonValue


def carry_out(program: Program, changes: Sequence[Change]) -> Program:
    """The program after the changes; the given one stays as it is."""
    editor = SourceEditor(read(program))
    # Hyperparameters first, new layers after the activations these put in, exchanges last.
    for change in sorted(
        changes,
        key=lambda one: (
            isinstance(one, Replace),
            isinstance(one, Insert),
        ),
    ):
        perform(editor, change)
    check_outputs(editor)
    optimizers.finish_short_names(editor)
    changed = []
    for path, edits in editor.finish().items():
        source = known(program.file(path))
        index = editor.analysis.sources.indexes.get(path)
        notebook = index.notebook if index is not None else None
        text = _rewritten(source.text, notebook, edits) if notebook else written(source.text, edits)
        changed.append(replace(source, text=text))
        _must_parse(source, changed[-1])
    return program.with_files(changed).with_arguments(editor.new_arguments())


def _rewritten(text: str, notebook: Notebook, edits: list[TextEdit]) -> str:
    """Every edit goes into the cell it falls in; the JSON around the cells stays as it is."""
    pieces: list[str] = []
    at = 0
    for cell in notebook.cells:
        length = len(cell.source)
        own = []
        end = len(notebook.script) if cell is notebook.cells[-1] else cell.start + length
        for edit in edits:
            start = edit.span.start - cell.start
            if start > length and edit.span.start <= end:
                # What lies after the end of the last cell is put at its end.
                own.append(
                    TextEdit(
                        Span(length, length),
                        "\n" + edit.text.rstrip("\n"),
                        edit.order,
                    )
                )
            elif 0 <= start <= length:
                span = Span(
                    start,
                    min(edit.span.end - cell.start, length),
                )
                own.append(TextEdit(span, edit.text, edit.order))
        if own:
            span = cell.entry.span
            pieces += [
                text[at : span.start],
                write_cell(text, cell.entry, written(cell.source, own)),
            ]
            at = span.end
    return "".join([*pieces, text[at:]])


def _must_parse(old: SourceFile, new: SourceFile) -> None:
    """What was Python must be Python still, cell by cell."""
    if new.language not in (Language.PYTHON, Language.NOTEBOOK):
        return
    before = index_of(old)
    after = parsed(new)
    wrong = after if isinstance(after, str) else ""
    notebook = after[2] if not isinstance(after, str) else None
    if isinstance(before, FileIndex) and before.notebook and notebook:
        lost = [remark for remark in notebook.remarks if remark not in before.notebook.remarks]
        wrong = "; ".join(lost)
    if wrong:
        fix = "This is a defect of reenact; please keep the program that shows it."
        raise PatchRefused(
            f"The changed {new.path} would not be Python any more: {wrong}.",
            next_step=fix,
        )


def perform(editor: SourceEditor, change: Change) -> None:
    """Collect the edits of one change; raises UnknownHyperparameter, NotChangeable or
    PatchConflict.
    """
    if isinstance(change, Rewrite):
        _rewrite(editor, change)
        return
    wanted = change.anchor if isinstance(change, Insert) else change.hyperparameter
    param = next(
        (one for one in editor.reading.hyperparameters if one.id == wanted),
        None,
    )
    if param is None:
        near = [str(other.id) for other, _ in editor.reading.of_kind(wanted.kind)][:5]
        raise UnknownHyperparameter(
            f"The program has no such hyperparameter. Received: {wanted}.",
            next_step=f"Hyperparameters of that kind: {', '.join(near) or 'none'}.",
        )
    site = editor.reading.sites[wanted]
    if isinstance(change, Set):
        turn(editor, param, site, change.value)
    elif isinstance(change, Replace):
        _replace(editor, change, param, site)
    elif isinstance(change, Remove):
        if param.absent:
            raise NotChangeable(f"{param.id} is absent already.")
        turn(editor, param, site, None)
    else:
        layer = known(
            site.layer,
            f"A layer is next to a layer; {change.anchor} is not one.",
        )
        insert_layer(editor, layer, change)


def _rewrite(editor: SourceEditor, change: Rewrite) -> None:
    """Raises NotChangeable where the old text is not in the file, or more than once."""
    file = editor.program.file(change.file)
    if file is None:
        raise NotChangeable(f"The program has no file {change.file}.")
    index = editor.analysis.sources.indexes.get(change.file)
    text = index.text if index is not None else file.text
    count = text.count(change.old) if change.old else 0
    if count != 1:
        found = "is not" if count == 0 else f"is {count} times"
        shown = change.old.strip()[:200]
        raise NotChangeable(
            f"The text to be replaced {found} in {change.file}; it must be there exactly once: "
            f"{shown!r}."
        )
    # What both texts share is left as it is, so that two edits of neighbouring lines agree.
    start = text.index(change.old)
    head = _shared(change.old, change.new)
    tail = _shared(change.old[head:][::-1], change.new[head:][::-1])
    spot = Span(start + head, start + len(change.old) - tail, change.file)
    editor.replace(spot, change.new[head : len(change.new) - tail])


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    differing = (number for number, (left, right) in enumerate(pairs) if left != right)
    return next(differing, min(len(one), len(other)))


def _replace(editor: SourceEditor, change: Replace, param: Hyperparameter, site: EditSite) -> None:
    _must_be_changeable(param)
    whole = param.kind in (Kind.LOSS, Kind.OPTIMIZER, Kind.LAYER)
    if whole and not editor.claim(
        param.id,
        [change.by, dict(change.settings)],
    ):
        return
    if param.kind is Kind.LOSS:
        for other, there, word in replace_loss(editor, param, site, change.by):
            turn(editor, other, there, word)
    elif param.kind is Kind.OPTIMIZER:
        optimizers.replace_optimizer(editor, site, change.by, change.settings)
    elif param.kind is Kind.LAYER and site.layer is not None:
        text = replacement_text(editor, site.layer, change.by, change.settings)
        editor.replace(spot_of(site.layer.call), text)
    else:
        turn(editor, param, site, change.by)


def _must_be_changeable(param: Hyperparameter) -> None:
    if not param.changeable:
        raise NotChangeable(f"{param.id} cannot be changed: {param.reason}.")


def turn(editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue) -> None:
    """Make the edits that give a hyperparameter another value; raises NotChangeable."""
    _must_be_changeable(param)
    if param.kind is Kind.MOMENTUM and not value and site.library == "torch":
        optimizers.refuse_without_momentum(editor, param)
    if not editor.claim(param.id, value):
        return
    if param.kind is Kind.LAYER:
        set_layer(editor, known(site.layer), value)
    elif site.style is Style.SHORT_NAME:
        optimizers.short_name(editor, site).settings[site.argument] = value
    elif site.style is Style.APPLY:
        apply_activation(editor, site, value)
    elif site.style is Style.INIT:
        missing.add_initialiser(editor, param, site, value)
    elif site.style is Style.LOOP:
        set_in_loop(editor, param, site, value)
    elif param.absent:
        missing.add_argument(editor, param, site, value)
    else:
        _turn_written(editor, param, site, value)


def _turn_written(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    if param.kind is Kind.LOSS:
        set_loss(editor, site, value)
    elif param.kind is Kind.OPTIMIZER:
        optimizers.set_optimizer(editor, site, value)
    elif param.kind is Kind.ACTIVATION:
        _turn_activation(editor, site, value)
    elif param.kind is Kind.NORMALIZATION:
        if value is not None:
            raise NotChangeable(f"A normalisation can be taken out (null). Received: {value!r}.")
        remove_layer(editor, known(site.layer))
    elif site.style is Style.CHOICE:
        values.choose(editor, site, value)
    elif site.style is Style.NAME:
        _turn_name(editor, param, site, value)
    elif value is None:
        missing.remove_argument(editor, site)
    elif (
        param.kind is Kind.WEIGHT_REGULARIZER and site.library == "keras" and site.found is not None
    ):
        editor.replace(
            site.found.spot,
            missing.setting_text(editor, param, site, value),
        )
    else:
        values.set_value(editor, param, site, value)


def _turn_activation(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    word = activation_word(value) if isinstance(value, str) else "linear"
    if site.style is Style.NAME:
        set_activation(editor, site, value)
    elif site.style is Style.CHOICE:
        callee = known(site.callee)
        if not callee.choices and callee.dotted.startswith("torch.nn."):
            value = torch_class("identity" if word == "linear" else word)
        values.choose(editor, site, value)
    else:
        end = known(site.found).end
        values.write_at(
            editor,
            end,
            keras_string(word) if site.library == "keras" else word,
        )


def _turn_name(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    callee = known(site.callee)
    if param.kind is Kind.SCHEDULER and value is None and site.library == "torch":
        missing.remove_schedule(editor, site)
    elif param.kind in NAMED_KINDS and site.library == "keras":
        # An initialiser or regulariser object gives way to a string, which Keras takes everywhere.
        call = known(site.call)
        called = call.func is callee.end.node
        if value is None and not called:
            raise NotChangeable("It is given by name; what would be left cannot be determined.")
        spot = spot_of(call) if called else editor.analysis.values.spot(callee.end)
        editor.replace(
            spot,
            missing.setting_text(editor, param, site, value),
        )
    elif param.kind in NAMED_KINDS and isinstance(value, str):
        name = missing.torch_initialiser(value)
        values.exchange_callee(
            editor,
            site,
            f"torch.nn.init.{name}",
            "tensor",
            positional=1,
        )
        if name == "constant_":
            editor.set_argument(known(site.call), "val", "0.0")
    elif param.kind is Kind.PREPROCESSING and isinstance(value, str):
        home = callee.dotted.rpartition(".")[0]
        values.exchange_callee(
            editor,
            site,
            f"{home}.{value}",
            "copy",
        )
    else:
        raise NotChangeable(f"{param.id} cannot take this value. Received: {value!r}.")
