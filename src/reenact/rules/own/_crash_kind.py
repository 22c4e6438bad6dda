"""Sorts exceptions by what happened: by class, by the frame that raised, by the values at that call.

Each exception is of one kind; the first that fits counts. Words of a message decide only where nothing else
is known (errors from C++ code of torch), next to the class and the package that raised, and are never proof.
What the program raises itself is its own: no word in it says anything."""

import re
from dataclasses import dataclass
from enum import StrEnum

from reenact.probe.crash import PROGRAM, PYTHON, Crash, CrashFrame, Operand
from reenact.probe.outcome import reads_keyboard


class CrashKind(StrEnum):
    """What ended the program."""

    ARGUMENTS = "arguments"
    KEYBOARD = "keyboard"
    LAUNCHER = "launcher"
    NO_GPU = "no-gpu"
    MEMORY = "memory"
    MISSING = "missing"
    NAME = "name"
    DEVICE = "device"
    INDEX = "index"
    LABEL = "label"
    DTYPE = "dtype"
    SHAPE = "shape"
    OTHER = "other"


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
    kind = _by_phrase(crash)
    return Sorted(kind, by_words=True) if kind is not None else Sorted(CrashKind.OTHER)


def crash_kind(crash: Crash) -> CrashKind:
    return sorted_crash(crash).kind


def _by_class(crash: Crash) -> CrashKind | None:
    """Classes that say by themselves what happened."""
    facts = crash.facts
    if crash.is_a("SystemExit"):
        return CrashKind.ARGUMENTS
    if crash.is_a("MemoryError", "OutOfMemoryError"):
        return CrashKind.MEMORY
    if crash.is_a("FileNotFoundError", "NotADirectoryError", "ModuleNotFoundError"):
        return CrashKind.MISSING
    if facts.own:
        return CrashKind.OTHER
    if crash.is_a("EOFError") and reads_keyboard(crash):
        return CrashKind.KEYBOARD
    if crash.is_a("NameError", "ImportError"):
        return CrashKind.NAME
    if crash.is_a("AttributeError"):
        return CrashKind.OTHER if facts.subject in (PROGRAM, PYTHON) else CrashKind.NAME
    if crash.is_a("TypeError") and facts.unexpected and facts.by not in (PROGRAM, PYTHON):
        return CrashKind.NAME
    return None


_RENDEZVOUS = "torch.distributed.rendezvous"
_SET_BY_LAUNCHERS = frozenset({"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"})
_TORCH_LOSSES = frozenset({
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "hinge_embedding_loss",
})  # fmt: skip
_KERAS_LOSSES = re.compile(r"keras\.src\.losses\.losses|keras\.src\.backend\.\w+\.nn")
_KERAS_LOSS_FUNCTIONS = re.compile(
    r"(categorical|binary)_crossentropy$|^mean_.*_error$|hinge$|^(huber|log_cosh|poisson|kl_divergence)$"
)


def _by_frame(crash: Crash) -> CrashKind | None:
    """Functions that raise for one reason only."""
    facts, inner = crash.facts, crash.facts.inner
    if inner is None:
        return None
    unset = _SET_BY_LAUNCHERS & set(facts.unset)
    if facts.variable in unset or (inner.module == _RENDEZVOUS and facts.raised and unset):
        return CrashKind.LAUNCHER
    if facts.cuda is not None and not facts.cuda.available and _asks_for_gpu(inner):
        return CrashKind.NO_GPU
    if inner.module == "keras.src.layers.input_spec":
        return CrashKind.SHAPE
    if _KERAS_LOSSES.fullmatch(inner.module) and _KERAS_LOSS_FUNCTIONS.search(inner.function):
        return CrashKind.LABEL
    return None


def _asks_for_gpu(frame: CrashFrame) -> bool:
    if frame.module == "torch.serialization":
        return "validate" in frame.function and "device" in frame.function
    return frame.module == "torch.cuda" or frame.module.startswith("torch.cuda.")


COMPUTES = frozenset({"torch", "keras", "tensorflow", "numpy", "jax", "sklearn"})
"""Packages whose exceptions speak of tensors."""
_MATRIX = frozenset({"linear", "matmul", "mm", "@", "addmm", "bmm"})
_ELEMENTWISE = frozenset({"+", "-", "*", "/", "add", "sub", "mul", "div", "mse_loss", "l1_loss"})
_CONVOLUTION = re.compile(r"conv[123]d")


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
        return CrashKind.INDEX if facts.call == "embedding" else CrashKind.LABEL
    if _in_torch_loss(facts.inner) and len(tensors) > 1 and _rows_differ(tensors[0], tensors[1]):
        return CrashKind.LABEL
    if _shapes_clash(facts.call, tensors):
        return CrashKind.SHAPE
    floats = {tensor.kind for tensor in tensors if tensor.kind.startswith(("float", "bfloat"))}
    whole = [tensor for tensor in tensors if tensor.kind.startswith(("int", "uint", "bool"))]
    multiplies = facts.call in _MATRIX or _CONVOLUTION.search(facts.call) is not None
    if multiplies and (len(floats) > 1 or (floats and whole)):
        return CrashKind.DTYPE
    return None


