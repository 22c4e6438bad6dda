"""Habits of a PyTorch loop: gradients set to zero, train and evaluation mode, clipping, a schedule,
held-out data.

What is missing is only reported when it is missing from the whole program: another function, a keyword such
as `set_to_none`, a trainer or a library may do it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.read.data import WITHOUT_GRADIENTS, no_grad, speaks_of_evaluation
from reenact.program.read.index import FileIndex, dotted_text
from reenact.program.read.loops import Loops
from reenact.program.read.model import Models
from reenact.program.read.scope import Scope, method_name, receiver
from reenact.program.read.vocabulary import Family, last_name

Call = tuple[ast.Call, Scope, FileIndex]
MODAL = frozenset((Family.DROPOUT, Family.COMPOSITE))
SILENT_TRAINERS = ("lightning.", "transformers.", "accelerate.", "deepspeed.", "ignite.", "fastai.")


def read_habits(
    analysis: ProgramAnalysis, models: Models, loops: Loops, drafts: list[Draft]
) -> Iterator[Draft]:
    """Drafts of zero_grad and modes, and of what a loop of one's own leaves out."""
    yield from _zero_grad(analysis, loops)
    yield from _modes(analysis, models, loops)
    if not _own_loop(analysis, loops):
        return
    kinds = {draft.kind for draft in drafts if not draft.param.absent}
    backward, scope, index = loops.backwards[0]
    steps = optimizer_steps(analysis)
    if Kind.GRADIENT_CLIP not in kinds and steps:
        yield analysis.absent(
            Kind.GRADIENT_CLIP, EditSite(Style.LOOP, "torch", scope, backward, node=backward), backward
        )
    optimizers = [draft for draft in drafts if draft.kind is Kind.OPTIMIZER and draft.site.library == "torch"]
    epochs = [draft for draft in drafts if draft.kind is Kind.EPOCHS and draft.site.node is not None]
    if (
        Kind.SCHEDULER not in kinds
        and len(optimizers) == 1
        and epochs
        and optimizers[0].site.call is not None
    ):
        call, where = optimizers[0].site.call, optimizers[0].site.scope
        yield analysis.absent(
            Kind.SCHEDULER, EditSite(Style.LOOP, "torch", where, call, node=epochs[0].site.node), call
        )
    if Kind.VALIDATION not in kinds and not _evaluates(analysis):
        reason = "which data to hold out is for the program to say"
        site = EditSite(Style.FIXED, "torch", scope, backward, reason=reason)
        yield analysis.absent(Kind.VALIDATION, site, index.statement(backward))


def _own_loop(analysis: ProgramAnalysis, loops: Loops) -> bool:
    """A loop of one's own makes gradients, and no trainer of a library stands behind it."""
    return bool(loops.backwards) and not trained_by_library(analysis)


def trained_by_library(analysis: ProgramAnalysis) -> bool:
    for call, scope, _ in analysis.calls():
        dotted = analysis.sources.dotted(call.func, scope)
        if dotted.startswith(SILENT_TRAINERS) and last_name(dotted).endswith(
            ("Trainer", "Accelerator", "initialize", "Fabric")
        ):
            return True
    return False


def optimizer_steps(analysis: ProgramAnalysis) -> list[Call]:
    """`optimizer.step()`, not a scheduler's."""
    found = []
    for call, scope, index in analysis.calls():
        base = receiver(call)
        if method_name(call) != "step" or base is None:
            continue
        made = [item.callee.dotted for item in analysis.callees.made(base, scope)]
        if any("lr_scheduler" in dotted for dotted in made) or "sched" in dotted_text(base).lower():
            continue
        found.append((call, scope, index))
    return found


