"""Definitions and uses in one file: what a variable is given, what a value is made of, where it goes.

By spelling: two variables of one name are one where nothing distinguishes them. What a name means in other
files is asked of `sources` and `follow`.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex, statement_of
from reenact.program.syntax.pieces import (
    all_parts,
    argument,
    around,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    given_as,
    is_call,
    is_method,
    last_word,
    names,
    owner_of,
    returned,
    within,
)
from reenact.program.syntax.scope import Binding, Scope, bindings_of
from reenact.program.syntax.targets import How

Stored: TypeAlias = tuple[ast.expr, ast.expr]
"""A target and what it is given."""
Link: TypeAlias = tuple[set[str], set[str]]
"""Names that an assignment stores, and names that it reads."""
STORES = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.For,
    ast.comprehension,
)
ROUNDS = 6
"""Assignments that are followed in a row."""


def assigned(node: ast.AST) -> Iterator[Stored]:
    """What a statement stores; tuples side by side are taken apart."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def stores(scope: ast.AST) -> Sequence[Stored]:
    """The same of everything in a piece of a file."""

    def read() -> list[Stored]:
        pairs: list[Stored] = []
        for node in all_parts(scope):
            if isinstance(node, STORES):
                pairs += assigned(node)
        return pairs

    known: Scope | None = getattr(scope, "scope", None)
    if known is None:
        return read()
    return known.index.once((stores, scope), read)


def variables_stored(target: ast.expr) -> Iterator[str]:
    """Variables and attributes that an assignment writes to, parts of them too."""
    while isinstance(target, ast.Subscript):
        target = target.value
    for one in elements(target):
        yield from variables_stored(one)
    if word := last_word(target):
        yield word


def variables_read(node: ast.AST) -> set[str]:
    """Variables and attributes that an expression reads."""
    attributes = {attribute.attr for attribute in within(node, ast.Attribute)}
    return attributes | names(node)


def value_of(node: ast.expr) -> ast.expr:
    """What a variable was last given, in its function or in the file; other expressions as they
    are.
    """
    if not isinstance(node, ast.Name):
        return node
    for owner in (function_of(node), file_of(node).tree):
        given = _given_to(owner, node.id)
        before = [value for line, value in given if line < node.lineno]
        if before:
            return max(before, key=lambda value: value.lineno)
    return node


def origins(node: ast.expr) -> list[ast.expr]:
    """What an expression stands for where it is read: an argument for all that calls hand over, another
    variable for what it was last given; other expressions as they are.
    """
    values = _handed_to(node)
    if values and isinstance(node, ast.Name):
        given_again = (line for line, _ in _given_to(function_of(node), node.id))
        if not any(line < node.lineno for line in given_again):
            return values
    return [value_of(node)]


def answers(call: ast.Call) -> list[ast.expr]:
    """What the function of this file that is called may give back."""
    base: ast.AST = call.func
    while isinstance(base, ast.Attribute | ast.Call | ast.Subscript):
        base = base.func if isinstance(base, ast.Call) else base.value
    ways = [one.how for one in bindings_of(base)]
    known: Sequence[ast.AST] = ()
    if base is call.func:
        known = [one.node for one in bindings_of(base) if set(ways) == {How.FUNCTION}]
    elif How.IMPORT not in ways:
        defined = within(file_of(call).tree, ast.FunctionDef)
        known = [one for one in defined if one.name == called(call) and is_method(one)]
    return [value for function in known for value in returned(function)]


def _given_to(owner: ast.AST, name: str) -> list[tuple[int, ast.expr]]:
    """What a variable is given in a function or file, and the line of the statement that does it."""

    def read() -> dict[str, list[tuple[int, ast.expr]]]:
        found: dict[str, list[tuple[int, ast.expr]]] = {}
        for statement in within(owner, ast.Assign):
            for target, value in assigned(statement):
                if isinstance(target, ast.Name):
                    given = found.setdefault(target.id, [])
                    given.append((statement.lineno, value))
        return found

    by_name = file_of(owner).once((_given_to, owner), read)
    return by_name.get(name, [])