def outside(crash: Crash) -> tuple[Operand, int] | None:
    """The whole numbers of which one lies outside, and how many there may be: rows of a table, classes."""
    facts = crash.facts
    if len(facts.operands) < 2:
        return None
    first, second = facts.operands[:2]
    if facts.call == "embedding":
        size = first.shape[0] if first.shape else 0
    elif facts.inner is not None and facts.inner.function in ("cross_entropy", "nll_loss"):
        size = first.shape[1] if len(first.shape) > 1 else 0
    else:
        return None
    if not size or second.maximum is None or second.minimum is None:
        return None
    # The usual number for rows that do not count.
    ignored = facts.call != "embedding" and second.minimum == -100
    beyond = second.maximum >= size or (second.minimum < 0 and not ignored)
    return (second, size) if beyond else None


def _in_torch_loss(frame: CrashFrame | None) -> bool:
    return frame is not None and frame.module == "torch.nn.functional" and frame.function in _TORCH_LOSSES


def _rows_differ(output: Operand, target: Operand) -> bool:
    if output.shape[:1] != target.shape[:1]:
        return True
    return len(output.shape) == len(target.shape) and output.shape != target.shape


def _shapes_clash(call: str, tensors: tuple[Operand, ...]) -> bool:
    if len(tensors) < 2 or not tensors[0].shape or not tensors[1].shape:
        return False
    first, second = tensors[0].shape, tensors[1].shape
    if call == "linear":
        return first[-1] != second[-1]
    if call in _MATRIX:
        return first[-1] != (second[-2] if len(second) > 1 else second[0])
    if _CONVOLUTION.fullmatch(call):
        ranks = (len(second), len(second) - 1)
        return len(first) not in ranks or first[-len(second) + 1] != second[1]
    if call in _ELEMENTWISE:
        pairs = zip(reversed(first), reversed(second), strict=False)
        return any(one != other and 1 not in (one, other) for one, other in pairs)
    return False


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
_COMPUTING = ("RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError", "OpError")


@dataclass(frozen=True, slots=True)
class _Phrase:
    kind: CrashKind
    classes: tuple[str, ...]
    pattern: re.Pattern[str]
    packages: frozenset[str] = COMPUTES


def _phrase(
    kind: CrashKind, classes: tuple[str, ...], pattern: str, packages: frozenset[str] = COMPUTES
) -> _Phrase:
    return _Phrase(kind, classes, re.compile(pattern, re.IGNORECASE), packages)


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
        r"tensors to be on the same device|expected device|torch\.cuda\.\w+tensor\b.*should be the same"
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
    _phrase(CrashKind.SHAPE, _COMPUTING, r"incompatible with the layer|expected (min_|max_)?ndim"),
    _phrase(
        CrashKind.DTYPE,
        _COMPUTING,
        r"same dtype|dtype \w+ but expected|expected (object of )?scalar types?|to have scalar type"
        r"|found dtype|should be the same$|input type \(|not implemented for '(long|int|half|double|byte)'"
        r"|can't convert np\.ndarray of type|unsupported object type|invalid dtype|cannot cast"
        r"|expected .* to have .*type|must be .*(long|int|float|double).* but got|data type|cast from",
    ),
    _phrase(
        CrashKind.SHAPE,
        _COMPUTING,
        r"shapes cannot be multiplied|size mismatch|sizes of tensors must match|size of tensor a"
        r"|could not be broadcast|shapes? \(?.* not aligned|cannot reshape|inhomogeneous shape"
        r"|invalid for input of size|expected input\[|expected \d-?d|expected \d+ ?d |got input of size"
        r"|output size is too small|kernel size can't be greater|more than 1 value per channel"
        r"|batch1 and batch2|input\.size\(-1\)|incompatible shapes?|dimensions must be equal"
        r"|expects? .* to have (shape|\d+ channels)|must have the same shape|inconsistent numbers of samples"
        r"|negative dimension|dimension out of range|shape .* is invalid|mat1 dim|inner dimension"
        r"|expected .* input \(got|weight of size|normalized_shape|shape mismatch",
    ),
)


def _by_phrase(crash: Crash) -> CrashKind | None:
    facts, inner = crash.facts, crash.facts.inner
    if inner is not None and inner.module.startswith(_HANDS_ON):
        return None
    # What Keras lists after this names shapes and types of everything, right or wrong.
    message = crash.message.partition("Arguments received by")[0]
    for phrase in _PHRASES:
        of_package = not facts.by or facts.by in phrase.packages
        if of_package and crash.is_a(*phrase.classes) and phrase.pattern.search(message):
            return phrase.kind
    return None
