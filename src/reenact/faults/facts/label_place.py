"""Where the inputs and labels of a training are made: from the call that takes them back to their origin."""

import ast
from collections.abc import Iterator

from reenact.faults import Evidence, Place
from reenact.faults.facts.lines import function_of, indexes
from reenact.faults.facts.parts import called, is_call, names, owner_of, within
from reenact.program.syntax.index import FileIndex

FITS = ("fit", "fit_generator", "train_on_batch", "TensorDataset")
PASSES = frozenset(
    {
        "train_test_split",
        "array",
        "asarray",
        "astype",
        "reshape",
        "from_numpy",
        "tensor",
        "as_tensor",
        "float",
        "shuffle",
        "ravel",
        "flatten",
        "unsqueeze",
        "squeeze",
        "to",
        "long",
        "copy",
        "Tensor",
        "FloatTensor",
    }
)
"""Calls that hand labels on as they are."""
DEPTH = 6


def inputs_made_at(evidence: Evidence) -> Place | None:
    """The line that computes the inputs which the training is given; none where the text does
    not tell.
    """
    return _made_at(evidence, 0, "x")


def labels_made_at(evidence: Evidence) -> Place | None:
    """The line that computes the labels which the training is given; none where the text does
    not tell.
    """
    return _made_at(evidence, 1, "y")


def _made_at(evidence: Evidence, argument: int, named: str) -> Place | None:
    """In the file that the program begins with, else in another one."""
    entry = evidence.program.entry_file.path if evidence.program is not None else None
    for index in sorted(
        indexes(evidence),
        key=lambda index: index.source.path != entry,
    ):
        given = next(_given(index, argument, named), None)
        scope = function_of(index, given) if given is not None else index.tree
        made = _origin(index, given.id, DEPTH, scope) if given is not None else None
        if made is not None:
            return Place(index.source.path, made.lineno, made.col_offset)
    return None


def _given(index: FileIndex, argument: int, named: str) -> Iterator[ast.Name]:
    for call in (node for node in within(index.tree, ast.Call) if is_call(node, *FITS)):
        by_name = [one.value for one in call.keywords if one.arg == named]
        for one in (
            *call.args[argument : argument + 1],
            *by_name,
        ):
            # `x` of `torch.from_numpy(x[:split])`.
            while isinstance(one, ast.Call | ast.Subscript) and (
                isinstance(one, ast.Subscript) or one.args
            ):
                one = one.value if isinstance(one, ast.Subscript) else one.args[0]
            if isinstance(one, ast.Name):
                yield one


def _origin(
    index: FileIndex,
    name: str,
    depth: int,
    scope: ast.AST,
) -> ast.stmt | None:
    """The last statement that computes what a name holds, in `scope` first, through splits and
    parameters.
    """
    if not depth:
        return None
    assigned = [*_binding(scope, name)] or [*_binding(index.tree, name)]
    if not assigned:
        handed = next(_handed(index, name), None)
        if handed is None:
            return None
        return _origin(index, handed, depth - 1, index.tree)
    last_first = sorted(assigned, key=lambda node: -node.lineno)
    # What only hands the name on to itself, as `y = y.reshape(-1, 1)`, is no origin.
    made = next(
        (node for node in last_first if _passed(node) != name),
        last_first[0],
    )
    source = _passed(made)
    if source in (None, name):
        return made
    return (
        _origin(
            index,
            source or "",
            depth - 1,
            scope,
        )
        or made
    )


def _binding(scope: ast.AST, name: str) -> Iterator[ast.Assign]:
    return (
        node
        for node in within(scope, ast.Assign)
        if any(name in names(one) for one in node.targets)
    )


def _passed(node: ast.Assign) -> str | None:
    """The name whose content an assignment only hands on; none where it computes."""
    value = node.value
    if isinstance(value, ast.Subscript):
        value = value.value
    while is_call(value, *PASSES):
        given = [arg.id for arg in value.args if isinstance(arg, ast.Name)]
        if called(value) == "train_test_split" and len(given) > 1:
            return given[1]
        inner = owner_of(value) if not given else None
        if inner is None:
            return given[0] if given else None
        value = inner
    return value.id if isinstance(value, ast.Name) else None


def _handed(index: FileIndex, name: str) -> Iterator[str]:
    """What callers of the function that has this parameter give for it."""
    for function in within(index.tree, ast.FunctionDef):
        numbers = [number for number, arg in enumerate(function.args.args) if arg.arg == name]
        for call in within(index.tree, ast.Call) if numbers else ():
            if called(call) == function.name and len(call.args) > numbers[0]:
                value = call.args[numbers[0]]
                if isinstance(value, ast.Name):
                    yield value.id
