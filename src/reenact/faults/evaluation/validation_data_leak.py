"""EV04 validation-data-leak

What
    Rows of the training data are among the rows that the model is judged by.
Why
    What was seen in training is answered from memory: the result says nothing about new data.
Symptom
    A validation result that is too good, and a disappointment afterwards.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[180:]).argmax(1) == y[180:]).float().mean().item())
Instead
    -     print("val_accuracy", (model(x[180:]).argmax(1) == y[180:]).float().mean().item())
    +     print("val_accuracy", (model(x[240:]).argmax(1) == y[240:]).float().mean().item())
Fix safety
    Safe for the training; measured results change, they were wrong.
Sources
    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based Science",
    2023.
"""

import ast
import math
from collections.abc import Iterator, Sequence
from itertools import chain

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.flow import elements, stores
from reenact.faults.facts.input_values import shared_rows
from reenact.faults.facts.lines import (
    call_place,
    function_of,
    indexes,
    loops_of,
    place_in,
    value_of,
)
from reenact.faults.facts.parts import called, is_call, last_word, names, options, within
from reenact.faults.facts.places import framework
from reenact.faults.facts.roles import is_loss_call, names_that_reach
from reenact.faults.facts.splits import pairs
from reenact.probe.trace import Overlap
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex

COPIES = ("resample", "fit_resample", "oversample", "train_test_split", "random_split")
"""What copies rows or splits them, where the first of them stands."""
OF_GRAPHS = ("train_mask", "val_mask", "test_mask")
"""What torch_geometric calls the masks of the splits of a graph."""
RESAMPLES = {"resample", "fit_resample", "oversample"}
JOINS = {"concatenate", "vstack", "append", "cat", "concat"}
DRAWS = ("permutation", "randperm")
DEEP = 4
"""Assignments that are followed in a row."""
FEWEST = 10
ROUGHLY = 4
MANY = 4
"""Features from which on rows of measured values are never equal by chance."""
LEAST = 0.05
Leaks = Iterator[tuple[ast.expr, str, float]]
"""Where something leaks in the text, what says so, and how sure that is."""
SPLITS = ("train_test_split", "random_split")
CHOSEN = ("flatnonzero", "nonzero", "where", "argwhere")
"""What gives numbers of rows that were chosen by what they hold."""
PLACES = (*CHOSEN, "arange", "range", "len")
"""What gives numbers of rows, or other numbers that are counted up to."""
RESAMPLERS = ("resample", "fit_resample")
EPOCHS = 3
LEAD = 0.05
LARGE_SHARE = 0.2
FAULT = Fault(
    code="EV04",
    name="validation-data-leak",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE018",
    "validation-leaks",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.DATA,
    why="What was seen in training is answered from memory.",
    study=FaultType.VRM,
    severity=Severity.ERROR,
)
def validation_leaks(detector: Detector, evidence: Evidence) -> Findings:
    """Rows of the training data are among the rows that the model is judged by.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023.
    """
    for index in indexes(evidence):
        for node, saw, sure in chain(_over_all_rows(index), _split_by_chance(index)):
            place = place_in(index, node)
            certain = Certainty.STRONG
            yield detector.finding(
                evidence,
                saw,
                place=place,
                confidence=sure,
                certainty=certain,
            )
            return
    leaks = () if evidence.acts else evidence.watched.overlaps
    clean = any(overlap.rows >= FEWEST and overlap.share < LEAST for overlap in leaks)
    worst = max(leaks, key=lambda overlap: overlap.share, default=None)
    if worst is None or worst.rows < FEWEST or worst.share < LEAST:
        return
    sure = _sure(evidence, worst, clean=clean)
    saw = f"{worst.shared} of {worst.rows} rows of the {worst.split} data are training rows"
    proven = Certainty.PROOF if sure > 0.8 else None
    where = call_place(evidence, *COPIES) if proven is not None else None
    kind = Kind.VALIDATION
    yield detector.finding(
        evidence,
        saw,
        kind=kind,
        confidence=sure,
        certainty=proven,
        place=where,
    )


@FAULT.detector(
    "RE055",
    "leakage-by-duplicates",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why=(
        "Copies of one row lie on both sides of the split: split first, then draw from the "
        "training rows."
    ),
    study=FaultType.VRM,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def leakage_by_duplicates(detector: Detector, evidence: Evidence) -> Findings:
    """Rows are drawn with replacement, and the copies are split into training and test data
    afterwards.

    Kapoor and Narayanan, "Leakage and the reproducibility crisis in machine-learning-based
    science", Patterns 2023 (duplicates); documentation of imbalanced-learn, "Common pitfalls".
    """
    for index in indexes(evidence):
        copying = [call for call in index.calls if _copies(index, call)]
        own = {getattr(function_of(index, call), "name", "") for call in copying} - {""}
        # A function of the program that draws is a draw where it is called.
        for draw in (
            *copying,
            *(call for call in index.calls if called(call) in own),
        ):
            split = _split_later(index, draw)
            rows = called(draw) in own.union(RESAMPLERS) or _made_by(index, draw.args[0], CHOSEN)
            # Two halves of what is drawn are two sets of rows: no batch, no labels or tokens by
            # chance.
            halves = rows and not loops_of(index, draw)
            if split is not None and (is_call(split) or halves):
                saw = f"{excerpt(draw)} comes before the split in line {split.lineno}"
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_in(index, draw),
                )


