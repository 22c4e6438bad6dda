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
    Unsafe: it changes what is trained, to what was meant. One draw or one seed serves both; which order is
    right for lists and boxes is left to the author.
Sources
    Documentation of numpy.random.Generator.shuffle.
"""

import ast
from collections.abc import Sequence

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
from reenact.faults.facts.constant_answer import no_gain_over_a_constant
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.usable_rates import can_learn, usable_range
from reenact.faults.fixes.labels import one_order
from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import assigned, value_of
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import calls, first_place
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    elements,
    function_of,
    given_as,
    is_call,
    is_constant,
    is_minus,
    is_sum,
    keyword,
    last_word,
    loops_of,
    names,
    owner_of,
    place_of,
    returned,
    within,
)
from reenact.program.training.roles import is_loss_call
from reenact.program.training.rows.moved_alone import moved_alone
from reenact.program.training.rows.together import SEEDS, pairs_of_rows

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
    files = list(evidence.files)
    written = [one for index in files for one in _written(index)]
    written = written or [one for index in files for one in moved_alone(index)]
    for node, saw in written:
        yield detector.finding(
            evidence,
            saw,
            fixes=one_order(evidence, place_of(node)),
            place=place_of(node),
        )
    symptom = "" if written else _tell_nothing(evidence)
    if symptom:
        yield detector.finding(evidence, symptom, place=_moved_or_compared(evidence))


@FAULT.detector(
    "RE112",
    "rows-and-labels-travel-apart",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="No row keeps its own label.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def rows_and_labels_travel_apart(detector: Detector, evidence: Evidence) -> Findings:
    """By the content of each row: one that comes again has another label or partner, a picture is
    turned and its map is not, inputs say nothing about the noise or the labels that are asked for.

    Northcutt, Athalye and Mueller, "Pervasive Label Errors in Test Sets Destabilize Machine
    Learning Benchmarks", NeurIPS 2021 (what wrong labels do).
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: one_order(evidence, place),
    )


def _tell_nothing(evidence: Evidence) -> str:
    """What was seen of a training that cannot have found anything; empty where it did, or might
    have.
    """
    trace = evidence.trace
    known = trace.happened("labels-explained") if trace is not None and trace.step_count else ()
    facts = known[-1].facts if known else {}
    rows, share = (facts.get(name) for name in ("rows", "explained"))
    if not isinstance(rows, int) or not isinstance(share, float):
        return ""
    # Large numbers hide what there is in the inputs: they are the first thing to put right.
    if rows < FEW_ROWS or share > TELLS or far_from_unit_size(evidence):
        return ""
    tested = evidence.experiments.learning_rates
    rate = evidence.learning_rate or 0.0
    bounds = usable_range(tested.rates, tested.losses) if tested is not None else None
    usable = bounds is None or bounds[0] / 10 <= rate <= 3 * bounds[1]
    symptom = no_gain_over_a_constant(evidence) if can_learn(evidence) and usable else ""
    if symptom:
        return f"in {rows} rows the inputs say nothing about the labels; {symptom}"
    return ""


def _moved_or_compared(evidence: Evidence) -> Place | None:
    """The line that brings rows into another order, else the one that compares. Along other axes
    than that of the rows nothing changes places.
    """
    own = {one.name for index in evidence.files for one in index.functions}
    moves = (call for name in ORDERS if name not in own for call in calls(evidence.files, name))
    rows = (call for call in moves if keyword(call, "dims", "dim", "axis") is None)
    place = first_place(call for call in rows if not loops_of(call))
    loss = evidence.loss
    return place or ((loss.called or loss.place) if loss is not None else None)


def _written(index: FileIndex) -> Found:
    """What the text shows."""
    for look in (_zipped, _random, _turned_alone, _off_the_diagonal, _repeated_otherwise):
        yield from look(index)
    own = {scope.name for scope in index.functions if _draws(scope.node)}
    for node in all_parts(index.tree):
        body = getattr(node, "body", None)
        pair = _separate(index, body, own) if isinstance(body, list) else None
        if pair is not None:
            yield pair[2], f"{pair[0]} and {pair[1]} are shuffled by separate draws"


def _zipped(index: FileIndex) -> Found:
    """Two loaders, each shuffled by itself, over two arrays that one call made for each other."""
    for call in calls_in(index.tree, "zip"):
        sets = {name for one in call.args if (name := _only_array(value_of(one)))}
        unpacked = within(index.tree, ast.Assign) if len(call.args) == len(sets) == 2 else ()
        made = (node.targets[0] for node in unpacked if is_call(node.value))
        if any(sets <= set(map(key_of, elements(target))) for target in made):
            both = " and ".join(excerpt(one) for one in call.args)
            yield call, f"{both} are shuffled by separate draws"


def _only_array(loader: ast.expr) -> str:
    """The one variable that a shuffling loader reads."""
    if not is_call(loader, "DataLoader") or not loader.args:
        return ""
    data = value_of(loader.args[0])
    if is_call(data, "TensorDataset") and len(data.args) == 1:
        data = data.args[0]
    by_itself = keyword(loader, "generator", "sampler") is None
    shuffled = by_itself and is_constant(constant_of(keyword(loader, "shuffle")), True)
    if shuffled and isinstance(data, ast.Name):
        return data.id
    return ""


