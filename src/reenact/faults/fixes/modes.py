"""Models in the wrong mode when they train or are judged, and statistics that are not theirs."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    insert_before,
    nodes_at,
    offered,
    reading_of,
    refused,
    replace,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.constants import constant_of
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    block_of,
    called,
    calls_in,
    file_of,
    function_of,
    is_constant,
    loops_of,
    owner_of,
    within,
)
from reenact.program.training.purpose import Purposes
from reenact.program.training.roles import without_gradients

Looping = ast.For | ast.AsyncFor | ast.While


def evaluate(evidence: Evidence, place: Place | None) -> Fixes:
    """`eval()` before what is judged, and `train()` after it where a loop trains on."""
    written = offered(_call_it(evidence, place), _not_training(evidence, place))
    if written:
        return written
    return offered(*(_around(evidence, call) for call in _judged(evidence, place)))


def _call_it(evidence: Evidence, place: Place | None) -> Fixes:
    """`model.eval` as a statement gets its brackets."""
    for line in nodes_at(evidence, place, ast.Expr):
        if isinstance(line.value, ast.Attribute) and line.value.attr in ("eval", "train"):
            value = line.value
            return edit(
                evidence,
                f"call {excerpt(value)}",
                SourceEditor.wrap,
                value,
                "",
                "()",
            )
    return ()


def _not_training(evidence: Evidence, place: Place | None) -> Fixes:
    """`training=True` in what evaluates."""
    for call in nodes_at(evidence, place, ast.Call):
        given = keyword(call, "training")
        owner = function_of(call)
        if given is None or not is_constant(constant_of(given), True):
            continue
        passed = [one.arg for one in getattr(getattr(owner, "args", None), "args", [])]
        text = "training" if "training" in passed else "False"
        return edit(evidence, f"call it with training={text}", replace, given, text)
    return ()


def _judged(evidence: Evidence, place: Place | None) -> list[ast.Call]:
    """The calls of a model at a place: those without gradients first."""
    reading = reading_of(evidence)
    if reading is None:
        return []
    purposes = Purposes(reading.loops)
    found = [one for one in nodes_at(evidence, place, ast.Call) if purposes.is_model(one.func)]
    everywhere = [
        call
        for index in evidence.files
        for call in index.calls
        if purposes.is_without_gradients(call) and purposes.is_model(call.func)
    ]
    return (found or everywhere)[:1]


def _around(evidence: Evidence, call: ast.Call) -> Fixes:
    """The model of a call is in evaluation mode for the block or loop that judges."""
    model = code_of(call.func)
    judged = _whole(call)
    before = (
        block_of(judged)[: block_of(judged).index(judged)] if judged in block_of(judged) else []
    )
    if any(_sets(one, call.func, "eval") for one in before):
        return ()
    trained = _trains_on(judged)
    is_switched = any(_switches(one, call.func) for one in loops_of(call))

    def write(editor: SourceEditor) -> None:
        editor.before(judged, f"{model}.eval()")
        if trained and not is_switched:
            editor.after(judged, f"{model}.train()")

    back = " and back to training mode after it" if trained and not is_switched else ""
    return edit(evidence, f"evaluate {model} in evaluation mode{back}", write)


def _whole(call: ast.Call) -> ast.stmt:
    """The statement to switch before: the block without gradients, else the loop over batches that
    trains nothing, else the statement of the call.
    """
    index = file_of(call)
    judged = statement_of(call)
    for one in index.ancestors(call):
        if isinstance(one, ast.FunctionDef | ast.Module | ast.ClassDef):
            break
        loop = isinstance(one, Looping) and not calls_in(one, "backward")
        block = isinstance(one, ast.With) and bool(without_gradients(one))
        if (loop or block) and isinstance(one, ast.stmt):
            judged = one
    return judged


def _trains_on(judged: ast.stmt) -> bool:
    """Whether a loop comes back to a training after this, or the function may be called in one."""
    index = file_of(judged)
    if any(calls_in(one, "backward") for one in loops_of(judged)):
        return True
    function = function_of(judged)
    if isinstance(function, ast.Module):
        return False
    calls = [one for one in index.calls if called(one) == function.name]
    return any(loops_of(one) for one in calls)


def _sets(statement: ast.stmt, model: ast.expr, mode: str) -> bool:
    return any(same(owner_of(one), model) for one in calls_in(statement, mode))


def _switches(loop: ast.AST, model: ast.expr) -> bool:
    return any(same(owner_of(one), model) for one in calls_in(loop, "train"))


def train(evidence: Evidence) -> Fixes:
    """`train()` at the beginning of every epoch, of the models that are set to evaluation mode."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    purposes = Purposes(reading.loops)
    found: list[Fixes] = []
    for sent in reading.loops.backwards:
        loops = loops_of(sent)
        outer = min(loops, key=lambda loop: loop.lineno, default=None)
        function = function_of(sent)
        models: list[ast.expr] = []
        for call in within(function, ast.Call):
            known = any(same(call.func, one) for one in models)
            if not known and purposes.is_model(call.func):
                models.append(call.func)
        switched = [one for one in models if _evaluated(evidence, one)] or models[:1]
        for model in switched:
            if outer is None or any(_sets(one, model, "train") for one in outer.body):
                continue
            found.append(_at_start(evidence, outer, model))
    return offered(*found)


