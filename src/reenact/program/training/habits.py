"""The habits of a PyTorch loop: gradients set to zero, modes, clipping, held-out data.

What is missing is only reported when it is missing from the whole program: another function, a
keyword such as `set_to_none`, a trainer or a library may do it.
"""

import ast
from collections.abc import Iterator

from reenact.program.flow.ends import spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import receiver
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import dotted_text, statement_of
from reenact.program.syntax.scope import scope_of
from reenact.program.training.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.training.loops import Loops
from reenact.program.training.model import Models
from reenact.program.training.purpose import Purposes
from reenact.program.training.vocabulary import Family

MODAL = frozenset((Family.DROPOUT, Family.COMPOSITE))
SILENT_TRAINERS = (
    "lightning.",
    "transformers.",
    "accelerate.",
    "deepspeed.",
    "ignite.",
    "fastai.",
)


def read_habits(
    models: Models,
    purposes: Purposes,
    drafts: list[Draft],
) -> Iterator[Draft]:
    """Drafts of zero_grad and modes, and of what a loop of one's own leaves out."""
    loops = purposes.loops
    analysis = loops.analysis
    yield from _zero_grad(analysis, loops)
    yield from _modes(models, purposes)
    if not _own_loop(analysis, loops):
        return
    kinds = {draft.kind for draft in drafts if not draft.param.absent}
    backward = loops.backwards[0]
    if Kind.GRADIENT_CLIP not in kinds and optimizer_steps(analysis):
        site = EditSite(Style.LOOP, "torch", backward, node=backward)
        yield analysis.absent(Kind.GRADIENT_CLIP, site, backward)
    made = [d.site.call for d in drafts if d.kind is Kind.OPTIMIZER and d.site.library == "torch"]
    epochs = [d.site.node for d in drafts if d.kind is Kind.EPOCHS and d.site.node is not None]
    if Kind.SCHEDULER not in kinds and len(made) == 1 and epochs and made[0] is not None:
        site = EditSite(
            Style.LOOP,
            "torch",
            made[0],
            node=epochs[0],
        )
        yield analysis.absent(Kind.SCHEDULER, site, made[0])
    if Kind.VALIDATION not in kinds and not _evaluates(purposes):
        reason = "which data to hold out is for the program to say"
        site = EditSite(Style.FIXED, "torch", backward, reason=reason)
        yield analysis.absent(Kind.VALIDATION, site, statement_of(backward))


def _own_loop(analysis: ProgramAnalysis, loops: Loops) -> bool:
    """A loop of one's own makes gradients, and no trainer of a library is after it."""
    called = [analysis.sources.dotted(call.func) for call in analysis.calls()]
    trainers = [last_name(dotted) for dotted in called if dotted.startswith(SILENT_TRAINERS)]
    ends = ("Trainer", "Accelerator", "initialize", "Fabric")
    return bool(loops.backwards) and not any(name.endswith(ends) for name in trainers)


def optimizer_steps(analysis: ProgramAnalysis) -> list[ast.Call]:
    """`optimizer.step()`, not a scheduler's: of those whose gradients are cleared, where any are."""
    steps = [(call, receiver(call) or call) for call in analysis.calls("step")]
    made = [
        (
            call,
            [item.callee.dotted for item in analysis.callees.made(base)],
        )
        for call, base in steps
    ]
    plain = [call for call, makers in made if not any("lr_scheduler" in one for one in makers)]
    cleared = [receiver(call) for call in analysis.calls("zero_grad")]
    own = [
        call
        for call in plain
        if any(same(one, base) for base in cleared for one in (receiver(call), *call.args[:1]))
    ]
    return own or plain


def stepped(analysis: ProgramAnalysis, step: ast.Call) -> ast.expr | None:
    """The optimizer that a call of `step` moves: its receiver, or what a scaler of gradients is
    given, as in `scaler.step(optimizer)`.
    """
    base = receiver(step)
    given = step.args[0] if step.args else None
    if given is None or base is None:
        return base

    def made(node: ast.expr) -> list[str]:
        return [item.callee.dotted for item in analysis.callees.made(node)]

    is_scaler = any(one.rpartition(".")[2] == "GradScaler" for one in made(base))
    is_optimizer = any(one.startswith("torch.optim.") for one in made(given))
    return given if is_scaler or is_optimizer else base


