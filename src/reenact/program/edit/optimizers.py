"""Optimisers: another class with the arguments it knows, or settings for one that was a mere
string.
"""

import re

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import Settings, ShortName, SourceEditor, known
from reenact.program.edit.values import choose, python_text, rename_callee, write_at
from reenact.program.flow.ends import spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import Hyperparameter
from reenact.program.syntax.calls import entries, has_unpacking
from reenact.program.training import lexicon
from reenact.program.training.analysis import EditSite, Style
from reenact.program.training.vocabulary import OptimizerSpec, plain_name
from reenact.types import JsonValue

NESTEROV = re.compile(r"\bnesterov[\"']?\s*[=:]\s*[Tt]rue")
LIBRARIES = {
    "torch": ("PyTorch", lexicon.TORCH_OPTIMIZERS),
    "keras": ("Keras", lexicon.KERAS_OPTIMIZERS),
}


def set_optimizer(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """Another optimiser, its learning rate kept, arguments it does not know dropped."""
    if not isinstance(value, str):
        raise NotChangeable(f"An optimiser is a name. Received: {value!r}.")
    if site.style is Style.CHOICE:
        _check_choice(editor, site, value)
        choose(editor, site, value)
    elif site.style is Style.NAME:
        _rename(editor, site, value)
    elif site.library == "keras" and site.found is not None:
        short_name(editor, site).name, _ = spec_of("keras", value)
    elif site.found is not None:
        write_at(editor, site.found.end, value)


def _check_choice(editor: SourceEditor, site: EditSite, value: str) -> None:
    """An optimiser chosen by a string keeps all its settings: it must take every one of them."""
    if site.library != "torch" or (
        known(site.callee).choices and value not in lexicon.TORCH_OPTIMIZERS
    ):
        return
    _, spec = spec_of("torch", value)
    given: list[object] = []
    for part in known(site.call).keywords:
        # The keys of a dictionary of the program or of a data file.
        for end in editor.analysis.follower.follow(part.value) if part.arg is None else ():
            held = end.entry.items if end.entry is not None else entries(end.node)
            given += list(held) if isinstance(held, dict) else []
        given += [part.arg] if part.arg is not None else []
    lacking = [name for name in given if isinstance(name, str) and not spec.takes(name)]
    if lacking:
        raise NotChangeable(f"{value} takes no {', '.join(lacking)}, which the program gives.")


def _rename(editor: SourceEditor, site: EditSite, value: str) -> None:
    """Arguments the new optimiser lacks, or takes at another position, go."""
    call = known(site.call)
    callee = known(site.callee)
    name, new = spec_of(site.library, value)
    _, old = spec_of(site.library, last_name(callee.dotted))
    home = "torch.optim" if site.library == "torch" else "keras.optimizers"
    rename_callee(editor, callee, f"{home}.{name}")
    lost = [name for name, _ in old.arguments if not new.takes(name)]
    if has_unpacking(call) and lost:
        raise NotChangeable(f"The call takes unpacked settings, which may hold {', '.join(lost)}.")
    for number, part in enumerate(call.args):
        name = old.arguments[number][0] if number < len(old.arguments) else ""
        if new.position(name) != number:
            editor.drop_argument(call, part)
    for given in call.keywords:
        if given.arg is not None and not new.takes(given.arg):
            editor.drop_argument(call, given.value)


def spec_of(library: str, value: str) -> tuple[str, OptimizerSpec]:
    """The class of an optimiser of that library, by any spelling of its name, and its arguments."""
    title, known = LIBRARIES.get(library, LIBRARIES["keras"])
    for name, spec in known.items():
        if plain_name(name) == plain_name(value):
            return name, spec
    there = ", ".join(known)
    raise NotChangeable(
        f"{title} has no optimiser of that name. Received: {value!r}. Known: {there}."
    )


def short_name(editor: SourceEditor, site: EditSite) -> ShortName:
    """The record of a string optimiser, shared by all changes that concern it: `optimizer="adam"`
    becomes `optimizer=Adam(learning_rate=...)`.
    """
    key = known(site.call)
    if key not in editor.short_names:
        editor.short_names[key] = ShortName(
            site,
            spec_of(
                "keras",
                str(known(site.found).value),
            )[0],
        )
    return editor.short_names[key]


def finish_short_names(editor: SourceEditor) -> None:
    """Write every string optimiser that changed: as a string when only its name did."""
    for short in editor.short_names.values():
        found = known(short.site.found)
        if not short.settings:
            write_at(editor, found.end, short.name.lower())
            continue
        for name in short.settings:
            if not lexicon.KERAS_OPTIMIZERS[short.name].takes(name):
                raise NotChangeable(f"{short.name} takes no {name}.")
        called = editor.name_for(
            f"keras.optimizers.{short.name}",
            found.use,
        )
        given = ", ".join(f"{name}={python_text(value)}" for name, value in short.settings.items())
        editor.replace(
            spot_of(found.use),
            f"{called}({given})",
        )


def refuse_without_momentum(editor: SourceEditor, param: Hyperparameter) -> None:
    """Raises NotChangeable where the program asks for Nesterov's momentum: PyTorch stops
    without any.
    """
    file = editor.program.file(str(param.place.file))
    if file is not None and NESTEROV.search(file.text):
        why = "Nesterov's momentum, which the program asks for, needs one"
        raise NotChangeable(f"{param.id} cannot go: {why}.")


def replace_optimizer(editor: SourceEditor, site: EditSite, by: str, settings: Settings) -> None:
    """Another optimiser; given settings are written, those it lacks are refused."""
    set_optimizer(editor, site, by)
    # A program written for an old Keras keeps its `lr`.
    old = site.call is not None and any(given.arg == "lr" for given in site.call.keywords)
    rate = "lr" if site.library == "torch" or old else "learning_rate"
    for name, value in settings.items():
        word = rate if name in ("lr", "learning_rate") else name
        if not spec_of(site.library, by)[1].takes(word):
            raise NotChangeable(f"{by} takes no {name}.")
        if site.style is Style.NAME and site.call is not None:
            editor.set_argument(site.call, word, python_text(value))
        elif site.library == "keras" and site.found is not None:
            short_name(editor, site).settings[word] = value
        else:
            raise NotChangeable("The optimiser is chosen by a string; its settings are elsewhere.")
