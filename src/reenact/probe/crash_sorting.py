"""Sorts exceptions by what happened: by class, by the frame that raised, by the values at that call.

Each exception is of one kind; the first that fits counts. Words of a message decide only where nothing else
is known (errors from C++ code of torch), next to the class and the package that raised, and are never proof.
What the program raises itself is its own: no word in it says anything."""

import re
from dataclasses import dataclass

from reenact.probe.crash import PROGRAM, PYTHON, Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_phrases import kind_by_phrase
from reenact.probe.crash_values import (
    COMPUTES,
    labels_of_other_shape,
    lacks_device,
    needs_launcher,
    other_floats,
    outside,
    shapes_clash,
    wrong_type,
)
from reenact.probe.outcome import lacks_a_part, reads_keyboard


@dataclass(frozen=True, slots=True)
class Sorted:
    """The kind of an exception, and what that rests on."""

    kind: CrashKind
    by_words: bool = False
    """Decided by a phrase of its message."""


def sorted_crash(crash: Crash) -> Sorted:
    """The kind of an exception."""
    for decide in (_by_class, _by_frame, _by_values):
        kind = decide(crash)
        if kind is not None:
            return Sorted(kind)
    kind = kind_by_phrase(crash)
    if kind is not None:
        return Sorted(kind, by_words=True)
    return Sorted(CrashKind.OTHER)


def crash_kind(crash: Crash) -> CrashKind:
    return sorted_crash(crash).kind


def _by_class(crash: Crash) -> CrashKind | None:
    """Classes that say by themselves what happened."""
    facts = crash.facts
    if crash.is_a("SystemExit"):
        return CrashKind.ARGUMENTS
    if lacks_a_part(crash):
        return CrashKind.NAME
    if crash.is_a("FileNotFoundError", "NotADirectoryError", "ModuleNotFoundError"):
        return CrashKind.MISSING
    if facts.own:
        return CrashKind.OTHER
    if crash.is_a("MemoryError", "OutOfMemoryError"):
        return CrashKind.MEMORY
    if reads_keyboard(crash):
        return CrashKind.KEYBOARD
    if crash.is_a("NameError", "ImportError"):
        return CrashKind.NAME
    if crash.is_a("AttributeError"):
        return CrashKind.OTHER if facts.subject in (PROGRAM, PYTHON) else CrashKind.NAME
    if crash.is_a("TypeError") and facts.unexpected and facts.by not in (PROGRAM, PYTHON):
        return CrashKind.NAME
    return None


_RECURRENT = "torch.nn.modules.rnn"
_LOADS_MODELS = "keras.src.saving."
_BY_FUNCTION = {
    ("torch.nn.functional", "multi_head_attention_forward"): CrashKind.SHAPE,
    ("torch.nn.modules.module", "load_state_dict"): CrashKind.SHAPE,
    ("keras.src.trainers.data_adapters", "get_data_adapter"): CrashKind.DTYPE,
    (
        "keras.src.trainers.data_adapters.data_adapter_utils",
        "check_data_cardinality",
    ): CrashKind.LABEL,
}
"""Functions that refuse one thing only."""
_KERAS_LOSSES = re.compile(r"keras\.src\.losses\.losses|keras\.src\.backend\.\w+\.nn")
_KERAS_LOSS_FUNCTIONS = re.compile(
    r"(categorical|binary)_crossentropy$|^mean_.*_error$|hinge$|^(huber|log_cosh|poisson|kl_divergence)$"
)


def _by_frame(crash: Crash) -> CrashKind | None:
    """Functions that raise for one reason only."""
    facts = crash.facts
    inner = crash.facts.inner
    if inner is None:
        return None
    if needs_launcher(crash):
        return CrashKind.LAUNCHER
    if facts.argument is not None:
        return CrashKind.ARGUMENTS
    if facts.empty_data or (inner.module.startswith(_LOADS_MODELS) and crash.missing_file):
        return CrashKind.MISSING
    if lacks_device(crash):
        return CrashKind.NO_GPU
    if inner.module == _RECURRENT and facts.raised:
        return CrashKind.DTYPE if other_floats(crash) else CrashKind.SHAPE
    if inner.module == "keras.src.layers.input_spec":
        return CrashKind.SHAPE
    if _KERAS_LOSSES.fullmatch(inner.module) and _KERAS_LOSS_FUNCTIONS.search(inner.function):
        return CrashKind.LABEL
    if inner.module == "torch.serialization" and crash.is_a("UnpicklingError"):
        return CrashKind.NAME
    return _BY_FUNCTION.get((inner.module, inner.function)) if facts.raised else None


def _by_values(crash: Crash) -> CrashKind | None:
    """What the tensors at the raising call say."""
    facts = crash.facts
    tensors = facts.operands
    if not tensors or facts.by not in COMPUTES:
        return None
    # A single number may come from anywhere.
    if len({tensor.device.partition(":")[0] for tensor in tensors if tensor.shape}) > 1:
        return CrashKind.DEVICE
    if outside(crash) is not None:
        if facts.call == "embedding":
            return CrashKind.INDEX
        return CrashKind.LABEL
    if labels_of_other_shape(crash):
        return CrashKind.LABEL
    if shapes_clash(facts.call, tensors):
        return CrashKind.SHAPE
    return CrashKind.DTYPE if wrong_type(crash) else None