def _zero_grad(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    for call in filter(loops.in_loop, analysis.calls("zero_grad")):
        site = EditSite(
            Style.FIXED,
            "torch",
            call,
            node=call,
            reason="gradients must be set to zero",
        )
        yield analysis.spot_draft(
            Kind.ZERO_GRAD,
            site,
            True,
            spot_of(call),
        )
        return
    looped = list(filter(loops.in_loop, loops.backwards))
    # `p.grad = None`, `p.grad.zero_()`, or gradients taken by `torch.autograd.grad`.
    bases = [dotted_text(receiver(call)) for call in analysis.calls("zero_", "fill_")]
    stored = any("grad" in index.stores for index in analysis.sources.indexes.values())
    cleared = stored or any(base.endswith("grad") for base in bases)
    missing = not cleared and _own_loop(analysis, loops)
    if missing and looped and optimizer_steps(analysis):
        site = EditSite(
            Style.LOOP,
            "torch",
            looped[0],
            node=looped[0],
        )
        yield analysis.absent(
            Kind.ZERO_GRAD,
            site,
            statement_of(looped[0]),
        )


def _modes(models: Models, purposes: Purposes) -> Iterator[Draft]:
    loops = purposes.loops
    analysis = loops.analysis
    evals = _mode_calls(analysis, "eval")
    trains = _mode_calls(analysis, "train")
    for name, calls in (("eval", evals), ("train", trains)):
        for call in calls[:1]:
            reason = "the mode is set where it should be"
            site = EditSite(
                Style.FIXED,
                "torch",
                call,
                node=call,
                reason=reason,
            )
            yield analysis.spot_draft(
                Kind.MODE,
                site,
                name,
                spot_of(call),
                layer=name,
            )
    torch = [layer for layer in models.layers if layer.library == "torch"]
    modal = any(layer.spec.family in MODAL or "BatchNorm" in layer.name for layer in torch)
    if not modal or not _own_loop(analysis, loops):
        return
    if not evals and not any(call.args for call in trains):
        yield from _no_eval(purposes)
    if loops.levels and not trains and any(loops.in_loop(call) for call in evals):
        # `eval()` inside the epoch loop and nothing that switches back.
        outer = min(loops.levels, key=lambda loop: loops.levels[loop])
        yield analysis.absent(
            Kind.MODE, EditSite(Style.LOOP, "torch", node=outer), outer, layer="train"
        )


def _mode_calls(analysis: ProgramAnalysis, name: str) -> list[ast.Call]:
    """`model.eval()` or `model.train()`, not `trainer.train()` of a library or `parser.eval(x)`."""
    return [
        call
        for call in analysis.calls(name)
        if (not call.args or name == "train") and not call.keywords
    ]


def _no_eval(purposes: Purposes) -> Iterator[Draft]:
    """Evaluation without `model.eval()`: reported at the `no_grad` block, the function that is
    marked so, or the loop that asks the model.
    """
    analysis = purposes.analysis
    for index in analysis.sources.indexes.values():
        held = [(node, item.context_expr) for node in index.withs for item in node.items]
        found: list[ast.stmt] = [node for node, mark in held if _is_called(mark, purposes)]
        for node in [function.node for function in index.functions]:
            marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            if isinstance(node, ast.FunctionDef) and any(map(purposes.is_no_grad, marks)):
                found.append(node.body[0])
        loops = [loop for loop in purposes.evaluating_loops if scope_of(loop).index is index]
        found += map(statement_of, loops)
        if found:
            site = EditSite(Style.LOOP, "torch", node=found[0])
            yield analysis.absent(
                Kind.MODE,
                site,
                found[0],
                layer="eval",
            )
            return


def _is_called(mark: ast.expr, purposes: Purposes) -> bool:
    return isinstance(mark, ast.Call) and purposes.is_no_grad(mark)


def _evaluates(purposes: Purposes) -> bool:
    analysis = purposes.analysis
    silent = any(purposes.is_no_grad(call) for call in analysis.calls())
    return silent or bool(_mode_calls(analysis, "eval")) or purposes.any_evaluates