def values_of(node: ast.expr, rounds: int = ROUNDS) -> Iterator[ast.expr]:
    """All that a variable, a field or a part of either is given: in its function and by the calls of
    that, else in the file; what a list is filled with too. Rows of a list are taken for the list.
    """
    if isinstance(node, ast.Subscript):
        place = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(place, int):
            yield from part_of(node.value, place, rounds)
        else:
            yield node.value
    elif isinstance(node, ast.Name | ast.Attribute) and rounds:
        owner = function_of(node)
        known = [*_values_in(owner, node, rounds), *_handed_to(node)]
        yield from known or _values_in(file_of(node).tree, node, rounds)


def _values_in(owner: ast.AST, node: ast.expr, rounds: int) -> Iterator[ast.expr]:
    for target, value in stores(owner):
        if same(target, node):
            yield value
        for place, part in enumerate(elements(target)):
            if same(part, node):
                yield from part_of(value, place, rounds - 1)
    for call in calls_in(owner, "append"):
        if call.args and same(owner_of(call), node):
            yield call.args[0]


def part_of(node: ast.expr, place: int, rounds: int = ROUNDS) -> Iterator[ast.expr]:
    """The part at this place of a tuple, of columns side by side or of what a function returns."""
    if not rounds:
        return
    parts = node.args if is_call(node, "zip") else elements(node)
    if parts:
        yield from parts[place : place + 1]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield from part_of(node.elt, place, rounds - 1)
    elif isinstance(node, ast.Call):
        functions = within(file_of(node).tree, ast.FunctionDef)
        for owner in (one for one in functions if one.name == called(node)):
            for answer in returned(owner):
                yield from elements(answer)[place : place + 1]
    else:
        for value in values_of(node, rounds - 1):
            yield from part_of(value, place, rounds - 1)


def objects_of(node: ast.expr, *classes: str) -> list[ast.Call]:
    """The calls of these classes that make what an expression is, or is given anywhere in its file."""
    pairs = stores(file_of(node).tree)
    given = [value for target, value in pairs if same(target, node)]
    return [one for one in (node, *given) if is_call(one, *classes)]


def number(node: ast.expr) -> ast.Constant | None:
    """The one number that an expression stands for; none where there are several or it is
    computed.
    """
    constants = _numbers(node, ROUNDS)
    found = [one for one in constants if type(one.value) in (int, float)]
    different = {one.value for one in found}
    if len(different) == 1:
        return found[0]
    return None


