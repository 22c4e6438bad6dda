"""What rules about exceptions share: which are theirs, where the finding is placed, and how it reads."""

import re
import shlex

from reenact.faults import (
    Certainty,
    Detector,
    Evidence,
    FaultType,
    Finding,
    Findings,
    Kind,
    LayerView,
    Suggestion,
)
from reenact.faults.facts.shapes import map_given, other_rank_given, view_of
from reenact.probe.crash import PROGRAM, Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_sorting import sorted_crash
from reenact.probe.crash_values import outside
from reenact.program.edit.change import Set
from reenact.program.patch import Patch

_BEYOND = re.compile(
    r"out of bounds|class values must be|cur_target|t >= 0 && t < n_classes",
    re.IGNORECASE,
)
"""A class that no unit of the output stands for."""
LONGEST = 240
OPERATORS = frozenset("@+-*/")
ABOUT_TENSORS = frozenset(
    {
        CrashKind.SHAPE,
        CrashKind.LABEL,
        CrashKind.DTYPE,
        CrashKind.DEVICE,
        CrashKind.INDEX,
        CrashKind.OTHER,
    }
)
BY_WORDS = 0.9
"""Confidence where only the message says what happened."""
_OF_LAYER = re.compile(r"""of layer ['"](?P<name>[\w/.-]+)['"]""")


def crashed(
    detector: Detector,
    evidence: Evidence,
    kind: CrashKind,
    more: str = "",
    why: str = "",
) -> Findings:
    """The finding at the place of an exception of this kind; `more` is added to what was seen, and
    `why` stands in place of the detector's own sentence.
    """
    crash = evidence.crash
    if crash is None:
        return
    sorting = sorted_crash(crash)
    if sorting.kind is not kind:
        return
    given = _given(crash) if kind in ABOUT_TENSORS else ""
    finding = _placed(
        detector,
        evidence,
        crash,
        kind,
        f"{_message(crash)}{given}{more}",
    )
    if why:
        finding = finding.refined(why=why)
    if sorting.by_words:
        confidence = min(finding.confidence, BY_WORDS)
        finding = finding.refined(confidence=confidence, certainty=Certainty.STRONG)
    yield finding


def _placed(
    detector: Detector,
    evidence: Evidence,
    crash: Crash,
    kind: CrashKind,
    saw: str,
) -> Finding:
    match kind:
        case CrashKind.SHAPE:
            return _shape(detector, evidence, crash, saw)
        case CrashKind.LABEL:
            return _label(detector, evidence, crash, saw)
    return detector.finding(
        evidence,
        saw,
        layer=_layer_of(evidence, crash),
        place=crash.place,
    )


def _shape(
    detector: Detector,
    evidence: Evidence,
    crash: Crash,
    saw: str,
) -> Finding:
    # The inputs have another rank than the model was made for, or its output more than the labels.
    other = other_rank_given(evidence)
    if other is None and not crash.layer:
        other = map_given(evidence)
    if other is not None:
        layer, words = other
        view = view_of(evidence, layer)
        return detector.finding(
            evidence,
            f"{saw}; {words}",
            layer=view,
            place=layer.place,
        )
    # The layer that Keras names as the one that cannot take what it was given.
    name = _OF_LAYER.search(crash.message)
    named = next(
        (view for view in evidence.layers if name is not None and view.name == name["name"]),
        None,
    )
    if named is not None:
        return detector.finding(
            evidence,
            saw,
            layer=named,
            study=FaultType.LCN,
            place=named.place,
        )
    # Where it was made, unless its forward pass is the program's own.
    inner = crash.facts.inner
    own = inner is not None and inner.owner == PROGRAM
    place = crash.place if own else crash.layer_place or crash.place
    return detector.finding(
        evidence,
        saw,
        layer=_layer_of(evidence, crash),
        place=place,
    )


