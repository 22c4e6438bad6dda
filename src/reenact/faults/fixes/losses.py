"""Losses: probabilities where scores belong, reductions that differ, temperatures, shares of hits."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Kind, Place, suggest
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    fresh_name,
    nodes_at,
    offered,
    operand,
    refused,
    replace,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.constants import constant_of
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import objects_of, value_of
from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    function_of,
    is_call,
    is_constant,
    is_sum,
    last_word,
    loops_of,
    owner_of,
    subject_of,
    within,
)
from reenact.program.syntax.scope import scope_of
from reenact.program.training.roles import is_loss_call

SHARES = ("softmax", "sigmoid")
CLASSES = ("CrossEntropyLoss", "BCEWithLogitsLoss")
FUNCTIONS = ("cross_entropy", "binary_cross_entropy_with_logits")
MEANS = ("mse_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "l1_loss")


def scores_for_loss(evidence: Evidence) -> Fixes:
    """A loss that applies the softmax itself is given the scores: what makes shares of them goes."""
    found: list[Fixes] = []
    for index in evidence.files:
        for call in index.calls:
            given = call.args[0] if call.args and _takes_scores(call) else None
            if given is not None:
                found.append(_without_shares(evidence, given))
    param = evidence.hyperparameter(Kind.ACTIVATION, evidence.output)
    turned = tuple(suggest(param, ("linear",))) if param is not None else ()
    return offered(*found, turned, refused("Where the scores become probabilities is not seen."))


def _takes_scores(call: ast.Call) -> bool:
    if not is_loss_call(call):
        return False
    return called(call) in FUNCTIONS or bool(objects_of(call.func, *CLASSES))


def _without_shares(evidence: Evidence, given: ast.expr) -> Fixes:
    for made in (given, value_of(given)):
        scores = _scores_behind(made)
        if scores is not None:
            return edit(
                evidence,
                f"give the loss the scores {excerpt(scores)}",
                _put,
                made,
                scores,
                "",
            )
    return ()


def _scores_behind(made: ast.expr) -> ast.expr | None:
    """`x` of `softmax(x)`, and of `x.exp() / x.exp().sum()`."""
    if is_call(made, *SHARES):
        return subject_of(made) if not isinstance(owner_of(made), ast.Name) else _subject(made)
    if is_sum(made, ast.Div) and is_call(made.left, "exp") and calls_in(made.right, "exp", "sum"):
        return _subject(made.left)
    return None


def _subject(call: ast.Call) -> ast.expr | None:
    """What a function of a module, or a method, is applied to."""
    if call.args and constant_of(call.args[0]) is None:
        return call.args[0]
    return owner_of(call)


def _put(editor: SourceEditor, made: ast.expr, scores: ast.expr, method: str) -> None:
    text = editor.text(scores)
    editor.replace(spot_of(made), f"{operand(text, scores)}{method}" if method else text)


def logarithms_for_loss(evidence: Evidence) -> Fixes:
    """A divergence is given the logarithms of probabilities."""
    found: list[Fixes] = []
    for index in evidence.files:
        for call in index.calls:
            takes = called(call) in ("kl_div", "nll_loss") or objects_of(
                call.func, "KLDivLoss", "NLLLoss"
            )
            for made in (call.args[0], value_of(call.args[0])) if takes and call.args else ():
                scores = _scores_behind(made)
                if scores is not None:
                    found.append(
                        edit(
                            evidence,
                            "give the loss logarithms of the probabilities",
                            _put,
                            made,
                            scores,
                            ".log_softmax(-1)",
                        )
                    )
                    break
    return offered(*found, refused("Where the probabilities are computed is not seen."))


def reduce_alike(evidence: Evidence, place: Place | None) -> Fixes:
    """The reconstruction is summed as the divergence is, so that both are of the whole batch."""
    found: list[Fixes] = []
    functions = {function_of(one) for one in nodes_at(evidence, place, ast.expr)}
    for index in evidence.files:
        for call in index.calls:
            near = not functions or function_of(call) in functions
            if called(call) in MEANS and near and keyword(call, "size_average") is None:
                found.append(_summed(evidence, call))
            elif called(call) == "mean" and near and not call.args and not call.keywords:
                found.append(_sum_for_mean(evidence, call))
    return offered(*found, refused("Which term of the loss is the reconstruction is not seen."))


def _summed(evidence: Evidence, call: ast.Call) -> Fixes:
    given = keyword(call, "reduction")
    if given is not None and not is_constant(constant_of(given), "mean"):
        return ()
    return edit(
        evidence,
        f"sum {called(call)} over the batch, as the divergence is",
        SourceEditor.set_argument,
        call,
        "reduction",
        '"sum"',
    )


def _sum_for_mean(evidence: Evidence, call: ast.Call) -> Fixes:
    owner = owner_of(call)
    squares = owner is not None and (
        calls_in(owner, "pow", "square", "abs")
        or any(is_sum(one, ast.Pow) for one in within(owner, ast.BinOp))
    )
    if not squares:
        return ()
    return edit(
        evidence, "sum the error over the batch, as the divergence is", _renamed, call, "sum"
    )


def _renamed(editor: SourceEditor, call: ast.Call, name: str) -> None:
    if not isinstance(call.func, ast.Attribute):
        raise NotChangeable("What is called has no name that could be exchanged.")
    spot = spot_of(call.func)
    editor.replace(type(spot)(spot.end - len(call.func.attr), spot.end, spot.file), name)


def divide_by_temperature(evidence: Evidence, place: Place | None) -> Fixes:
    """Scores are divided by their temperature."""
    for node in nodes_at(evidence, place, ast.BinOp):
        if is_sum(node, ast.Mult):
            first = isinstance(node.left, ast.Name | ast.Attribute) and not _is_scores(node.left)
            scores, temperature = (node.right, node.left) if first else (node.left, node.right)
            return edit(
                evidence,
                f"divide the scores by {excerpt(temperature)}",
                _divided,
                node,
                scores,
                temperature,
            )
    return ()


def _is_scores(node: ast.expr) -> bool:
    """Whether it is a product of rows with rows, or made by a call."""
    return isinstance(value_of(node), ast.BinOp | ast.Call)


def _divided(
    editor: SourceEditor, node: ast.BinOp, scores: ast.expr, temperature: ast.expr
) -> None:
    start, end = spot_of(node.left).end, spot_of(node.right).start
    between = scope_of(node).index.text[start:end]
    if scores is node.left and between.count("*") == 1:
        spot = spot_of(node)
        editor.replace(type(spot)(start, end, spot.file), between.replace("*", "/"))
        return
    first, second = code_of(scores), code_of(temperature)
    left = f"({first})" if isinstance(scores, ast.BinOp) else first
    right = operand(second, temperature)
    editor.replace(spot_of(node), f"{left} / {right}")


def share_of_rows(evidence: Evidence, place: Place | None) -> Fixes:
    """Hits are divided by the rows, and shares of batches by the batches."""
    found: list[Fixes] = []
    for statement in nodes_at(evidence, place, ast.AugAssign):
        target = statement.target
        for node in within(function_of(statement), ast.BinOp):
            counted = _counted(node, target)
            if counted is not None:
                found.append(_other_count(evidence, counted))
    for kept in nodes_at(evidence, place, ast.Assign):
        found.append(_over_batches(evidence, kept))
    return offered(*found, refused("Over which rows the number is to be taken is not seen here."))


def _over_batches(evidence: Evidence, kept: ast.Assign) -> Fixes:
    """The share of the last batch becomes that of the rows of all batches."""
    loops = [one for one in loops_of(kept) if isinstance(one, ast.For)]
    loop = max(loops, key=lambda one: one.lineno, default=None)
    labels = _compared_with(kept.value)
    target = kept.targets[0]
    if loop is None or labels is None or not isinstance(target, ast.Name):
        return ()
    if not calls_in(kept.value, "mean") or kept not in loop.body:
        return ()
    return edit(
        evidence, "take the share over the rows of all batches", _sum_up, kept, loop, labels
    )


def _compared_with(value: ast.expr) -> ast.Name | None:
    """The labels of `answers == labels`."""
    compared = within(value, ast.Compare)
    sides = [one.comparators[0] for one in compared if isinstance(one.ops[0], ast.Eq)]
    return next((one for one in sides if isinstance(one, ast.Name)), None)


def _sum_up(editor: SourceEditor, kept: ast.Assign, loop: ast.For, labels: ast.Name) -> None:
    total, rows = fresh_name(kept, "total"), fresh_name(kept, "rows_seen")
    editor.before(loop, f"{total}, {rows} = 0.0, 0")
    target, value = editor.text(kept.targets[0]), editor.text(kept.value)
    share = operand(value, kept.value)
    editor.replace(spot_of(kept), f"{total} += {share} * len({labels.id})")
    editor.after(kept, f"{rows} += len({labels.id})")
    editor.after(loop, f"{target} = {total} / {rows}")


def _counted(node: ast.BinOp, target: ast.expr) -> ast.expr | None:
    """`rows` of `hits / len(rows)`."""
    if not is_sum(node, ast.Div) or not same(node.left, target):
        return None
    divisor = node.right
    return argument(divisor, 0) if is_call(divisor, "len") else None


def _other_count(evidence: Evidence, counted: ast.expr) -> Fixes:
    if last_word(counted) == "dataset" and isinstance(counted, ast.Attribute):
        return edit(
            evidence,
            "divide by the number of batches",
            replace,
            counted,
            code_of(counted.value),
        )
    return edit(
        evidence,
        "divide by the number of rows",
        replace,
        counted,
        f"{code_of(counted)}.dataset",
    )
