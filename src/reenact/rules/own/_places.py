"""Where findings point when a kind of hyperparameter alone does not tell: scaling, modes; and usual
values."""

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath

from reenact.rules import Evidence, Finding, Hyperparameter, JsonValue, Kind, LayerView, Place, suggest

MODAL = frozenset({"dropout", "norm"})
SAME_IN_BOTH_MODES = ("LayerNorm", "RMSNorm", "GroupNorm", "LayerNormalization", "GroupNormalization")
RATES: dict[str, tuple[JsonValue, ...]] = {
    "sgd": (0.01, 0.1, 0.001),
    "adadelta": (1.0, 0.1),
    "adagrad": (0.01, 0.1),
    "lbfgs": (1.0, 0.1),
}
USUAL: tuple[JsonValue, ...] = (0.001, 0.01, 0.0003)


def named_hyperparameter(evidence: Evidence, kind: Kind, name: str) -> Hyperparameter | None:
    """The hyperparameter of a kind that is filed under a name: `scale` and `encode`, `train` and `eval`."""
    return next((param for param in evidence.hyperparameters_of(kind) if param.id.layer == name), None)


def at_hyperparameter(
    finding: Finding, param: Hyperparameter | None, values: Sequence[JsonValue] = ()
) -> Finding:
    """The same finding, pointing at this hyperparameter."""
    if param is None:
        return finding
    found = (*finding.suggestions, *suggest(param, values))
    return replace(finding, hyperparameter=param.id, place=param.place, suggestions=found)


def has_modes(evidence: Evidence) -> bool:
    """Whether the model behaves differently in training and evaluation."""
    return any(
        (layer.family in MODAL and not layer.type.startswith(SAME_IN_BOTH_MODES)) or "dropout" in layer.name
        for layer in evidence.layers
    )


def optimizer_name(evidence: Evidence) -> str:
    """In lower case; from the text when nothing has run."""
    if evidence.optimizer is not None:
        return evidence.optimizer.name.lower()
    param = evidence.hyperparameter(Kind.OPTIMIZER)
    return str(param.in_force).rpartition(".")[2].lower() if param is not None else ""


def usual_rates(evidence: Evidence) -> tuple[JsonValue, ...]:
    return RATES.get(optimizer_name(evidence), USUAL)


def raw_inputs(evidence: Evidence) -> bool:
    """Whether the model is given numbers far from unit size."""
    inputs = evidence.inputs
    return inputs is not None and max(abs(inputs.mean or 0.0), inputs.std or 0.0) > 10


def framework(evidence: Evidence) -> str:
    """`torch` or `keras`."""
    if evidence.graph is not None:
        return evidence.graph.framework
    param = evidence.hyperparameter(Kind.LOSS) or evidence.hyperparameter(Kind.OPTIMIZER)
    return param.library if param is not None else ""


def call_place(evidence: Evidence, method: str) -> Place | None:
    """Where the text first calls a method of this name; none where it does not."""
    for path, tree in _trees(evidence, f".{method}("):
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _method(one) == method]
        for call in sorted(calls, key=lambda one: one.lineno):
            return Place(path, call.lineno, call.col_offset)
    return None


def pass_place(evidence: Evidence, layer: LayerView) -> Place | None:
    """Where the class that made a layer calls it as `self.name(...)`; none for a layer of a container."""
    made, name = layer.place, layer.name.rpartition(".")[2]
    for path, tree in _trees(evidence, f"self.{name}("):
        for owner in ast.walk(tree):
            if not isinstance(owner, ast.ClassDef) or made is None or made.file != path:
                continue
            if owner.lineno <= made.line <= (owner.end_lineno or 0):
                calls = [one for one in ast.walk(owner) if isinstance(one, ast.Call) and _method(one) == name]
                own = [one for one in calls if ast.unparse(one.func) == f"self.{name}"]
                return next((Place(path, one.lineno, one.col_offset) for one in own), None)
    return None


def _trees(evidence: Evidence, words: str) -> Iterator[tuple[PurePosixPath, ast.AST]]:
    """The parsed files of the program that have these words; of a notebook its script."""
    program = evidence.program
    for file in program.files if program is not None else ():
        script = program is not None and program.is_notebook and file is program.entry_file
        text = program.script() if program is not None and script else file.text
        if words in text:
            with suppress(SyntaxError):
                yield file.path, ast.parse(text)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def says(evidence: Evidence, *words: str) -> bool:
    """Whether the program's text has one of these words outside of lines that are comments."""
    if evidence.program is None:
        return False
    texts = [_COMMENT.sub("", file.text) for file in evidence.program.files]
    return any(word in text for text in texts for word in words)


_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