def _label(
    detector: Detector,
    evidence: Evidence,
    crash: Crash,
    saw: str,
) -> Finding:
    beyond = outside(crash) is not None or _BEYOND.search(crash.message) is not None
    if beyond and evidence.output is not None:
        return detector.finding(
            evidence,
            saw,
            layer=evidence.output,
            kind=Kind.UNITS,
            study=FaultType.LCN,
        )
    if evidence.place_of(Kind.LOSS) is not None:
        suggestions = _for_these_labels(evidence, losses_for(evidence, crash))
        return detector.finding(
            evidence,
            saw,
            kind=Kind.LOSS,
            suggestions=suggestions,
            study=FaultType.LCH,
        )
    return detector.finding(
        evidence,
        saw,
        layer=_layer_of(evidence, crash),
        place=crash.place,
    )


def command(evidence: Evidence, before: str = "", after: str = "") -> str:
    """The line that diagnoses the same program, with words in front of it or after it."""
    program = (
        shlex.join(evidence.program.launch.words) if evidence.program is not None else "PROGRAM"
    )
    return " ".join(filter(None, ("reenact diagnose", before, program, after)))


def losses_for(evidence: Evidence, crash: Crash) -> tuple[str, ...]:
    """The loss of Keras that takes labels of the form that these have; nothing where that is
    not known.
    """
    inner = crash.facts.inner
    tensors = crash.facts.operands
    function = inner.function if inner is not None else ""
    if len(tensors) < 2:
        # What Keras writes when labels are one column a class, or numbers, and the loss takes the
        # other.
        if "must have the same shape up until" in crash.message:
            return ("categorical_crossentropy",)
        if "must have the same shape" not in crash.message:
            return ()
        return ("sparse_categorical_crossentropy",)
    target, output = tensors[:2]
    width = output.shape[-1] if output.shape else 0
    if function.startswith("sparse"):
        if target.shape == output.shape:
            return ("categorical_crossentropy",)
        return ()
    labels = evidence.labels
    numbers = len(target.shape) < len(output.shape) or target.shape[-1:] == (1,)
    classes = labels is not None and labels.integral and (labels.maximum or 0) < width
    if numbers and classes and width > 1:
        return ("sparse_categorical_crossentropy",)
    return ()


def _for_these_labels(
    evidence: Evidence,
    losses: tuple[str, ...],
) -> tuple[Suggestion, ...]:
    """The loss alone is exchanged: the labels have the form that the new one takes already."""
    param = evidence.hyperparameter(Kind.LOSS)
    if param is None or not param.changeable:
        return ()
    return tuple(
        Suggestion(
            Patch((Set(param.id, one),)),
            param.id,
            param.in_force,
            one,
        )
        for one in losses
    )


def _layer_of(evidence: Evidence, crash: Crash) -> LayerView | None:
    for view in evidence.layers:
        if view.place and view.place == crash.layer_place:
            return view
    return None


def _message(crash: Crash) -> str:
    message = " ".join(crash.message.split())
    short = message.removesuffix(".") if len(message) <= LONGEST else f"{message[:LONGEST]}..."
    # The message of a usage error is the line that the program printed.
    if crash.is_a("SystemExit"):
        return short
    return f"{crash.type}: {short}".removesuffix(": ")


def _given(crash: Crash) -> str:
    """The layer that raised and what it was given; else the tensors of the call."""
    if crash.layer:
        given = ", ".join(
            f"{item.dtype} {tuple(item.shape)} on {item.device}" for item in crash.layer_inputs
        )
        where = f" made at line {crash.layer_place.line}" if crash.layer_place is not None else ""
        return f" (in {crash.layer}{where}{', given ' + given if given else ''})"
    facts = crash.facts
    tensors = facts.operands
    if not tensors:
        return ""
    if facts.call in OPERATORS and len(tensors) == 2:
        return f" ({tensors[0].words} {facts.call} {tensors[1].words})"
    words = ", ".join(tensor.words for tensor in tensors[:3])
    if facts.call:
        return f" ({facts.call} of {words})"
    return f" (with {words})"
