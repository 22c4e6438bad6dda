"""Parameters that no optimizer has, that a model does not know of, or that no gradient reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.errors import NotChangeable
from reenact.faults import Cure, Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    behind,
    code_of,
    dedented,
    edit,
    nodes_at,
    offered,
    operand,
    reading_of,
    refused,
    replace,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, method_name, receiver
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    block_of,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    is_call,
    owner_of,
    within,
)
from reenact.program.syntax.scope import scope_of
from reenact.program.training.purpose import Purposes
from reenact.program.training.reading import Reading
from reenact.program.training.roles import without_gradients

LISTS = (ast.List, ast.ListComp, ast.Tuple)
DICTS = (ast.Dict, ast.DictComp)


def register_modules(evidence: Evidence, place: Place | None) -> Fixes:
    """Layers in a plain list or dictionary go into one of PyTorch, which parameters() reaches."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    given = [
        *nodes_at(evidence, place, ast.Assign),
        *_holders_of(evidence, place, reading),
    ]
    for statement in given:
        if not _is_attribute(statement.targets[0]):
            continue
        wrapped = _registered(evidence, statement.value)
        if wrapped:
            return wrapped
    return ()


def _holders_of(evidence: Evidence, place: Place | None, reading: Reading) -> Iterator[ast.Assign]:
    """Where the class of a call keeps modules in plain lists: those that the call's line reads first."""
    called_here = nodes_at(evidence, place, ast.Attribute)
    words = {one.attr for one in called_here}
    kept: list[ast.Assign] = []
    for index in evidence.files:
        for owner in index.classes:
            for statement in within(owner.node, ast.Assign):
                if _is_attribute(statement.targets[0]) and _keeps_modules(reading, statement):
                    kept.append(statement)
    yield from sorted(kept, key=lambda one: getattr(one.targets[0], "attr", "") not in words)


def _is_attribute(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)


def _keeps_modules(reading: Reading, statement: ast.Assign) -> bool:
    """Whether modules are in a list that is written out, or put into an empty one later."""
    value = statement.value
    if not isinstance(value, LISTS + DICTS):
        return False
    parts: list[ast.expr] = [value]
    target = statement.targets[0]
    owner = scope_of(statement).enclosing_class()
    for call in calls_in(owner.node, "append") if owner is not None else ():
        if same(owner_of(call), target):
            parts += call.args
    makers = (call for part in parts for call in within(part, ast.Call))
    return any(_makes_module(reading, call) for call in makers)


def _makes_module(reading: Reading, call: ast.Call) -> bool:
    purposes = Purposes(reading.loops)
    dotted = reading.analysis.sources.dotted(call.func)
    return dotted.startswith("torch.nn.") or purposes.is_model(call)


