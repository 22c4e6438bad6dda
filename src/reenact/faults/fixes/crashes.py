"""Exceptions with a cure that one line makes: types, devices, the numbers of classes."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Kind, suggest
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    nodes_at,
    offered,
    reading_of,
    refused,
    with_method,
)
from reenact.probe.crash_values import outside
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import calls_in, elements, loops_of
from reenact.program.training.purpose import Purposes
from reenact.program.training.roles import is_loss_call


def one_type(evidence: Evidence) -> Fixes:
    """Inputs become float32 where the model is called, and the numbers of classes whole numbers where
    the loss is computed.
    """
    crash = evidence.crash
    reading = reading_of(evidence)
    if crash is None or reading is None:
        return ()
    purposes = Purposes(reading.loops)
    found: list[Fixes] = []
    for call in nodes_at(evidence, crash.place, ast.Call):
        if is_loss_call(call) and len(call.args) > 1:
            found.append(_as(evidence, call.args[1], ".float()"))
            found.append(_as(evidence, call.args[1], ".long()"))
        elif purposes.is_model(call.func) and call.args:
            found.insert(0, _as(evidence, call.args[0], ".float()"))
            found.append(_as(evidence, call.args[0], ".long()"))
    return offered(*found, refused("Which of the two tensors has the wrong type is not seen."))


def _as(evidence: Evidence, node: ast.expr, method: str) -> Fixes:
    kind = "float32" if method == ".float()" else "whole numbers"
    return edit(evidence, f"turn {excerpt(node)} into {kind}", with_method, node, method)


def one_device(evidence: Evidence) -> Fixes:
    """What a loop over batches gives goes to the device that the model is on."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    moved = [
        call
        for index in evidence.files
        for call in calls_in(index.tree, "to")
        if len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.Constant)
    ]
    found: list[Fixes] = []
    for sent in reading.loops.backwards:
        for loop in loops_of(sent):
            if isinstance(loop, ast.For) and elements(loop.target):
                found.append(_moved(evidence, loop, moved))
    return offered(*found, refused("On which device the model is, no name of the program says."))


def _moved(evidence: Evidence, loop: ast.For, moved: list[ast.Call]) -> Fixes:
    parts = [one.id for one in elements(loop.target) if isinstance(one, ast.Name)]
    device = next((one.args[0] for one in moved if isinstance(one.args[0], ast.Name)), None)
    if device is None or not parts or len(parts) != len(elements(loop.target)):
        return ()
    given = ", ".join(f"{one}.to({code_of(device)})" for one in parts)
    line = f"{', '.join(parts)} = {given}"
    return edit(evidence, "move each batch to the device of the model", _first, loop, line)


def _first(editor: SourceEditor, loop: ast.For, line: str) -> None:
    editor.before(loop.body[0], line)


def unit_for_each_class(evidence: Evidence) -> Fixes:
    """The output has a unit for each class; labels that begin with one begin with zero."""
    beyond = outside(evidence.crash) if evidence.crash is not None else None
    if beyond is None or evidence.crash is None:
        return ()
    labels, size = beyond
    found: list[Fixes] = []
    if labels.minimum == 1 and labels.maximum == size:
        for call in nodes_at(evidence, evidence.crash.place, ast.Call):
            if is_loss_call(call) and len(call.args) > 1:
                found.append(
                    edit(
                        evidence,
                        "count the classes from zero",
                        SourceEditor.wrap,
                        call.args[1],
                        "",
                        " - 1",
                    )
                )
    param = evidence.hyperparameter(Kind.UNITS, evidence.output)
    most = labels.maximum
    if param is not None and most is not None and (labels.minimum or 0) >= 0:
        found.append(tuple(suggest(param, (most + 1,))))
    return offered(*found)