def _evaluated(evidence: Evidence, model: ast.expr) -> bool:
    calls = (call for index in evidence.files for call in calls_in(index.tree, "eval"))
    return any(same(owner_of(one), model) for one in calls)


def _at_start(evidence: Evidence, loop: Looping, model: ast.expr) -> Fixes:
    text = f"{code_of(model)}.train()"
    return edit(
        evidence,
        f"set {excerpt(model)} to training mode in every epoch",
        insert_before,
        loop.body[0],
        text,
    )


def update_statistics(evidence: Evidence, place: Place | None) -> Fixes:
    """`update_bn` over the rows that train, before the averaged model is evaluated."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    for made in nodes_at(evidence, place, ast.Call):
        statement = statement_of(made)
        if not isinstance(statement, ast.Assign) or statement.value is not made:
            continue
        averaged = statement.targets[0]
        updates = [
            one
            for index in evidence.files
            for one in calls_in(index.tree, "update_parameters")
            if same(owner_of(one), averaged)
        ]
        for update in updates:
            fixes = _updated(evidence, averaged, update)
            if fixes:
                return fixes
    return ()


def _updated(evidence: Evidence, averaged: ast.expr, update: ast.Call) -> Fixes:
    loops = loops_of(update)
    outer = min(loops, key=lambda loop: loop.lineno, default=None)
    rows = _rows_of(outer, update) if outer is not None else None
    if outer is None or rows is None:
        return refused("The rows by which the statistics could be computed are not seen.")

    def write(editor: SourceEditor) -> None:
        name = editor.name_for("torch.optim.swa_utils.update_bn", update)
        judged = [
            statement_of(one)
            for one in calls_in(function_of(update), "eval")
            if same(owner_of(one), averaged) and one.lineno > update.lineno
        ]
        line = f"{name}({rows}, {editor.text(averaged)})"
        if judged and block_of(judged[0]) is block_of(outer):
            editor.before(judged[0], line)
        else:
            editor.after(outer, line)

    return edit(evidence, "compute the statistics of the averaged weights", write)


def _rows_of(outer: Looping, update: ast.Call) -> str | None:
    """The loader whose batches the model is given; else its rows, in one batch."""
    model = update.args[0] if update.args else None
    passes = [one for one in calls_in(outer) if model is not None and same(one.func, model)]
    for call in passes:
        inner = sorted(loops_of(call), key=lambda one: -one.lineno)
        for loop in inner:
            if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Name | ast.Attribute):
                return code_of(loop.iter)
    given = (one.args[0] for one in passes if one.args)
    return next((f"[{code_of(one)}]" for one in given), None)