def _registered(evidence: Evidence, value: ast.expr) -> Fixes:
    if isinstance(value, LISTS):
        return _wrapped_in(evidence, value, "ModuleList")
    if isinstance(value, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
        if not all(isinstance(key, str) for key in keys):
            return refused(
                "The keys of a ModuleDict are texts, and those of this dictionary are not."
            )
        return _wrapped_in(evidence, value, "ModuleDict")
    if isinstance(value, ast.DictComp):
        return _wrapped_in(evidence, value, "ModuleDict")
    return ()


def _wrapped_in(evidence: Evidence, value: ast.expr, name: str) -> Fixes:
    def write(editor: SourceEditor) -> None:
        made = editor.name_for(f"torch.nn.{name}", value)
        editor.wrap(value, f"{made}(", ")")

    return edit(evidence, f"keep the layers in a {name}, which registers them", write)


def give_to_optimizer(evidence: Evidence) -> Fixes:
    """An optimizer is given all parameters of the models that the training calls, or it is made after
    a part of a model was replaced.
    """
    reading = reading_of(evidence)
    if reading is None:
        return ()
    made = [
        site.call
        for _, site in reading.of_kind(Kind.OPTIMIZER)
        if site.call is not None and site.library == "torch"
    ]
    if len(made) != 1:
        return refused("Which of several optimizers the parameters belong to is not known.")
    call = made[0]
    return offered(
        _made_after_swap(evidence, call),
        _given_models(evidence, reading, call),
    )


def _made_after_swap(evidence: Evidence, call: ast.Call) -> Fixes:
    """The optimizer is made before a part of a model of its block is replaced."""
    statement = statement_of(call)
    block = block_of(statement)
    if statement not in block or not isinstance(statement, ast.Assign):
        return ()
    models = [
        receiver(one) for one in calls_in(call, "parameters", "named_parameters") if receiver(one)
    ]
    last: ast.stmt | None = None
    used = False
    for later in block[block.index(statement) + 1 :]:
        used = used or _reads(later, statement.targets[0])
        if not used and isinstance(later, ast.Assign) and _replaces_part(later, models):
            last = later
    if last is None:
        return ()

    def write(editor: SourceEditor) -> None:
        editor.after(last, editor.text(statement))
        editor.remove_statement(statement)

    return edit(evidence, f"make the optimizer after {excerpt(last)}", write)


def _reads(statement: ast.stmt, target: ast.expr) -> bool:
    return any(
        same(one, target) and isinstance(one.ctx, ast.Load) for one in within(statement, ast.Name)
    )


def _replaces_part(statement: ast.Assign, models: list[ast.expr | None]) -> bool:
    """`model.head = ...` and `model[2] = ...` of one of these models."""
    base = statement.targets[0]
    if not isinstance(base, ast.Attribute | ast.Subscript):
        return False
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
        if any(same(base, one) for one in models):
            return isinstance(statement.value, ast.Call)
    return False


def _given_models(evidence: Evidence, reading: Reading, call: ast.Call) -> Fixes:
    given = argument(call, 0, "params")
    if given is None or not _is_all_of_one(given):
        return refused("The optimizer is not given the parameters of modules in one expression.")
    wanted = [one for one in _models_called(reading) if _is_known_at(one, call)]
    kept = [
        model
        for part in _parts(given)
        if (model := receiver(part)) is not None
        # A part of a model that is given whole need not be given by itself.
        and not any(_is_part(model, one) for one in wanted)
    ]
    names = list(dict.fromkeys([*map(code_of, kept), *map(code_of, wanted)]))
    asked = [code_of(model) for part in _parts(given) if (model := receiver(part)) is not None]
    if not wanted or sorted(names) == sorted(asked):
        return ()
    text = ", ".join(f"*{name}.parameters()" for name in names)
    whole = f"{names[0]}.parameters()" if len(names) == 1 else f"[{text}]"
    return edit(
        evidence,
        f"give the optimizer the parameters of {' and '.join(names)}",
        replace,
        given,
        whole,
    )


def _is_all_of_one(given: ast.expr) -> bool:
    parts = _parts(given)
    return bool(parts) and all(method_name(one) == "parameters" and not one.args for one in parts)


def _parts(given: ast.expr) -> list[ast.Call]:
    """The calls of `parameters()` that an optimizer is given, each alone or in a list or sum."""
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        return [*_parts(given.left), *_parts(given.right)]
    if isinstance(given, ast.Starred):
        return _parts(given.value)
    if is_call(given, "list", "chain") and not method_name(given):
        return [part for one in given.args for part in _parts(one)]
    if elements(given):
        return [part for one in elements(given) for part in _parts(one)]
    return [given] if isinstance(given, ast.Call) else []


def _models_called(reading: Reading) -> list[ast.expr]:
    """The models that the function of a backward pass calls, each once, in their order."""
    purposes = Purposes(reading.loops)
    found: list[ast.expr] = []
    for sent in reading.loops.backwards:
        for call in within(function_of(sent), ast.Call):
            model = call.func
            known = isinstance(model, ast.Name | ast.Attribute) and not any(
                same(model, one) for one in found
            )
            if known and purposes.is_model(model) and not purposes.is_without_gradients(call):
                found.append(model)
    return [one for one in found if not any(_is_part(one, other) for other in found)]


def _is_part(part: ast.expr, whole: ast.expr) -> bool:
    """Whether an expression is of something that belongs to a whole: by attribute, or because the
    whole is made of it.
    """
    base = part
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
        if same(base, whole):
            return True
    index = file_of(whole)
    for node in index.nodes:
        if isinstance(node, ast.Assign) and any(same(one, whole) for one in node.targets):
            held = (one for one in within(node.value, ast.Name))
            if any(same(one, part) for one in held) and not same(part, whole):
                return True
    return False


def _is_known_at(model: ast.expr, call: ast.Call) -> bool:
    """Whether a model of the training is bound where the optimizer is made."""
    base = model
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return False
    here = scope_of(call)
    if base.id == "self":
        return here.enclosing_class() is scope_of(model).enclosing_class()
    bound = here.find(base.id)
    own = scope_of(model).find(base.id)
    before = any(getattr(one.node, "lineno", 0) < call.lineno for one in bound)
    return bool(bound) and before and {id(one) for one in bound} == {id(one) for one in own}


def join_graph(evidence: Evidence, place: Place | None) -> Fixes:
    """What cuts training off from its gradients goes: `.detach()`, `.data`, a block or a function
    without gradients.
    """
    return offered(
        *(_without_detach(evidence, call) for call in nodes_at(evidence, place, ast.Call)),
        *(_without_block(evidence, one) for one in _blocks(evidence, place)),
        *(_without_mark(evidence, one) for one in _marked(evidence, place)),
    )


def _without_detach(evidence: Evidence, call: ast.Call) -> tuple[Cure, ...]:
    owner = owner_of(call)
    if called(call) != "detach" or owner is None:
        return ()
    return edit(
        evidence,
        f"let gradients pass through {excerpt(owner)}",
        behind,
        call,
        owner,
        "",
    )


def _blocks(evidence: Evidence, place: Place | None) -> list[ast.With]:
    found = nodes_at(evidence, place, ast.With)
    return [one for one in found if without_gradients(one) and len(one.items) == 1]


def _without_block(evidence: Evidence, block: ast.With) -> Fixes:
    return edit(
        evidence,
        "compute this with gradients",
        dedented,
        block,
    )


def _marked(evidence: Evidence, place: Place | None) -> list[tuple[ast.FunctionDef, ast.expr]]:
    functions = [one for index in evidence.files for one in within(index.tree, ast.FunctionDef)]
    here = set(map(id, nodes_at(evidence, place, ast.expr)))
    marks = [(one, mark) for one in functions for mark in without_gradients(one)]
    return [(one, mark) for one, mark in marks if id(mark) in here]


def _without_mark(evidence: Evidence, marked: tuple[ast.FunctionDef, ast.expr]) -> Fixes:
    function, mark = marked

    def write(editor: SourceEditor) -> None:
        index = scope_of(mark).index
        spot = spot_of(mark)
        start = index.lines.line_start(spot.start)
        if index.text[start : spot.start].strip() != "@":
            raise NotChangeable("The decorator shares its line with other code.")
        editor.replace(
            type(spot)(start, index.lines.line_end(spot.end, behind=True), spot.file),
            "",
        )

    return edit(evidence, f"compute {function.name} with gradients", write)


PREFIXES = ("module.", "model.", "_orig_mod.", "net.", "backbone.", "encoder.")
"""What wrappers and trainers put before the names of weights."""


def load_matching_names(evidence: Evidence, place: Place | None) -> Fixes:
    """The names of a checkpoint lose what a wrapper put before them."""
    for call in nodes_at(evidence, place, ast.Call):
        state = argument(call, 0, "state_dict")
        if called(call) == "load_state_dict" and state is not None:
            return offered(*(_without_prefix(evidence, state, prefix) for prefix in PREFIXES))
    return ()


def _without_prefix(evidence: Evidence, state: ast.expr, prefix: str) -> Fixes:
    def write(editor: SourceEditor) -> None:
        text = operand(editor.text(state), state)
        renamed = f'{{name.removeprefix("{prefix}"): value for name, value in {text}.items()}}'
        editor.replace(spot_of(state), renamed)

    if isinstance(state, ast.DictComp):
        return refused("The names of the checkpoint are rewritten here already.")
    return edit(evidence, f'load the weights without "{prefix}" before their names', write)


def freeze_by_name(evidence: Evidence, place: Place | None) -> Fixes:
    """`if "a" or "b" in name` asks for both texts in the name."""
    for node in nodes_at(evidence, place, ast.BoolOp):
        last = node.values[-1]
        if not isinstance(last, ast.Compare) or not isinstance(last.ops[0], ast.In):
            continue
        texts = [
            one
            for one in node.values[:-1]
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        asked = last.comparators[0]

        def write(
            editor: SourceEditor,
            texts: list[ast.Constant] = texts,
            asked: ast.expr = asked,
        ) -> None:
            for one in texts:
                editor.wrap(one, "", f" in {editor.text(asked)}")

        return edit(evidence, "look for each of the texts in the name", write)
    return ()