@FAULT.detector(
    "UM012",
    "suspicious-validation-accuracy",
    "umlaut",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Validation should be a little worse than training, not better.",
    severity=Severity.NOTE,
    confidence=0.15,
)
def suspicious_validation_accuracy(detector: Detector, evidence: Evidence) -> Findings:
    """Validation accuracy is clearly better than that of training after some epochs.

    {paper}; the bound 0.05 after three epochs is that of the release, which also fires above 0.95:
    an easy task gets there. Dropout in training explains a lead, so it counts for little unless
    rows are found in both parts.
    """
    trace = evidence.watched
    held = trace.metric("val_accuracy").known.values
    if not len(held):
        return
    shared = shared_rows(trace)
    last = float(held[-1])
    if shared >= LARGE_SHARE:
        saw = f"{shared:.0%} of the held-out rows are training rows; validation accuracy {last:.2f}"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.VALIDATION,
            confidence=0.9,
        )
        return
    own = trace.metric("accuracy").known.values
    if not len(own):
        return
    lead = last - float(own[-1])
    if len(held) >= EPOCHS and lead > LEAD:
        yield detector.finding(
            evidence, f"validation accuracy {last:.2f}, {lead:+.2f} against training"
        )


def _over_all_rows(index: FileIndex) -> Leaks:
    """Losses of a training, where a program splits its rows by masks or numbers and no loss
    reads any.
    """
    if any(called(call) in ("DataLoader", "fit", "Subset") for call in index.calls):
        return
    owners = {function_of(index, call) for call in index.calls if called(call) == "backward"}
    losses = [
        call
        for call in index.calls
        if is_loss_call(index, call) and len(call.args) >= 2 and function_of(index, call) in owners
    ]
    reached = names_that_reach(index, list(losses))
    given = {name for call in losses for name in names(call)}
    for parts in _parts_of_rows(index) if losses else ():
        picks = [
            node for node in within(index.tree, ast.Subscript) if last_word(node.slice) in parts
        ]
        if not reached & parts and any(given & names(node.value) for node in picks):
            saw = f"{excerpt(losses[0])} takes every row; the split of the program does not enter"
            yield losses[0], saw, 0.9
            return


def _parts_of_rows(index: FileIndex) -> Iterator[set[str]]:
    """The variables that rows may have been shared out to, by one statement each."""
    yield {node.attr for node in within(index.tree, ast.Attribute) if node.attr in OF_GRAPHS}
    yield from ({*map(last_word, pair)} - {""} for pair in pairs(index))
    for target, value in stores(index.tree):
        if len(elements(target)) > 1 and isinstance(value, ast.Call):
            yield {*map(last_word, elements(target))} - {""}


def _repeated_before(evidence: Evidence) -> bool:
    """Whether the text repeats rows before it splits them."""
    for index in indexes(evidence):
        makers = [one.node for one in index.functions if _repeats_rows(one.node)]
        wanted = {getattr(one, "name", "") for one in makers} | RESAMPLES
        inside = {id(call) for one in makers for call in within(one, ast.Call)}
        made = [
            call.lineno for call in index.calls if called(call) in wanted and id(call) not in inside
        ]
        splits = [
            call.lineno
            for call in index.calls
            if called(call) in ("train_test_split", "random_split")
        ]
        if made and splits and min(made) < max(splits):
            return True
    return False


def _repeats_rows(function: ast.AST) -> bool:
    inside = {called(call) for call in within(function, ast.Call)}
    return bool(inside & {"choice", "repeat", "tile", "resample"}) and bool(inside & JOINS)


def _repeats(evidence: Evidence, worst: Overlap) -> bool:
    """Data that repeats itself, or has hardly any features, shares rows between splits by
    chance.
    """
    facts = evidence.data("input", worst.split)
    if facts is None:
        return False
    features = math.prod(size or 1 for size in facts.shape[1:])
    # Values that are measured and not counted: not even their ends are whole numbers.
    ends = (facts.minimum, facts.maximum)
    measured = "float" in facts.dtype and all(end is not None and end != round(end) for end in ends)
    if features >= MANY and measured:
        # No two such rows are equal by chance: rows that come twice are copies, wherever they lie.
        return False
    twice = facts.rows_seen - worst.rows
    trained = evidence.inputs.rows_seen if evidence.inputs else 0
    # So many rows are shared by chance, by how many of one split are equal; few of them say it
    # roughly.
    by_chance = 2 * twice * trained / max(1, facts.rows_seen)
    return twice > 0.01 * facts.rows_seen or features < 3 or worst.shared < ROUGHLY * by_chance