def _numbers(node: ast.expr, rounds: int) -> Iterator[ast.Constant]:
    """Assigned, a default of an argument or a field, given where a function or class is called, or
    an option of a command line.
    """
    if isinstance(node, ast.Constant):
        yield node
        return
    name = last_word(node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = str(node.slice.value)
    if not name or not rounds:
        return
    values = {id(value): value for value in given(file_of(node), name)}
    for value in values.values():
        yield from _numbers(value, rounds - 1)


def given(index: FileIndex, name: str) -> list[ast.expr]:
    """What a variable, a field, an entry or an argument of this name is given anywhere."""
    return index.once((given, name), lambda: list(_given(index, name)))


def _given(index: FileIndex, name: str) -> Iterator[ast.expr]:
    for one in all_parts(index.tree):
        for target, value in assigned(one):
            if name in variables_stored(target):
                yield value
        if isinstance(one, ast.FunctionDef):
            yield from _handed_or_default(one, name)
        elif isinstance(one, ast.Call):
            words = (name, "default") if name in _options(one) else (name,)
            yield from given_as([one], *words)
        elif isinstance(one, ast.Dict):
            for key, entry in zip(one.keys, one.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    yield entry


def _handed_or_default(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """What calls give for an argument of a function, else its default."""
    values = handed(function, name)
    parameter = parameter_of(function, name)
    if values or parameter is None or parameter.value is None:
        return values
    return [parameter.value]


def _options(call: ast.Call) -> set[str]:
    """The texts that a call is given, as names of options: `batch_size` of `"--batch-size"`."""
    texts = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
    return {text.lstrip("-").replace("-", "_") for text in texts}


def calls_of(function: ast.FunctionDef, files: Iterable[FileIndex] = ()) -> list[ast.Call]:
    """Calls of a function, or of its class where it makes the object."""
    index = file_of(function)
    owner = index.parents.get(function)
    name = function.name
    if isinstance(owner, ast.ClassDef) and name == "__init__":
        name = owner.name
    calls: list[ast.Call] = []
    for file in files or (index,):
        calls += [call for call in file.calls if called(call) == name]
    return calls


def parameter_of(function: ast.FunctionDef, name: str) -> Binding | None:
    """The argument of this name."""
    bound = file_of(function).inner[function].bindings.get(name, ())
    for one in bound:
        if one.how is How.PARAMETER:
            return one
    return None


def handed(function: ast.FunctionDef, name: str, files: Iterable[FileIndex] = ()) -> list[ast.expr]:
    """What calls give for an argument of a function; the object of a method is not such a argument."""
    parameter = parameter_of(function, name)
    if parameter is None:
        return []
    calls = calls_of(function, files)
    values = (argument(call, parameter.position, name) for call in calls)
    return [value for value in values if value is not None]


def _handed_to(node: ast.expr) -> list[ast.expr]:
    """What calls give for an argument, where it is read in its function."""
    owner = function_of(node)
    if isinstance(node, ast.Name) and isinstance(owner, ast.FunctionDef):
        return handed(owner, node.id)
    return []


def spread(start: set[str], links: Sequence[Link], rounds: int = ROUNDS) -> set[str]:
    """Names, and all that are linked to them: of each link that has one on its first side the
    second side.
    """
    reached = set(start)
    for _ in range(rounds):
        before = len(reached)
        for first, second in links:
            if reached & first:
                reached |= second
        if len(reached) == before:
            break
    return reached


def names_that_reach(index: FileIndex, ends: Iterable[ast.expr]) -> set[str]:
    """Variables and attributes whose values go into one of these expressions."""

    def links() -> list[Link]:
        made = [({owner}, variables_read(answer)) for owner, answer in _answers(index)]
        return [*_links(index), *made]

    start: set[str] = set()
    for one in ends:
        start |= variables_read(one)
    return spread(start, index.once((names_that_reach,), links))


def goes_into(node: ast.expr) -> set[str]:
    """Variables that a value is stored in, by itself or as part of something, and functions that
    give it; of several results the variable that is given this one.
    """
    index = file_of(node)

    def links() -> list[Link]:
        made = [(read, stored) for stored, read in _links(index)]
        for owner, answer in _answers(index):
            if parts := elements(answer):
                made += _taken_apart(index, owner, parts)
            else:
                made.append((variables_read(answer), {owner}))
        return made

    return spread(_kept_as(node), index.once((goes_into,), links))


def _taken_apart(index: FileIndex, function: str, parts: Sequence[ast.expr]) -> Iterator[Link]:
    """What each part of a function's answer goes into where the function is called."""
    for target, value in stores(index.tree):
        if called(value) == function:
            for one, part in zip(elements(target), parts, strict=False):
                yield variables_read(part), set(variables_stored(one))


def reaches(node: ast.expr, ends: Iterable[ast.expr]) -> bool:
    """Whether a value is within one of these expressions, or goes into one by a variable."""
    reached = goes_into(node)
    inside = set(around(node))
    return any(end in inside or reached & variables_read(end) for end in ends)


def _links(index: FileIndex) -> list[Link]:
    links: list[Link] = []
    for target, value in stores(index.tree):
        stored = set(variables_stored(target))
        links.append((stored, variables_read(value)))
    return links


def _answers(index: FileIndex) -> Iterator[tuple[str, ast.expr]]:
    """Functions by name, with what they give back."""
    for owner in within(index.tree, ast.FunctionDef):
        for answer in returned(owner):
            yield (owner.name, answer)


def _kept_as(node: ast.expr) -> set[str]:
    """What the statement of a value stores it in, or the function that gives it back."""
    statement = statement_of(node)
    kept: set[str] = set()
    for target, _ in stores(statement):
        kept.update(variables_stored(target))
    owner = function_of(statement)
    gives = isinstance(statement, ast.Return) and not elements(statement.value)
    if gives and isinstance(owner, ast.FunctionDef):
        kept.add(owner.name)
    return kept
