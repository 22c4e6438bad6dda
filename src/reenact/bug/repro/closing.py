"""The last lines of a script for a silent bug: an assert that fails while the bug is there.

What the script leaves in `observed` decides how it is written: tensors, arrays and numbers are
asserted as anybody would; for everything else the functions of the watcher go along.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from reenact.claims.check import Check, Relation
from reenact.claims.inside.relations import FIVE_PERCENT, SMALLEST

PREFIX = "_"
"""Before each function of the watcher that goes along: no script uses these names."""
OBSERVED = "observed"
REFERENCE = "reference"
TENSOR = "tensor"
ARRAY = "array"
NUMBER = "number"
NUMBERS = "numbers"
WORD = "word"
_KINDS = {
    "torch.Tensor": TENSOR,
    "torch.nn.parameter.Parameter": TENSOR,
    "numpy.ndarray": ARRAY,
    "builtins.float": NUMBER,
    "builtins.int": NUMBER,
    "builtins.list of builtins.float": NUMBERS,
    "builtins.list of builtins.int": NUMBERS,
    "builtins.tuple of builtins.float": NUMBERS,
    "builtins.tuple of builtins.int": NUMBERS,
    "builtins.str": WORD,
    "builtins.bool": WORD,
    "builtins.NoneType": WORD,
}
"""What the watcher calls the class of a value -> how it is asserted."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What a script needs to end in an assert."""

    asserts: str
    """The last lines."""
    imports: tuple[str, ...] = ()
    """Modules that they need."""
    helpers: str = ""
    """Functions that they need."""
    before: str = ""
    """Lines before the script."""
    around: str = ""
    """The head of a block that the script stands in."""


def closing_of(check: Check, kinds: Mapping[str, str], *, plainly: bool = True) -> Closing:
    """The end of a script. `plainly`: as anybody would write it, where that can be done."""
    if check.relation is Relation.WARNS:
        words = [" ".join(part.split()).lower() for part in check.text.split("*") if part.strip()]
        shown = " and ".join(f"{word!r} in text" for word in words)
        return Closing(
            'texts = [" ".join(f"{one.category.__name__}: {one.message}".split()).lower() '
            f"for one in caught]\nassert not [text for text in texts if {shown}], texts",
            ("warnings",),
            around="with warnings.catch_warnings(record=True) as caught:",
            before='warnings.simplefilter("always")',
        )
    if check.relation is Relation.SLOWER:
        took = f"took = time.process_time() - began\nassert took <= {check.number:g}, took"
        return Closing(took, ("time",), before="began = time.process_time()")
    if check.relation is Relation.MEMORY:
        used = "used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024"
        return Closing(f"{used}\nassert used <= {check.number:g}, used", ("resource",))
    plain = _plain(check, kinds) if plainly else None
    if plain is not None:
        return plain
    holds = f"holds_{check.relation.value.replace('-', '_')}"
    reference = REFERENCE if check.needs_reference else "None"
    facts = {
        "relation": check.relation.value,
        "number": check.number,
        "text": check.text,
        "tolerance": check.tolerance,
    }
    values = f"{PREFIX}held({OBSERVED}), {PREFIX}held({reference})"
    asserts = f"assert not {PREFIX}{holds}({facts!r}, {values}), {OBSERVED}"
    return Closing(asserts, helpers=relations_text(holds, "held"))


def _plain(check: Check, kinds: Mapping[str, str]) -> Closing | None:
    """An assert as anybody would write it; none where the values are of another kind."""
    kind = _KINDS.get(kinds.get(OBSERVED, ""))
    other = _KINDS.get(kinds.get(REFERENCE, ""))
    if kind is None or (check.needs_reference and other != kind):
        return None
    relation = check.relation
    if relation in (Relation.SAME, Relation.DIFFERS):
        return _compared(check, kind)
    if relation is Relation.NO_GRADIENT:
        return _with_gradient(kinds[OBSERVED])
    if relation in (Relation.SHAPE, Relation.DTYPE, Relation.DEVICE):
        return _property(check, kind)
    return _bounded(check, kind)


def _compared(check: Check, kind: str) -> Closing | None:
    wanted = REFERENCE if check.number is None else f"{check.number!r}"
    tolerance = f"{check.tolerance:g}"
    small = f"{SMALLEST:g}"
    differs = check.relation is Relation.DIFFERS
    if check.number is not None and kind != NUMBER:
        return None
    if kind == WORD:
        return Closing(f"assert {OBSERVED} {'==' if differs else '!='} {wanted}, {OBSERVED}")
    if kind == NUMBER:
        close = f"math.isclose({OBSERVED}, {wanted}, rel_tol={tolerance}, abs_tol={small})"
        shown = f"({OBSERVED}, {wanted})"
        return Closing(f"assert {'' if differs else 'not '}{close}, {shown}", ("math",))
    if not differs or kind == NUMBERS:
        return None
    if kind == TENSOR:
        options = f"rtol={tolerance}, atol={small}, equal_nan=True, check_dtype=False"
        return Closing(
            f"torch.testing.assert_close({OBSERVED}, {REFERENCE}, {options})", ("torch",)
        )
    options = f"rtol={tolerance}, atol={small}"
    return Closing(f"numpy.testing.assert_allclose({OBSERVED}, {REFERENCE}, {options})", ("numpy",))


