"""Statements of a training loop: gradients set to zero, clipping, a schedule, train and evaluation mode."""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import SourceEditor, assigned, known
from reenact.program.edit.values import python_text
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.read.analysis import EditSite
from reenact.program.read.habits import optimizer_steps
from reenact.program.read.index import dotted_text, statement_of
from reenact.program.read.loops import count_of, iterated, range_arguments
from reenact.program.read.scope import Scope, argument, method_name, receiver, scope_of
from reenact.types import JsonValue

SCHEDULES = {
    "CosineAnnealingLR": "T_max={epochs}",
    "StepLR": "step_size={third}, gamma=0.1",
    "ExponentialLR": "gamma=0.95",
}


def set_in_loop(editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue) -> None:
    """Put in the statement that is missing."""
    if param.kind is Kind.ZERO_GRAD:
        _zero_grad(editor, site, value)
    elif param.kind is Kind.GRADIENT_CLIP:
        _clip(editor, site, value)
    elif param.kind is Kind.SCHEDULER:
        _schedule(editor, site, value)
    else:
        _mode(editor, param, site)


def _zero_grad(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    if value is not True:
        raise NotChangeable(
            f"Gradients are set to zero or not: True is the only change. Received: {value!r}."
        )
    optimizer = known(receiver(_step_near(editor, site)))
    editor.before(statement_of(known(site.node)), f"{editor.text(optimizer)}.zero_grad()")


def _step_near(editor: SourceEditor, site: EditSite) -> ast.Call:
    """The first step of the optimiser in the function that makes the gradients."""
    found = [call for call in optimizer_steps(editor.analysis) if scope_of(call) is site.scope]
    if not found:
        raise NotChangeable("The optimiser steps in another function than the one that makes the gradients.")
    return found[0]


def _clip(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        raise NotChangeable(f"Gradients are clipped at a positive number. Received: {value!r}.")
    node, index = known(site.node), site.scope.index
    clip = editor.name_for("torch.nn.utils.clip_grad_norm_", node)
    line = f"{clip}({_model_name(editor, site.scope)}.parameters(), {python_text(value)})"
    step, backward = index.statement(_step_near(editor, site)), index.statement(node)
    if index.parents.get(backward) is index.parents.get(step):
        editor.before(step, line)
    else:
        editor.after(backward, line)


def _model_name(editor: SourceEditor, scope: Scope) -> str:
    """What the optimiser's parameters belong to, as this scope calls it."""
    names = [(name, scope) for name in ("model", "net", "self.model")]
    for _, site in reversed(editor.reading.of_kind(Kind.OPTIMIZER)):
        torch = site.call is not None and site.library == "torch"
        parameters = argument(known(site.call), 0, "params") if torch else None
        if isinstance(parameters, ast.Call) and method_name(parameters) == "parameters":
            names.insert(0, (dotted_text(known(receiver(parameters))), site.scope))
    for name, at in names:
        if name and _known_here(name, at, scope):
            return name
    raise NotChangeable("What the model is called where the gradients are made cannot be determined.")


def _known_here(name: str, at: Scope, scope: Scope) -> bool:
    first = name.partition(".")[0]
    if first == "self":
        return at.enclosing_class() is not None and at.enclosing_class() is scope.enclosing_class()
    holders = [binding.holder for binding in scope.find(first)[:1]]
    return any(one is at or at is scope or one.parent is None or one.is_function for one in holders)


def _schedule(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """A scheduler behind the optimiser, and its step at the end of every epoch."""
    if not isinstance(value, str) or value not in SCHEDULES:
        raise NotChangeable(f"These schedules can be put in: {', '.join(SCHEDULES)}. Received: {value!r}.")
    call, loop = known(site.call), site.node
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    statement = statement_of(call)
    target = assigned(statement, call)
    name = dotted_text(target) if target is not None else ""
    loop_scope = scope_of(loop)
    if not name or loop_scope.file != site.scope.file:
        raise NotChangeable(
            "The optimiser and the epoch loop stand too far apart for a schedule to be put in."
        )
    if loop_scope is not site.scope and "." not in name:
        raise NotChangeable("The optimiser is made in another function than the epoch loop.")
    holder = f"{name.rpartition('.')[0]}.scheduler" if "." in name else "scheduler"
    arguments = range_arguments(iterated(loop))
    number = editor.analysis.values.compute(count_of(arguments)) if arguments else None
    epochs = number if isinstance(number, int) else 10
    given = SCHEDULES[value].format(epochs=epochs, third=max(1, epochs // 3))
    made = editor.name_for(f"torch.optim.lr_scheduler.{value}", call)
    editor.after(statement, f"{holder} = {made}({name}, {given})")
    editor.after(loop.body[-1], f"{holder}.step()")


def _mode(editor: SourceEditor, param: Hyperparameter, site: EditSite) -> None:
    """`model.eval()` before the evaluation and `model.train()` again behind it, or `model.train()` in every
    epoch."""
    name, node = _model_name(editor, site.scope), site.node
    assert isinstance(node, ast.stmt)
    if param.id.layer == "train":
        assert isinstance(node, ast.For | ast.AsyncFor | ast.While)
        editor.before(node.body[0], f"{name}.train()")
        return
    editor.before(node, f"{name}.eval()")
    trains = any(method_name(call) == "train" for call in site.scope.index.calls)
    if editor.reading.loops.in_loop(node) and not trains:
        editor.after(node, f"{name}.train()")


def remove_schedule(editor: SourceEditor, site: EditSite) -> None:
    """Take out a scheduler and its steps, when nothing else uses it."""
    index, call = site.scope.index, known(site.call)
    target = assigned(index.statement(call), call)
    if not isinstance(target, ast.Name):
        raise NotChangeable("The scheduler is made in a way that cannot be taken out.")
    steps = [(node, index.statement(node)) for node in index.reads(target.id)]
    for node, step in steps:
        called = step.value if isinstance(step, ast.Expr) else None
        if not isinstance(called, ast.Call) or method_name(called) != "step" or receiver(called) is not node:
            raise NotChangeable("The scheduler is used for more than its steps.")
    for statement in (*(step for _, step in steps), index.statement(call)):
        editor.remove_statement(statement)
