"""Phrases of messages, each with the classes and the packages next to which it counts.

The last resort, for errors out of C++ code of which no value is known. They are never proof."""

import re
from dataclasses import dataclass

from reenact.probe.crash import PYTHON, Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_values import COMPUTES

_HANDS_ON = ("torch._utils", "torch.multiprocessing.", "torch.utils.data.")
"""Modules that raise again what was raised in another process: whose it was is not known."""
_LIBRARY = COMPUTES | {
    "torchvision",
    "torchaudio",
    "transformers",
    "lightning",
    "pytorch_lightning",
    "pandas",
}
_COMPUTING = (
    "RuntimeError",
    "ValueError",
    "IndexError",
    "TypeError",
    "NotImplementedError",
    "OpError",
)


@dataclass(frozen=True, slots=True)
class _Phrase:
    kind: CrashKind
    classes: tuple[str, ...]
    pattern: re.Pattern[str]
    packages: frozenset[str] = COMPUTES


def _phrase(
    kind: CrashKind,
    classes: tuple[str, ...],
    pattern: str,
    packages: frozenset[str] = COMPUTES,
) -> _Phrase:
    return _Phrase(
        kind,
        classes,
        re.compile(pattern, re.IGNORECASE),
        packages,
    )


_PHRASES = (
    _phrase(
        CrashKind.MEMORY,
        ("RuntimeError", "OpError"),
        r"out of memory|not enough memory|can't allocate memory|unable to allocate",
    ),
    _phrase(
        CrashKind.MISSING,
        ("OSError", "RuntimeError"),
        r"unable to open file|dataset not found",
        _LIBRARY | {"h5py", PYTHON},
    ),
    _phrase(
        CrashKind.NAME,
        ("TypeError", "ValueError"),
        r"unexpected keyword argument|required positional argument|unrecognized keyword"
        r"|positional arguments? but|argument\(s\) not recognized|invalid combination of arguments",
        _LIBRARY,
    ),
    _phrase(
        CrashKind.DEVICE,
        ("RuntimeError", "ValueError"),
        r"tensors to be on the same device|expected device|torch\.cuda\.\w+tensor\b.*should be "
        r"the same"
        r"|input type .*cuda.*weight type",
    ),
    _phrase(
        CrashKind.LABEL,
        _COMPUTING,
        r"target \S+ is out of bounds|using a target size|target tensor|target batch_size"
        r"|class values must be|elements of (target|input) should be between 0 and 1|cur_target"
        r"|target\.shape|`target` and `output`|received a label value"
        r"|assert.*t >= 0 && t < n_classes",
    ),
    _phrase(
        CrashKind.SHAPE,
        _COMPUTING,
        r"incompatible with the layer|expected (min_|max_)?ndim",
    ),
    _phrase(
        CrashKind.DTYPE,
        _COMPUTING,
        r"same dtype|dtype \w+ but expected|expected (object of )?scalar types?|to have scalar type"
        r"|found dtype|should be the same$|input type \(|not implemented for "
        r"'(long|int|half|double|byte)'"
        r"|can't convert np\.ndarray of type|unsupported object type|invalid dtype|cannot cast"
        r"|expected .* to have .*type|must be .*(long|int|float|double).* but got|data type|cast "
        r"from",
    ),
    _phrase(
        CrashKind.SHAPE,
        _COMPUTING,
        r"shapes cannot be multiplied|size mismatch|sizes of tensors must match|size of tensor a"
        r"|could not be broadcast|shapes? \(?.* not aligned|cannot reshape|inhomogeneous shape"
        r"|invalid for input of size|expected input\[|expected \d-?d|expected \d+ ?d |got input "
        r"of size"
        r"|output size is too small|kernel size can't be greater|more than 1 value per channel"
        r"|batch1 and batch2|input\.size\(-1\)|incompatible shapes?|dimensions must be equal"
        r"|expects? .* to have (shape|\d+ channels)|must have the same shape|inconsistent numbers "
        r"of samples"
        r"|negative dimension|dimension out of range|shape .* is invalid|mat1 dim|inner dimension"
        r"|expected .* input \(got|weight of size|normalized_shape|shape mismatch",
    ),
)


def kind_by_phrase(crash: Crash) -> CrashKind | None:
    """The kind that a phrase of its message speaks of."""
    facts = crash.facts
    inner = crash.facts.inner
    if inner is not None and inner.module.startswith(_HANDS_ON):
        return None
    # What Keras lists after this names shapes and types of everything, right or wrong.
    message = crash.message.partition("Arguments received by")[0]
    for phrase in _PHRASES:
        of_package = not facts.by or facts.by in phrase.packages
        if of_package and crash.is_a(*phrase.classes) and phrase.pattern.search(message):
            return phrase.kind
    return None
