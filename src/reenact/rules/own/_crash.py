"""Sorts exceptions by what is likely to be wrong. Each belongs to one kind; the first that fits counts."""

import re
from enum import StrEnum
from typing import ClassVar

from reenact.probe.outcome import Crash
from reenact.program.change import Set
from reenact.program.patch import Patch
from reenact.rules import Certainty, Culprit, Evidence, Fault, Findings, Kind, Needs, Suggestion
from reenact.rules.neuralint._shape import map_given, other_rank_given, view_of


class CrashKind(StrEnum):
    """What ended the program."""

    MEMORY = "memory"
    MISSING = "missing"
    NAME = "name"
    DEVICE = "device"
    LABEL = "label"
    DTYPE = "dtype"
    SHAPE = "shape"
    OTHER = "other"


_TYPES = {
    **dict.fromkeys(("MemoryError", "OutOfMemoryError"), CrashKind.MEMORY),
    **dict.fromkeys(("FileNotFoundError", "ModuleNotFoundError"), CrashKind.MISSING),
    **dict.fromkeys(("AttributeError", "ImportError", "NameError"), CrashKind.NAME),
}
_MESSAGES = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in (
    (CrashKind.MEMORY, r"out of memory|not enough memory|can't allocate memory|unable to allocate"),
    (CrashKind.MISSING, r"no such file|no module named|unable to open file|dataset not found"),
    (CrashKind.NAME, r"unexpected keyword argument|required positional argument|unrecognized keyword"
                     r"|positional arguments? but|argument\(s\) not recognized"),
    (CrashKind.DEVICE, r"same device|expected device|torch\.cuda\.\w+tensor\b.*should be the same"
                       r"|input type .*cuda.*weight type|not compiled with cuda|no nvidia driver"),
    (CrashKind.LABEL, r"target \S+ is out of bounds|target size|target tensor|target dtype|target batch_size"
                      r"|class values must be|between 0 and 1|cur_target|labels? .*(shape|rank|out of)"
                      r"|target\.shape|y_true|`target` and `output`|one_hot|label value"
                      r"|assert.*t >= 0 && t < n_classes"),
    (CrashKind.SHAPE, r"incompatible with the layer|expected axis|expected (min_|max_)?ndim"),
    (CrashKind.DTYPE, r"dtype|scalar types?|expected .* to have .*type|found type|data type|cast from"
                      r"|expected object of|input type \(|not implemented for '(long|int|half|double|byte)'"
                      r"|can't convert np\.ndarray of type|unsupported operand type"),
    (CrashKind.SHAPE, r"shapes? |size mismatch|sizes of tensors|size of tensor|dimension|channels"
                      r"|expected .* input|rank|ndim|broadcast|incompatible with the layer|axis"
                      r"|more than 1 value|output size is too small|invalid for input of size"
                      r"|index out of range in self|dim\b"),
))  # fmt: skip
_BEYOND = re.compile(r"out of bounds|class values must be|cur_target|t >= 0 && t < n_classes", re.IGNORECASE)
"""A class that no unit of the output stands for."""
_LOSSES = (
    ("must have the same shape up until", ("categorical_crossentropy",)),
    ("must have the same shape", ("sparse_categorical_crossentropy",)),
)
"""What Keras writes when labels are one column a class, or numbers, and the loss takes the other."""
LONGEST = 240
_OF_LAYER = re.compile(r"""of layer ['"](?P<name>[\w/.-]+)['"]""")


def crash_kind(crash: Crash) -> CrashKind:
    """The kind of an exception, from its class and its message."""
    for name in (crash.type, *crash.bases):
        if name.rpartition(".")[2] in _TYPES:
            return _TYPES[name.rpartition(".")[2]]
    # What Keras lists behind this names shapes and types of everything, right or wrong.
    message = crash.message.partition("Arguments received by")[0]
    return next((kind for kind, pattern in _MESSAGES if pattern.search(message)), CrashKind.OTHER)


class CrashRule(Culprit):
    """A rule about one kind of exception: fires when the program ended with one of that kind."""

    kind: ClassVar[CrashKind]
    needs, confidence, certainty = Needs.CRASH, 0.95, Certainty.PROOF

    def check(self, evidence: Evidence) -> Findings:
        yield from self.crashed(evidence)

    def crashed(self, evidence: Evidence, more: str = "") -> Findings:
        """The finding at the place that the exception speaks of; `more` is added to what was seen."""
        crash, kind = evidence.crash, self.kind
        if crash is None or crash_kind(crash) is not kind:
            return
        message, name = " ".join(crash.message.split()), _OF_LAYER.search(crash.message)
        short = message if len(message) <= LONGEST else f"{message[:LONGEST]}..."
        saw = f"{crash.type}: {short}{_layer(crash)}{more}"
        layer = next((one for one in evidence.layers if one.place and one.place == crash.layer_place), None)
        # The layer that Keras names as the one that cannot take what it was given.
        named = next((one for one in evidence.layers if name is not None and one.name == name["name"]), None)
        made = None
        if kind is CrashKind.SHAPE:
            # The inputs have another rank than the model was made for, or its output more than the labels.
            made = other_rank_given(evidence) or (map_given(evidence) if not crash.layer else None)
        if made is not None:
            view = view_of(evidence, made[0])
            yield self.finding(evidence, f"{saw}; {made[1]}", layer=view, place=made[0].place)
        elif kind is CrashKind.SHAPE and named is not None:
            yield self.finding(evidence, saw, layer=named, fault=Fault.LCN, place=named.place)
        elif kind is CrashKind.LABEL and _BEYOND.search(crash.message) and evidence.output is not None:
            yield self.finding(evidence, saw, layer=evidence.output, kind=Kind.UNITS, fault=Fault.LCN)
        elif kind is CrashKind.LABEL and evidence.place_of(Kind.LOSS) is not None:
            values = next((values for words, values in _LOSSES if words in crash.message), ())
            suggestions = _for_these_labels(evidence, values)
            yield self.finding(evidence, saw, kind=Kind.LOSS, suggestions=suggestions, fault=Fault.LCH)
        else:
            place = crash.layer_place if kind is CrashKind.SHAPE else None
            yield self.finding(evidence, saw, layer=layer, place=place or crash.place)


def _for_these_labels(evidence: Evidence, losses: tuple[str, ...]) -> tuple[Suggestion, ...]:
    """The loss alone is exchanged: the labels have the form that the new one takes already."""
    param = evidence.hyperparameter(Kind.LOSS)
    if param is None or not param.changeable:
        return ()
    return tuple(Suggestion(Patch((Set(param.id, one),)), param.id, param.in_force, one) for one in losses)


def _layer(crash: Crash) -> str:
    if not crash.layer:
        return ""
    given = ", ".join(f"{item.dtype} {tuple(item.shape)} on {item.device}" for item in crash.layer_inputs)
    where = f" made at line {crash.layer_place.line}" if crash.layer_place is not None else ""
    return f" (in {crash.layer}{where}{', given ' + given if given else ''})"