def _zero_grad(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    zeros = [item for item in analysis.calls() if method_name(item[0]) == "zero_grad"]
    inside = [item for item in zeros if loops.in_loop(item[0], item[2])]
    if inside:
        call, scope, _ = inside[0]
        site = EditSite(Style.FIXED, "torch", scope, call, node=call, reason="gradients must be set to zero")
        yield analysis.spot_draft(Kind.ZERO_GRAD, site, True, analysis.spot(call, scope))
        return
    if _cleared_otherwise(analysis) or not _own_loop(analysis, loops):
        return
    looped = [item for item in loops.backwards if loops.in_loop(item[0], item[2])]
    if looped and optimizer_steps(analysis):
        call, scope, index = looped[0]
        yield analysis.absent(
            Kind.ZERO_GRAD, EditSite(Style.LOOP, "torch", scope, call, node=call), index.statement(call)
        )


def _cleared_otherwise(analysis: ProgramAnalysis) -> bool:
    """`p.grad = None`, `p.grad.zero_()`, or gradients taken by `torch.autograd.grad`."""
    for index in analysis.sources.indexes.values():
        if "grad" in index.stores:
            return True
        for call in index.calls:
            base = receiver(call) if method_name(call) in ("zero_", "fill_") else None
            if base is not None and dotted_text(base).endswith("grad"):
                return True
    return False


def _modes(analysis: ProgramAnalysis, models: Models, loops: Loops) -> Iterator[Draft]:
    evals = [item for item in analysis.calls() if _is_mode(item[0], "eval")]
    trains = [item for item in analysis.calls() if _is_mode(item[0], "train")]
    for name, calls in (("eval", evals), ("train", trains)):
        for call, scope, _ in calls[:1]:
            reason = "the mode is set where it should be"
            site = EditSite(Style.FIXED, "torch", scope, call, node=call, reason=reason)
            yield analysis.spot_draft(Kind.MODE, site, name, analysis.spot(call, scope), layer=name)
    if not _own_loop(analysis, loops) or not _depends_on_mode(models):
        return
    flagged = any(item[0].args for item in trains)
    if not evals and not flagged:
        yield from _no_eval(analysis)
    elif evals and not trains:
        yield from _no_train(analysis, loops, evals)


def _is_mode(call: ast.Call, name: str) -> bool:
    """`model.eval()` or `model.train()`, not `trainer.train()` of a library or `parser.eval(x)`."""
    return method_name(call) == name and (not call.args or name == "train") and not call.keywords


def _depends_on_mode(models: Models) -> bool:
    return any(
        layer.spec.family in MODAL or "BatchNorm" in layer.name
        for layer in models.layers
        if layer.library == "torch"
    )


def _no_eval(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Evaluation without `model.eval()`: reported at the `no_grad` block or the evaluating function."""
    for index in analysis.sources.indexes.values():
        silent = [
            (node, index.scopes[node])
            for node in index.withs
            for item in node.items
            if isinstance(item.context_expr, ast.Call)
            and no_grad(analysis, item.context_expr, index.scopes[node])
        ]
        evaluating: list[tuple[ast.stmt, Scope]] = [
            (function.node.body[0], function)
            for function in index.functions
            if isinstance(function.node, ast.FunctionDef) and _evaluating(analysis, function)
        ]
        for node, scope in [*silent, *evaluating][:1]:
            site = EditSite(Style.LOOP, "torch", scope, node=node)
            yield analysis.absent(Kind.MODE, site, node, layer="eval")
            return


def _evaluating(analysis: ProgramAnalysis, function: Scope) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    marked = any(no_grad(analysis, mark, function.parent or function) for mark in decorators)
    return marked or (speaks_of_evaluation(function.name) and "model" in function.bindings)


def _no_train(analysis: ProgramAnalysis, loops: Loops, evals: list[Call]) -> Iterator[Draft]:
    """`eval()` inside the epoch loop and nothing that switches back."""
    looped = [item for item in evals if loops.in_loop(item[0], item[2]) and loops.loops]
    if looped:
        outer = min(loops.loops, key=lambda loop: loop.level)
        site = EditSite(Style.LOOP, "torch", outer.scope, looped[0][0], node=outer.node)
        yield analysis.absent(Kind.MODE, site, outer.node, layer="train")


def _evaluates(analysis: ProgramAnalysis) -> bool:
    for call, scope, _ in analysis.calls():
        if analysis.sources.dotted(call.func, scope) in WITHOUT_GRADIENTS or _is_mode(call, "eval"):
            return True
    return any(
        speaks_of_evaluation(function.name)
        for index in analysis.sources.indexes.values()
        for function in index.functions
    )