def _sure(evidence: Evidence, worst: Overlap, *, clean: bool) -> float:
    """Whoever judges by other rows too, or by all training rows after the training, does so on
    purpose.
    """
    if clean or _repeats(evidence, worst):
        return 0.2
    if worst.share < 0.99:
        return 0.85 if worst.complete or _repeated_before(evidence) else 0.3
    return 0.6 if framework(evidence) == "keras" and worst.split == "validation" else 0.35


def _split_by_chance(index: FileIndex) -> Leaks:
    """Where windows of one series that overlap are split by chance: what is held out lies between
    what was trained on, and shares all but its ends with it.
    """
    makers = {one.name for one in index.functions if _slides(one.node)} | {"sliding_window_view"}
    stored = [(names(target, ast.Store), value) for target, value in stores(index.tree)]
    reached: set[str] = set()
    for _ in range(DEEP):
        for targets, value in stored:
            made = any(is_call(one, *makers) for one in ast.walk(value)) or _slides(value)
            if made or reached & names(value):
                reached |= targets
    by_chance = [
        targets for targets, value in stored if any(is_call(one, *DRAWS) for one in ast.walk(value))
    ]
    drawn = {name for targets in by_chance for name in targets}
    for call in index.calls if reached else ():
        splits = is_call(call, "train_test_split", "random_split") and "shuffle" not in options(
            call
        )
        if splits and call.args and reached & names(call.args[0]):
            yield (
                call,
                f"{excerpt(call)} splits overlapping windows at random",
                0.8,
            )
    for one in within(index.tree, ast.Subscript):
        # Batches are drawn by chance too, in the loop of a training.
        if reached & names(one.value) and drawn & names(one.slice) and not loops_of(index, one):
            yield (
                one,
                f"{excerpt(one)} takes overlapping windows at random",
                0.8,
            )


def _slides(node: ast.AST) -> bool:
    """Whether something takes `series[i:i + width]` for every i of a range, one after the other."""
    loops = [one for one in ast.walk(node) if isinstance(one, ast.For | ast.comprehension)]
    counted = [one for one in loops if is_call(one.iter, "range") and len(one.iter.args) < 3]
    numbers = {one.target.id for one in counted if isinstance(one.target, ast.Name)}
    for one in ast.walk(node):
        match one:
            case ast.Subscript(
                slice=ast.Slice(ast.Name(start), ast.BinOp(ast.Name(end), ast.Add()))
            ):
                if start == end and start in numbers:
                    return True
    return False


def _copies(index: FileIndex, call: ast.Call) -> bool:
    """Whether a call gives rows, or numbers of rows, some of them several times."""
    words = options(call)
    if called(call) in RESAMPLERS:
        return words.get("replace", "True") == "True"
    again = called(call) == "choice" and words.get("replace") == "True" and bool(call.args)
    return again and _made_by(index, call.args[0], PLACES)


def _made_by(index: FileIndex, value: ast.expr, makers: Sequence[str]) -> bool:
    parts = [
        value,
        *(value_of(index, name) for name in within(value, ast.Name)),
    ]
    return any(is_call(node, *makers) for part in parts for node in ast.walk(part))


def _split_later(index: FileIndex, draw: ast.Call) -> ast.expr | None:
    """The split of the rows that were drawn, by a call or by two slices; none where they are
    not split.
    """
    around = function_of(index, draw)
    drawn: set[str] = set()
    statements = [one for one in ast.walk(around) if isinstance(one, ast.Assign | ast.Expr)]
    for statement in sorted(statements, key=lambda one: one.lineno):
        if statement.lineno < draw.lineno:
            continue
        nodes = list(ast.walk(statement.value))
        touched = _reads(statement.value, draw, drawn)
        split = next(
            (one for one in nodes if is_call(one, *SPLITS)),
            None,
        )
        if touched and split is not None:
            return split
        for node in nodes:
            match node:
                case ast.Subscript(ast.Name(rows), ast.Slice(None, ast.expr() as end)) if (
                    rows in drawn
                ):
                    # `rows[cut:]` beside `rows[:cut]`.
                    if any(_is_rest(one, rows, end) for one in within(around, ast.Subscript)):
                        return node
                    break
        # Arithmetic makes new rows of them: centres of classes with noise, say.
        counted = any(_reads(node, draw, drawn) for node in within(statement.value, ast.BinOp))
        if touched and not counted and isinstance(statement, ast.Assign):
            drawn |= {name for target in statement.targets for name in names(target)}
    return None


def _reads(
    value: ast.expr,
    draw: ast.Call,
    drawn: set[str],
) -> bool:
    """Whether something is computed of what was drawn."""
    return draw in ast.walk(value) or not drawn.isdisjoint(names(value))


def _is_rest(node: ast.Subscript, rows: str, begin: ast.expr) -> bool:
    match node:
        case ast.Subscript(ast.Name(name), ast.Slice(ast.expr() as start, None, None)):
            return name == rows and same(start, begin)
    return False
