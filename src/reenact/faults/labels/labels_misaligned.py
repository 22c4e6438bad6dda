"""LA02 labels-misaligned

What
    Inputs and labels are brought into order apart from each other: two separate draws, a sort or a shuffle
    of one of them alone, two splits with other seeds, a target that is drawn a second time, an image that
    is flipped and its mask not. Seen in the text; or in the run, where a model that learns one batch does
    no better than a constant on all of them, and nothing in a few hundred rows of inputs tells anything
    about their labels.
Why
    No row keeps its own label.
Symptom
    Training improves only by memorising; validation stays at the share of the largest class.
Example
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = np.random.randn(100, 4), np.arange(100) % 3
    rng.shuffle(x)
    rng.shuffle(y)
    x_train, y_train = x[:80], y[:80]
Instead
    - rng.shuffle(x)
    - rng.shuffle(y)
    + order = rng.permutation(len(x))
    + x, y = x[order], y[order]
      x_train, y_train = x[:80], y[:80]
Fix safety
    There is nothing to change automatically: one order has to serve both.
Sources
    Documentation of numpy.random.Generator.shuffle.
"""

import ast
from collections.abc import Iterator, Sequence

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.data.inputs_not_scaled import far_from_unit_size
from reenact.faults.facts.flow import assigned, elements
from reenact.faults.facts.lines import (
    calls,
    first_place,
    function_of,
    indexes,
    loops_of,
    place_in,
    value_of,
)
from reenact.faults.facts.moved_alone import moved_alone
from reenact.faults.facts.parts import (
    Found,
    called,
    is_call,
    last_word,
    names,
    options,
    owner_of,
    within,
)
from reenact.faults.facts.roles import is_loss_call
from reenact.faults.facts.signs import is_minus
from reenact.faults.facts.together import SEEDS, pairs_of_rows
from reenact.faults.optimisation.learning_rate_outside_usable_range import (
    can_learn,
    usable_range,
)
from reenact.faults.optimisation.nothing_learned import no_gain_over_a_constant
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex

SHUFFLES = ("shuffle", "permutation", "randperm", "permute_rows")
DRAWS = ("randn", "randn_like", "rand", "rand_like", "normal")
TELLS = 0.03
"""Share of the spread of the labels that inputs explain where they say something about them."""
FEW_ROWS = 160
SORTS = ("sorted", "sort", "argsort", "sort_values")
ORDERS = (*SORTS, "shuffle", "permutation", "randperm", "sample", "flip", "roll")
"""What brings rows into another order, the most likely to leave labels behind first."""
TURNS = (
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "hflip",
    "vflip",
    "rotate",
    "affine",
    "roll",
)
MOVES = ("randperm", "permutation", "roll", "flip", "randint", "argsort")
"""What makes numbers of rows that are not those of the diagonal; soft targets may lie anywhere."""
FAULT = Fault(
    code="LA02",
    name="labels-misaligned",
    category=Category.LABELS,
    page=__doc__,
)


