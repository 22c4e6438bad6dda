"""RE053 labels-misaligned

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
Instead
    - rng.shuffle(x)
    - rng.shuffle(y)
    + order = rng.permutation(len(x))
    + x, y = x[order], y[order]
Fix safety
    There is nothing to change automatically: one order has to serve both.
Sources
    Documentation of numpy.random.Generator.shuffle.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from reenact.probe.trace import LearningRateRange
from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Place, Rule, Severity
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called, function_of, indexes, is_in_loop, place_in, value_of
from reenact.rules.own._moved_alone import moved_alone
from reenact.rules.own.inputs_unscaled import far_from_unit_size
from reenact.rules.own.learning_rate_outside_range import can_learn, usable_range
from reenact.rules.own.no_better_than_constant import no_better_than_a_constant

SHUFFLES = ("shuffle", "permutation", "randperm", "permute_rows")
DRAWS = ("randn", "randn_like", "rand", "rand_like", "normal")
LOSS = re.compile(r"loss|criterion|mse|huber|l1", re.IGNORECASE)
TELLS = 0.03
"""Share of the spread of the labels that inputs explain where they say something about them."""
FEW_ROWS = 160
ORDERS = (
    "sorted",
    "sort",
    "argsort",
    "sort_values",
    "shuffle",
    "permutation",
    "randperm",
    "sample",
    "flip",
    "roll",
)
"""What brings rows into another order, the most likely to leave labels behind first."""
TURNED = re.compile(r"::-1|\b(?:flip|fliplr|flipud|rot90|hflip|vflip|rotate|affine|warp_affine|roll)\(")
DENSE = re.compile(
    r"(?:^|_)(?:masks?|seg|segmentation|boxe?s?|bboxe?s?|keypoints?|kpts?|heatmaps?|depth|landmarks?)(?:_|$)",
    re.IGNORECASE,
)
"""Targets that lie on the image."""
LABELS = re.compile(r"(?:^|_)(?:y|t|labels?|targets?|classes)(?:_|$)", re.IGNORECASE)


class LabelsMisaligned(Rule):
    code, name, family, fault = "RE053", "labels-misaligned", "reenact", None
    needs = Needs.SOURCE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "No row keeps its own label."

    def check(self, evidence: Evidence) -> Findings:
        written = list(self._written(evidence)) or list(self._moved(evidence))
        yield from written
        saw = "" if written else _tell_nothing(evidence)
        if saw:
            yield self.finding(evidence, saw, place=_reordered(evidence))

    def _moved(self, evidence: Evidence) -> Findings:
        """Where the text gives inputs another order than their labels."""
        for index in indexes(evidence):
            for place, saw in moved_alone(index):
                yield self.finding(evidence, saw, place=place)

    def _written(self, evidence: Evidence) -> Findings:
        """What the text shows."""
        for index in indexes(evidence):
            for place, saw in (*_zipped(index), *_random(index), *_turned_alone(index)):
                yield self.finding(evidence, saw, place=place)
            own = {str(getattr(scope.node, "name", "")) for scope in index.functions if _draws(scope.node)}
            for body in _bodies(index):
                pair = _separate(body, own)
                if pair is not None:
                    saw = f"{pair[0]} and {pair[1]} are shuffled by separate draws"
                    yield self.finding(evidence, saw, place=place_in(index, pair[2]))


def _tell_nothing(evidence: Evidence) -> str:
    """What was seen of a training that cannot have found anything; empty where it did, or might have."""
    trace = evidence.trace
    known = trace.happened("labels-explained") if trace is not None and trace.step_count else ()
    facts = known[-1].facts if known else {}
    rows, share = (facts.get(name) for name in ("rows", "explained"))
    if not isinstance(rows, int) or not isinstance(share, float) or rows < FEW_ROWS or share > TELLS:
        return ""
    if far_from_unit_size(evidence):
        # Large numbers hide what there is in the inputs: they are the first thing to put right.
        return ""
    tested = evidence.experiments.learning_rates
    usable = tested is None or _within(tested, evidence.learning_rate or 0.0)
    symptom = no_better_than_a_constant(evidence) if can_learn(evidence) and usable else ""
    return f"in {rows} rows the inputs say nothing about the labels; {symptom}" if symptom else ""


def _within(tested: LearningRateRange, rate: float) -> bool:
    """Whether a rate is one that learns, as far as a test tells."""
    bounds = usable_range(tested.rates, tested.losses)
    return bounds is None or bounds[0] / 10 <= rate <= 3 * bounds[1]


def _reordered(evidence: Evidence) -> Place | None:
    """The line that brings rows into another order, else the one that compares."""
    own = {str(getattr(one.node, "name", "")) for index in indexes(evidence) for one in index.functions}
    for name in (name for name in ORDERS if name not in own):
        for index in indexes(evidence):
            for call in index.calls:
                if called(call) == name and not is_in_loop(index, call):
                    return place_in(index, call)
    loss = evidence.loss
    return (loss.called or loss.place) if loss is not None else None


def _zipped(index: FileIndex) -> Iterator[tuple[Place, str]]:
    """Two loaders, each shuffled by itself, over two arrays that one call made for each other."""
    for call in index.calls:
        loaders = [value_of(index, one) for one in call.args] if called(call) == "zip" else []
        sets = [_only_array(index, loader) for loader in loaders]
        if len(sets) == 2 and None not in sets and sets[0] != sets[1] and _made_together(index, sets):
            names = " and ".join(ast.unparse(one) for one in call.args)
            yield place_in(index, call), f"{names} are shuffled by separate draws"


def _only_array(index: FileIndex, loader: ast.expr) -> str | None:
    """The one variable that a shuffling loader reads."""
    if not isinstance(loader, ast.Call) or called(loader) != "DataLoader" or not loader.args:
        return None
    words = {word.arg: ast.unparse(word.value) for word in loader.keywords}
    data = value_of(index, loader.args[0])
    if isinstance(data, ast.Call) and called(data) == "TensorDataset" and len(data.args) == 1:
        data = data.args[0]
    shuffled = words.get("shuffle") == "True" and "generator" not in words and "sampler" not in words
    return data.id if shuffled and isinstance(data, ast.Name) else None


def _made_together(index: FileIndex, names: Sequence[str | None]) -> bool:
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.targets[0], ast.Tuple)
        and set(names) <= {ast.unparse(one) for one in node.targets[0].elts}
        for node in ast.walk(index.tree)
    )


def _random(index: FileIndex) -> Iterator[tuple[Place, str]]:
    """A target that is drawn in the loop and that nothing but the loss reads: no input knows of it."""
    for call in index.calls:
        for target in call.args[1:2] if LOSS.search(called(call)) else ():
            drawn = value_of(index, target)
            if drawn is target or not isinstance(drawn, ast.Call) or called(drawn) not in DRAWS:
                continue
            used = [
                node
                for node in ast.walk(function_of(index, call))
                if isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)
                and node.id == ast.unparse(target)
            ]
            inputs = [value_of(index, one) for one in ast.walk(call.args[0]) if isinstance(one, ast.Name)]
            plain = any(isinstance(one, ast.Call) and called(one) in DRAWS for one in inputs)
            if len(used) == 1 and not plain and is_in_loop(index, drawn):
                yield (
                    place_in(index, call),
                    f"{ast.unparse(target)} is drawn by chance, and only the loss reads it",
                )


def _turned_alone(index: FileIndex) -> Iterator[tuple[Place, str]]:
    """An image that is flipped or turned more often than the mask or boxes that are returned with it."""
    for scope in index.functions:
        function = scope.node
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {
            node.id
            for one in ast.walk(function)
            if isinstance(one, ast.Return) and one.value is not None
            for node in ast.walk(one.value)
            if isinstance(node, ast.Name)
        }
        masks = {name for name in given if DENSE.search(name)}
        statements = [one for one in ast.walk(function) if isinstance(one, ast.Assign)]
        turned = [(_turned(one), one) for one in statements]
        own = [(names - masks, statement) for names, statement in turned if names & given - masks]
        with_mask = sum(bool(names & masks) for names, _ in turned)
        alone = [(min(names), one) for names, one in own if not _beside(index, one, masks)]
        if masks and len(own) > with_mask and alone:
            name, statement = alone[0]
            yield place_in(index, statement), f"{name} is turned, {min(masks)} stays as it was"


def _turned(node: ast.Assign) -> set[str]:
    """Variables that a statement turns, flips or moves."""
    pairs = [
        (target.id, value)
        for target, value in assigned(node)
        if isinstance(target, ast.Name)
        and target.id in {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
    ]
    return {name for name, value in pairs if TURNED.search(ast.unparse(value))}


def _beside(index: FileIndex, statement: ast.AST, masks: set[str]) -> bool:
    """Whether a mask is given a new value in the same block."""
    block = getattr(index.parents.get(statement), "body", [])
    names = {
        node.id
        for one in block
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return not masks.isdisjoint(names)


def _bodies(index: FileIndex) -> Iterator[Sequence[ast.stmt]]:
    for node in ast.walk(index.tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _draws(function: ast.AST) -> bool:
    """A function that brings its only argument into a new order by chance."""
    arguments = getattr(function, "args", None)
    if not isinstance(function, ast.FunctionDef) or arguments is None or len(arguments.args) != 1:
        return False
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    seeded = any("seed" in ast.unparse(call) or called(call) == "default_rng" for call in calls)
    return not seeded and any(called(call) in SHUFFLES for call in calls)


def _separate(body: Sequence[ast.stmt], own: set[str]) -> tuple[str, str, ast.stmt] | None:
    """Inputs that are shuffled, and labels in one of the next statements, nothing between that says how."""
    first: str | None = None
    for statement in body:
        name = _shuffled(statement, own)
        if name is None:
            if "seed" in ast.unparse(statement):
                first = None
            continue
        if first is not None and first != name and LABELS.search(name) and not LABELS.search(first):
            return first, name, statement
        first = name
    return None


def _shuffled(statement: ast.stmt, own: set[str]) -> str | None:
    """The variable that a statement brings into a new order of its own."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and called(value) == "shuffle":
        one = value.args[0] if len(value.args) == 1 and not value.keywords else None
        return one.id if isinstance(one, ast.Name) else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    target = statement.targets[0].id
    if (
        isinstance(value, ast.Call)
        and called(value) in own
        and [ast.unparse(one) for one in value.args] == [target]
    ):
        return target
    if isinstance(value, ast.Subscript) and ast.unparse(value.value) == target:
        drawn = value.slice
        fresh = isinstance(drawn, ast.Call) and called(drawn) in SHUFFLES and "seed" not in ast.unparse(drawn)
        return target if fresh else None
    return None
