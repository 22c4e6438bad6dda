"""Habits of a PyTorch loop: gradients set to zero, train and evaluation mode, clipping, a schedule,
held-out data.

What is missing is only reported when it is missing from the whole program: another function, a keyword such
as `set_to_none`, a trainer or a library may do it.
"""

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.read.data import no_grad, speaks_of_evaluation
from reenact.program.read.ends import spot_of
from reenact.program.read.index import dotted_text, statement_of
from reenact.program.read.loops import Loops
from reenact.program.read.model import Models
from reenact.program.read.scope import Scope, receiver
from reenact.program.read.vocabulary import Family, last_name

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
    backward = loops.backwards[0]
    if Kind.GRADIENT_CLIP not in kinds and optimizer_steps(analysis):
        site = EditSite(Style.LOOP, "torch", backward, node=backward)
        yield analysis.absent(Kind.GRADIENT_CLIP, site, backward)
    sites = [draft.site for draft in drafts if draft.kind is Kind.OPTIMIZER and draft.site.library == "torch"]
    epochs = [draft.site for draft in drafts if draft.kind is Kind.EPOCHS and draft.site.node is not None]
    if Kind.SCHEDULER not in kinds and len(sites) == 1 and epochs and sites[0].call is not None:
        site = EditSite(Style.LOOP, "torch", sites[0].call, node=epochs[0].node)
        yield analysis.absent(Kind.SCHEDULER, site, sites[0].call)
    if Kind.VALIDATION not in kinds and not _evaluates(analysis):
        reason = "which data to hold out is for the program to say"
        site = EditSite(Style.FIXED, "torch", backward, reason=reason)
        yield analysis.absent(Kind.VALIDATION, site, statement_of(backward))


def _own_loop(analysis: ProgramAnalysis, loops: Loops) -> bool:
    """A loop of one's own makes gradients, and no trainer of a library stands behind it."""
    called = [analysis.sources.dotted(call.func) for call in analysis.calls()]
    trainers = [last_name(dotted) for dotted in called if dotted.startswith(SILENT_TRAINERS)]
    ends = ("Trainer", "Accelerator", "initialize", "Fabric")
    return bool(loops.backwards) and not any(name.endswith(ends) for name in trainers)


def optimizer_steps(analysis: ProgramAnalysis) -> list[ast.Call]:
    """`optimizer.step()`, not a scheduler's."""
    found = []
    for call in analysis.calls("step"):
        base = receiver(call)
        made = analysis.callees.made(base) if base is not None else []
        scheduler = any("lr_scheduler" in item.callee.dotted for item in made)
        if base is not None and not scheduler and "sched" not in dotted_text(base).lower():
            found.append(call)
    return found


def _zero_grad(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    for call in analysis.calls("zero_grad"):
        if loops.in_loop(call):
            reason = "gradients must be set to zero"
            site = EditSite(Style.FIXED, "torch", call, node=call, reason=reason)
            yield analysis.spot_draft(Kind.ZERO_GRAD, site, True, spot_of(call))
            return
    if _cleared_otherwise(analysis) or not _own_loop(analysis, loops):
        return
    looped = [call for call in loops.backwards if loops.in_loop(call)]
    if looped and optimizer_steps(analysis):
        call = looped[0]
        site = EditSite(Style.LOOP, "torch", call, node=call)
        yield analysis.absent(Kind.ZERO_GRAD, site, statement_of(call))


def _cleared_otherwise(analysis: ProgramAnalysis) -> bool:
    """`p.grad = None`, `p.grad.zero_()`, or gradients taken by `torch.autograd.grad`."""
    bases = [receiver(call) for call in analysis.calls("zero_", "fill_")]
    return any("grad" in index.stores for index in analysis.sources.indexes.values()) or any(
        base is not None and dotted_text(base).endswith("grad") for base in bases
    )


def _modes(analysis: ProgramAnalysis, models: Models, loops: Loops) -> Iterator[Draft]:
    evals, trains = _mode_calls(analysis, "eval"), _mode_calls(analysis, "train")
    for name, calls in (("eval", evals), ("train", trains)):
        for call in calls[:1]:
            reason = "the mode is set where it should be"
            site = EditSite(Style.FIXED, "torch", call, node=call, reason=reason)
            yield analysis.spot_draft(Kind.MODE, site, name, spot_of(call), layer=name)
    modal = [
        layer
        for layer in models.layers
        if layer.library == "torch" and (layer.spec.family in MODAL or "BatchNorm" in layer.name)
    ]
    if not modal or not _own_loop(analysis, loops):
        return
    if not evals and not any(call.args for call in trains):
        yield from _no_eval(analysis)
    looped = [call for call in evals if loops.in_loop(call)]
    if looped and not trains and loops.loops:
        # `eval()` inside the epoch loop and nothing that switches back.
        outer = min(loops.loops, key=lambda loop: loop.level)
        site = EditSite(Style.LOOP, "torch", node=outer.node)
        yield analysis.absent(Kind.MODE, site, outer.node, layer="train")


def _mode_calls(analysis: ProgramAnalysis, name: str) -> list[ast.Call]:
    """`model.eval()` or `model.train()`, not `trainer.train()` of a library or `parser.eval(x)`."""
    calls = analysis.calls(name)
    return [call for call in calls if (not call.args or name == "train") and not call.keywords]


def _no_eval(analysis: ProgramAnalysis) -> Iterator[Draft]:
    """Evaluation without `model.eval()`: reported at the `no_grad` block or the evaluating function."""
    for index in analysis.sources.indexes.values():
        silent = [
            node
            for node in index.withs
            for item in node.items
            if isinstance(item.context_expr, ast.Call) and no_grad(analysis, item.context_expr)
        ]
        evaluating: list[ast.stmt] = [
            function.node.body[0]
            for function in index.functions
            if isinstance(function.node, ast.FunctionDef) and _evaluating(analysis, function)
        ]
        for node in [*silent, *evaluating][:1]:
            site = EditSite(Style.LOOP, "torch", node=node)
            yield analysis.absent(Kind.MODE, site, node, layer="eval")
            return


def _evaluating(analysis: ProgramAnalysis, function: Scope) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    marked = any(no_grad(analysis, mark) for mark in decorators)
    return marked or (speaks_of_evaluation(function.name) and "model" in function.bindings)


def _evaluates(analysis: ProgramAnalysis) -> bool:
    functions = [one.name for index in analysis.sources.indexes.values() for one in index.functions]
    return bool(_mode_calls(analysis, "eval")) or (
        any(no_grad(analysis, call.func) for call in analysis.calls())
        or any(map(speaks_of_evaluation, functions))
    )
