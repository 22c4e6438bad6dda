"""Classes that are rare."""

from __future__ import annotations

import ast

from reenact.faults import Evidence
from reenact.faults.fixes.drafting import (
    Fixes,
    edit,
    offered,
    reading_of,
    refused,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.pieces import (
    called,
    calls_in,
)
from reenact.program.training.purpose import Purposes
from reenact.program.training.roles import is_loss_call


def weigh_classes(evidence: Evidence, counts: tuple[int, ...], values: tuple[int, ...]) -> Fixes:
    """Rare classes weigh more, each as much as its rows are few."""
    if values != tuple(range(len(counts))) or min(counts) == 0:
        return refused("The labels are not the numbers from 0 on, so weights cannot be listed.")
    total = sum(counts)
    weights = [round(total / (len(counts) * one), 3) for one in counts]
    found: list[Fixes] = []
    for index in evidence.files:
        for call in index.calls:
            if called(call) == "fit" and evidence.framework == "keras":
                text = "{" + ", ".join(f"{n}: {w}" for n, w in enumerate(weights)) + "}"
                found.append(_weighed(evidence, call, "class_weight", text))
            elif called(call) in ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss"):
                found.append(_weighed_loss(evidence, call, weights))
            elif len(counts) == 2 and called(call) in ("BCEWithLogitsLoss",):
                ratio = round(counts[0] / counts[1], 3)
                found.append(_weighed_by_tensor(evidence, call, "pos_weight", [ratio]))
    return offered(*found, refused("No loss or fit that takes weights of classes is called here."))


def _weighed(evidence: Evidence, call: ast.Call, name: str, text: str) -> Fixes:
    if keyword(call, name) is not None:
        return ()
    return edit(
        evidence, "let rare classes weigh more", SourceEditor.set_argument, call, name, text
    )


def _weighed_loss(evidence: Evidence, call: ast.Call, weights: list[float]) -> Fixes:
    purposes = reading_of(evidence)
    judged = (
        is_loss_call(call)
        and purposes is not None
        and Purposes(purposes.loops).is_without_gradients(call)
    )
    return () if judged else _weighed_by_tensor(evidence, call, "weight", weights)


def _weighed_by_tensor(
    evidence: Evidence, call: ast.Call, name: str, weights: list[float]
) -> Fixes:
    if argument(call, None, name) is not None:
        return ()
    moved = [
        one
        for index in evidence.files
        for one in calls_in(index.tree, "to", "cuda")
        if one.args or called(one) == "cuda"
    ]
    device = ""
    if moved:
        place = moved[0].args[0] if moved[0].args else None
        if not isinstance(place, ast.Name):
            return refused("On which device the weights belong is not a name of the program.")
        device = f", device={place.id}"
    return edit(evidence, "let rare classes weigh more", _tensor, call, name, weights, device)


def _tensor(
    editor: SourceEditor, call: ast.Call, name: str, weights: list[float], device: str
) -> None:
    tensor = editor.name_for("torch.tensor", call)
    editor.set_argument(call, name, f"{tensor}({weights}{device})")