def _off_the_diagonal(index: FileIndex) -> Found:
    """One set of labels for scores of pairs and for the same turned round: only the diagonal is
    both.
    """
    made = [call.args for call in calls_in(index.tree, "cross_entropy") if len(call.args) > 1]
    for scores, label, *_ in made:
        given = value_of(label)
        turned = any(same(other[1], label) and same(_unturned(other[0]), scores) for other in made)
        if turned and given is not label and _is_moved(given):
            saw = f"{excerpt(label)} is {excerpt(given, 40)}, and for rows and columns of "
            yield given, f"{saw}{excerpt(scores)} alike: expected torch.arange"


def _unturned(node: ast.expr) -> ast.expr | None:
    """`x` of `x.T` and of `x.t()`."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    return owner_of(node) if is_call(node, "t") else None


def _is_moved(node: ast.expr) -> bool:
    rest = any(is_sum(part, ast.Mod) for part in within(node, ast.BinOp))
    return rest or bool(calls_in(node, *MOVES))


def _repeated_otherwise(index: FileIndex) -> Found:
    """Rows that are joined copy after copy, and labels in the same function that are repeated
    one by one.
    """
    for call in calls_in(index.tree, "repeat_interleave"):
        times = constant_of(next(iter(call.args), None))
        joined = [one for one in calls_in(function_of(call), "cat", "concatenate") if one.args]
        copies = [one for one in joined if is_constant(times, len(elements(one.args[0])))]
        if any(_are_returned(call, one) for one in copies):
            saw = f"{excerpt(call)} repeats row by row, and the rows beside it are joined"
            yield call, f"{saw} copy by copy"


def _are_returned(first: ast.expr, second: ast.expr) -> bool:
    """Whether a function gives back two values side by side."""
    answers = (elements(answer) for answer in returned(function_of(first)))
    return any({first, second} <= set(map(value_of, parts)) for parts in answers)


def _random(index: FileIndex) -> Found:
    """A target that is drawn in the loop and that nothing but the loss reads: no input knows of
    it.
    """
    for call in filter(is_loss_call, index.calls):
        for target in call.args[1:2]:
            drawn = value_of(target)
            name = last_word(target)
            if drawn is target or not is_call(drawn, *DRAWS):
                continue
            used = [one for one in within(function_of(call), ast.Name) if one.id == name]
            inputs = map(value_of, within(call.args[0], ast.Name))
            once = sum(isinstance(one.ctx, ast.Load) for one in used) == 1
            if once and loops_of(drawn) and not any(is_call(one, *DRAWS) for one in inputs):
                yield call, f"{name} is drawn by chance, and only the loss reads it"


def _turned_alone(index: FileIndex) -> Found:
    """An image that is flipped or turned alone where another statement turns it and what is returned
    with it.
    """
    for function in within(index.tree, ast.FunctionDef):
        given = {name for answer in returned(function) for name in names(answer)}
        turned = [(_turned(one) & given, one) for one in within(function, ast.Assign)]
        both = [moved for moved, _ in turned if len(moved) > 1]
        alone = [(min(moved), one) for moved, one in turned if len(moved) == 1]
        for name, statement in alone:
            beside = {other for moved in both if name in moved for other in moved - {name}}
            block = getattr(index.parents.get(statement), "body", [])
            # What is given a new value in the same block may be turned too.
            if beside and not any(beside & names(one, ast.Store) for one in block):
                yield statement, f"{name} is turned, {min(beside)} stays as it was"
                break


def _turned(node: ast.Assign) -> set[str]:
    """Variables that a statement turns, flips or moves."""
    pairs = [(last_word(target), value) for target, value in assigned(node)]
    return {name for name, value in pairs if name in names(value) and _is_turned(value)}


def _is_turned(node: ast.expr) -> bool:
    """Whether rows are read backwards, or an image is flipped or turned."""
    slices = within(node, ast.Slice)
    steps = [read_through(part.step) for part in slices if part.step is not None]
    backwards = any(is_minus(step) and is_constant(step.operand, 1) for step in steps)
    return backwards or bool(calls_in(node, *TURNS))


def _draws(function: ast.AST) -> bool:
    """A function that brings its only argument into a new order by chance."""
    if not isinstance(function, ast.FunctionDef) or len(function.args.args) != 1:
        return False
    return bool(calls_in(function, *SHUFFLES)) and not _is_seeded(function)


def _is_seeded(node: ast.AST) -> bool:
    """Whether a draw in it can be repeated."""
    return bool(calls_in(node, *SEEDS) or given_as(calls_in(node), "seed", "random_state"))


def _separate(
    index: FileIndex, body: Sequence[ast.stmt], own: set[str]
) -> tuple[str, str, ast.stmt] | None:
    """Inputs that are shuffled, and labels in one of the next statements, nothing between that
    says how.
    """
    first = ""
    for statement in body:
        name = _shuffled(statement, own)
        if first and name != first and frozenset((first, name)) in pairs_of_rows(index):
            return first, name, statement
        seeded = first and not name and _is_seeded(statement)
        first = "" if seeded else name or first
    return None


def _shuffled(statement: ast.stmt, own: set[str]) -> str:
    """The variable that a statement brings into a new order of its own."""
    match statement:
        case ast.Expr(ast.Call(_, [ast.Name(name)], []) as call) if called(call) == "shuffle":
            return name
        case ast.Assign([ast.Name(name), *_], ast.Call(_, [ast.Name(given)]) as call):
            if given == name and called(call) in own:
                return name
            return ""
        case ast.Assign([ast.Name(name), *_], ast.Subscript(ast.Name(rows), drawn)):
            draws = rows == name and is_call(drawn, *SHUFFLES)
            return name if draws and not _is_seeded(drawn) else ""
    return ""