@FAULT.detector(
    "RE053",
    "labels-misaligned",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="No row keeps its own label.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def labels_misaligned(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs and labels are brought into order apart from each other: two separate draws, a sort or
    a shuffle of one of them alone, two splits with other seeds, a target that is drawn a second
    time, an image that is flipped and its mask not. Seen in the text; or in the run, where a model
    that learns one batch does no better than a constant on all of them, and nothing in a few
    hundred rows of inputs tells anything about their labels.

    Documentation of numpy.random.Generator.shuffle.
    """
    files = list(indexes(evidence))
    written = [one for index in files for one in _written(index)]
    written = written or [one for index in files for one in moved_alone(index)]
    for place, saw in written or _tell_nothing(evidence):
        yield detector.finding(evidence, saw, place=place)


def _tell_nothing(evidence: Evidence) -> Iterator[tuple[Place | None, str]]:
    """What was seen of a training that cannot have found anything; nothing where it did, or
    might have.
    """
    trace = evidence.trace
    known = trace.happened("labels-explained") if trace is not None and trace.step_count else ()
    facts = known[-1].facts if known else {}
    rows, share = (facts.get(name) for name in ("rows", "explained"))
    if (
        not isinstance(rows, int)
        or not isinstance(share, float)
        or rows < FEW_ROWS
        or share > TELLS
    ):
        return
    if far_from_unit_size(evidence):
        # Large numbers hide what there is in the inputs: they are the first thing to put right.
        return
    tested = evidence.experiments.learning_rates
    rate = evidence.learning_rate or 0.0
    bounds = usable_range(tested.rates, tested.losses) if tested is not None else None
    usable = bounds is None or bounds[0] / 10 <= rate <= 3 * bounds[1]
    symptom = no_gain_over_a_constant(evidence) if can_learn(evidence) and usable else ""
    if symptom:
        own = {one.name for index in indexes(evidence) for one in index.functions}
        moves = [one for name in ORDERS if name not in own for one in calls(evidence, name)]
        # The line that brings rows into another order, else the one that compares.
        # Along other axes than that of the rows nothing changes places.
        moves = [one for one in moves if not {"dims", "dim", "axis"} & set(options(one[1]))]
        place = first_place(one for one in moves if not loops_of(*one))
        loss = evidence.loss
        place = place or ((loss.called or loss.place) if loss is not None else None)
        yield (
            place,
            f"in {rows} rows the inputs say nothing about the labels; {symptom}",
        )


def _written(index: FileIndex) -> Found:
    """What the text shows."""
    yield from (
        *_zipped(index),
        *_random(index),
        *_turned_alone(index),
        *_off_the_diagonal(index),
    )
    yield from _repeated_otherwise(index)
    own = {scope.name for scope in index.functions if _draws(scope.node)}
    for node in within(index.tree, ast.AST):
        body = getattr(node, "body", None)
        pair = _separate(index, body, own) if isinstance(body, list) else None
        if pair is not None:
            yield (
                place_in(index, pair[2]),
                f"{pair[0]} and {pair[1]} are shuffled by separate draws",
            )


def _zipped(index: FileIndex) -> Found:
    """Two loaders, each shuffled by itself, over two arrays that one call made for each other."""
    for call in index.calls:
        loaders = [value_of(index, one) for one in call.args] if called(call) == "zip" else []
        sets = {name for loader in loaders if (name := _only_array(index, loader))}
        unpacked = within(index.tree, ast.Assign) if len(loaders) == len(sets) == 2 else ()
        made = (node.targets[0] for node in unpacked if is_call(node.value))
        if any(sets <= set(map(key_of, elements(target))) for target in made):
            both = " and ".join(excerpt(one) for one in call.args)
            yield place_in(index, call), f"{both} are shuffled by separate draws"


def _off_the_diagonal(index: FileIndex) -> Found:
    """One set of labels for scores of pairs and for the same turned round: only the diagonal is
    both.
    """
    made = [call for call in index.calls if called(call) == "cross_entropy" and len(call.args) > 1]
    for call in made:
        scores, label = call.args[:2]
        given = value_of(index, label)
        turned = any(
            same(other.args[1], label) and same(_unturned(other.args[0]), scores) for other in made
        )
        if turned and given is not label and _is_moved(given):
            saw = (
                f"{excerpt(label)} is {excerpt(given, 40)}, and for rows and columns of "
                f"{excerpt(scores)} alike"
            )
            yield place_in(index, given), f"{saw}: expected torch.arange"


def _unturned(node: ast.expr) -> ast.expr | None:
    """`x` of `x.T` and of `x.t()`."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    return owner_of(node) if is_call(node, "t") else None


def _is_moved(node: ast.expr) -> bool:
    rest = any(isinstance(part.op, ast.Mod) for part in within(node, ast.BinOp))
    return rest or any(is_call(part, *MOVES) for part in within(node, ast.Call))


def _repeated_otherwise(index: FileIndex) -> Found:
    """Rows that are joined copy after copy, and labels in the same function that are repeated
    one by one.
    """
    for call in (one for one in index.calls if called(one) == "repeat_interleave" and one.args):
        times = call.args[0]
        beside = within(function_of(index, call), ast.Call)
        joined = [
            one
            for one in beside
            if is_call(one, "cat", "concatenate")
            and one.args
            and isinstance(times, ast.Constant)
            and len(elements(one.args[0])) == times.value
        ]
        if any(_are_returned(index, call, one) for one in joined):
            saw = f"{excerpt(call)} repeats row by row, and the rows beside it are joined copy by copy"
            yield place_in(index, call), saw


def _are_returned(index: FileIndex, first: ast.expr, second: ast.expr) -> bool:
    """Whether a function gives back two values side by side."""
    for answer in within(function_of(index, first), ast.Return):
        made = [value_of(index, part) for part in elements(answer.value)]
        if first in made and second in made:
            return True
    return False


def _only_array(index: FileIndex, loader: ast.expr) -> str:
    """The one variable that a shuffling loader reads."""
    if not is_call(loader, "DataLoader") or not loader.args:
        return ""
    words = options(loader)
    data = value_of(index, loader.args[0])
    if is_call(data, "TensorDataset") and len(data.args) == 1:
        data = data.args[0]
    shuffled = (
        words.get("shuffle") == "True" and "generator" not in words and "sampler" not in words
    )
    return data.id if shuffled and isinstance(data, ast.Name) else ""


def _random(index: FileIndex) -> Found:
    """A target that is drawn in the loop and that nothing but the loss reads: no input knows of
    it.
    """
    for call in index.calls:
        for target in call.args[1:2] if is_loss_call(index, call) else ():
            drawn = value_of(index, target)
            name = last_word(target)
            if drawn is target or not is_call(drawn, *DRAWS):
                continue
            used = [one for one in within(function_of(index, call), ast.Name) if one.id == name]
            inputs = [value_of(index, one) for one in within(call.args[0], ast.Name)]
            once = sum(isinstance(one.ctx, ast.Load) for one in used) == 1
            if once and not any(is_call(one, *DRAWS) for one in inputs) and loops_of(index, drawn):
                yield (
                    place_in(index, call),
                    f"{name} is drawn by chance, and only the loss reads it",
                )


def _turned_alone(index: FileIndex) -> Found:
    """An image that is flipped or turned alone where another statement turns it and what is returned
    with it.
    """
    for function in (scope.node for scope in index.functions):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {
            name for one in within(function, ast.Return) if one.value for name in names(one.value)
        }
        turned = [(_turned(one) & given, one) for one in within(function, ast.Assign)]
        both = [moved for moved, _ in turned if len(moved) > 1]
        alone = [(min(moved), one) for moved, one in turned if len(moved) == 1]
        for name, statement in alone:
            beside = {other for moved in both if name in moved for other in moved - {name}}
            block = getattr(index.parents.get(statement), "body", [])
            # What is given a new value in the same block may be turned too.
            if beside and not any(beside & names(one, ast.Store) for one in block):
                yield (
                    place_in(index, statement),
                    f"{name} is turned, {min(beside)} stays as it was",
                )
                break


def _turned(node: ast.Assign) -> set[str]:
    """Variables that a statement turns, flips or moves."""
    pairs = [(target.id, value) for target, value in assigned(node) if isinstance(target, ast.Name)]
    return {name for name, value in pairs if name in names(value) and _is_turned(value)}


def _is_turned(node: ast.expr) -> bool:
    """Whether rows are read backwards, or an image is flipped or turned."""
    steps = [part.step for part in within(node, ast.Slice)]
    backwards = any(
        is_minus(step) and isinstance(step.operand, ast.Constant) and step.operand.value == 1
        for step in steps
    )
    return backwards or any(is_call(part, *TURNS) for part in within(node, ast.Call))


def _draws(function: ast.AST) -> bool:
    """A function that brings its only argument into a new order by chance."""
    if not isinstance(function, ast.FunctionDef) or len(function.args.args) != 1:
        return False
    inside = list(within(function, ast.Call))
    if not any(called(call) in SHUFFLES for call in inside):
        return False
    return not any(_is_seeded(call) for call in inside)


def _is_seeded(call: ast.Call) -> bool:
    """Whether a draw can be repeated."""
    return called(call) in SEEDS or any(
        word.arg in ("seed", "random_state") for word in call.keywords
    )


def _separate(
    index: FileIndex,
    body: Sequence[ast.stmt],
    own: set[str],
) -> tuple[str, str, ast.stmt] | None:
    """Inputs that are shuffled, and labels in one of the next statements, nothing between that
    says how.
    """
    first = ""
    for statement in body:
        name = _shuffled(statement, own) or ""
        if first and name != first and frozenset((first, name)) in pairs_of_rows(index):
            return first, name, statement
        seeded = first and not name and any(map(_is_seeded, within(statement, ast.Call)))
        first = "" if seeded else name or first
    return None


def _shuffled(statement: ast.stmt, own: set[str]) -> str | None:
    """The variable that a statement brings into a new order of its own."""
    match statement:
        case ast.Expr(ast.Call(_, [ast.Name(name)], []) as call) if called(call) == "shuffle":
            return name
        case ast.Assign([ast.Name(name), *_], ast.Call(_, [ast.Name(given)]) as call) if (
            given == name
        ):
            return name if called(call) in own else None
        case ast.Assign([ast.Name(name), *_], ast.Subscript(ast.Name(rows), drawn)) if rows == name:
            if is_call(drawn, *SHUFFLES) and not any(map(_is_seeded, within(drawn, ast.Call))):
                return name
            return None
    return None