def _with_gradient(kind: str) -> Closing | None:
    if kind != "torch.nn.parameter.Parameter":
        return None
    has = f"{OBSERVED}.grad is not None and {OBSERVED}.grad.any()"
    return Closing(f"assert {has}, {OBSERVED}.grad")


def _property(check: Check, kind: str) -> Closing | None:
    """Shape, type or device of a tensor or an array."""
    if kind not in (TENSOR, ARRAY):
        return None
    name = check.relation.value
    if check.relation is Relation.SHAPE:
        sizes = ["".join(filter(str.isdigit, part)) for part in check.text.split(",")]
        wanted = f"[{', '.join(filter(None, sizes))}]" if check.text else f"list({REFERENCE}.shape)"
        return Closing(f"assert list({OBSERVED}.shape) == {wanted}, {OBSERVED}.shape")
    if not check.text:
        return Closing(f"assert {OBSERVED}.{name} == {REFERENCE}.{name}, {OBSERVED}.{name}")
    word = check.text.strip().strip("'\"<>").split(".")[-1].split("'")[-1].lower()
    seen = f'str({OBSERVED}.{name}).rpartition(".")[2]'
    return Closing(f"assert {seen} == {word!r}, {OBSERVED}.{name}")


_SMALLEST_OF = {
    TENSOR: f"{OBSERVED}.min()",
    ARRAY: f"{OBSERVED}.min()",
    NUMBER: OBSERVED,
    NUMBERS: f"min({OBSERVED})",
}
_LARGEST_OF = {
    TENSOR: f"{OBSERVED}.max()",
    ARRAY: f"{OBSERVED}.max()",
    NUMBER: OBSERVED,
    NUMBERS: f"max({OBSERVED})",
}
_MEAN_OF = {
    TENSOR: f"{OBSERVED}.double().mean()",
    ARRAY: f"{OBSERVED}.mean()",
    NUMBER: OBSERVED,
    NUMBERS: f"sum({OBSERVED}) / len({OBSERVED})",
}
_FINITE = {
    TENSOR: Closing(f"assert torch.isfinite({OBSERVED}).all(), {OBSERVED}", ("torch",)),
    ARRAY: Closing(f"assert numpy.isfinite({OBSERVED}).all(), {OBSERVED}", ("numpy",)),
    NUMBER: Closing(f"assert math.isfinite({OBSERVED}), {OBSERVED}", ("math",)),
    NUMBERS: Closing(f"assert all(map(math.isfinite, {OBSERVED})), {OBSERVED}", ("math",)),
}


def _bounded(check: Check, kind: str) -> Closing | None:
    if kind not in _MEAN_OF:
        return None
    if check.relation is Relation.NOT_FINITE:
        return _FINITE[kind]
    if check.relation is Relation.ABOVE:
        return Closing(f"assert {_LARGEST_OF[kind]} <= {check.number!r}, {OBSERVED}")
    if check.relation is Relation.BELOW:
        return Closing(f"assert {_SMALLEST_OF[kind]} >= {check.number!r}, {OBSERVED}")
    near = f"{FIVE_PERCENT} * abs({check.number!r})"
    return Closing(f"assert abs({_MEAN_OF[kind]} - {check.number!r}) > {near}, {OBSERVED}")


def relations_text(*wanted: str) -> str:
    """Source code of these functions of relations.py and of all that they call, without their
    docstrings and annotations.
    """
    tree = ast.parse(
        files("reenact.claims.inside").joinpath("relations.py").read_text(encoding="utf-8")
    )
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {
        target.id: node
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    modules = [one.name for node in tree.body if isinstance(node, ast.Import) for one in node.names]
    needed: list[str] = list(wanted)
    used: set[str] = set()
    for name in needed:
        names = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
        needed += [one for one in functions if one in names and one not in needed]
        used |= names
    imports = [f"import {name}" for name in modules if name in used]
    values = [ast.unparse(node) for name, node in constants.items() if name in used]
    defined = [_bare(node, set(functions)) for name, node in functions.items() if name in needed]
    heads = ["\n".join(one) for one in (imports, values) if one]
    return "\n\n\n".join([*heads, *defined]) + "\n"


def _bare(function: ast.FunctionDef, names: set[str]) -> str:
    """The source of a function without its docstring and its annotations, with the prefix before
    these names.
    """
    function.name = f"{PREFIX}{function.name}"
    function.returns = None
    if ast.get_docstring(function) is not None:
        function.body = function.body[1:]
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.Name) and node.id in names:
            node.id = f"{PREFIX}{node.id}"
    return ast.unparse(function)
