"""What frames and values of an exception say: facts that hold whatever its message is."""

import re

from reenact.probe.crash import Crash, CrashFrame, Operand

RENDEZVOUS = "torch.distributed.rendezvous"
PROCESS_GROUP = ("torch.distributed.distributed_c10d", "_get_default_group")
SET_BY_LAUNCHERS = frozenset({"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"})
TORCH_LOSSES = frozenset(
    {
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
        "hinge_embedding_loss",
    }
)
DIFFERENCES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
FUNCTIONS = "torch.nn.functional"
COMPUTES = frozenset({"torch", "keras", "tensorflow", "numpy", "jax", "sklearn"})
"""Packages whose exceptions speak of tensors."""
FLOATS = ("float", "bfloat")
WHOLE = ("int", "uint", "bool")
NO_NUMBERS = ("object", "<U", "|S")
"""What NumPy makes of text, and of rows of different lengths."""
MATRIX = frozenset({"linear", "matmul", "mm", "@", "addmm", "bmm"})
ELEMENTWISE = frozenset(
    {
        "+",
        "-",
        "*",
        "/",
        "add",
        "sub",
        "mul",
        "div",
        "mse_loss",
        "l1_loss",
    }
)
CONVOLUTION = re.compile(r"conv[123]d")


def needs_launcher(crash: Crash) -> bool:
    """Whether a variable that launchers set was asked for, and is not set."""
    facts = crash.facts
    inner = crash.facts.inner
    unset = SET_BY_LAUNCHERS & set(facts.unset)
    joins = inner is not None and inner.module == RENDEZVOUS and facts.raised
    return facts.variable in unset or bool(unset and (joins or needs_group(crash)))


def needs_group(crash: Crash) -> bool:
    """Whether a process group was asked for, and `init_process_group` was never called."""
    inner = crash.facts.inner
    return (
        inner is not None and (inner.module, inner.function) == PROCESS_GROUP and crash.facts.raised
    )


def lacks_device(crash: Crash) -> bool:
    """Whether torch was asked for a device that it does not have."""
    facts = crash.facts
    inner = crash.facts.inner
    if (
        inner is not None
        and facts.cuda is not None
        and not facts.cuda.available
        and _asks_for_gpu(inner)
    ):
        return True
    return facts.device is not None and not facts.device.available and facts.by == "torch"


def _asks_for_gpu(frame: CrashFrame) -> bool:
    if frame.module == "torch.serialization":
        return "validate" in frame.function and "device" in frame.function
    return frame.module == "torch.cuda" or frame.module.startswith("torch.cuda.")


def other_floats(crash: Crash) -> bool:
    """Whether a layer was given floats of another type than its weights have."""
    given = crash.layer_inputs[0].dtype if crash.layer_inputs else ""
    return bool(crash.layer_dtype) and "float" in given and given != crash.layer_dtype


def outside(crash: Crash) -> tuple[Operand, int] | None:
    """The whole numbers of which one lies outside, and how many there may be: rows of a table,
    classes.
    """
    facts = crash.facts
    if len(facts.operands) < 2:
        return None
    first, second = facts.operands[:2]
    if facts.call == "embedding":
        size = first.shape[0] if first.shape else 0
    elif facts.inner is not None and facts.inner.function in (
        "cross_entropy",
        "nll_loss",
    ):
        size = first.shape[1] if len(first.shape) > 1 else 0
    else:
        return None
    if not size or second.maximum is None or second.minimum is None:
        return None
    # The usual number for rows that do not count.
    ignored = facts.call != "embedding" and second.minimum == -100
    beyond = second.maximum >= size or (second.minimum < 0 and not ignored)
    return (second, size) if beyond else None


def shapes_of_pair(crash: Crash) -> bool:
    """Whether a loss that compares number with number was given two shapes."""
    tensors = crash.facts.operands
    # Some have torch broadcast the two first.
    function = next(
        (frame.function for frame in reversed(crash.facts.stack) if frame.module == FUNCTIONS),
        "",
    )
    if len(tensors) < 2 or crash.facts.by != "torch":
        return False
    if function.startswith("binary_cross_entropy"):
        return tensors[0].shape != tensors[1].shape
    return function in DIFFERENCES and shapes_clash("-", tensors)


def label_type(crash: Crash) -> str:
    """The type that labels of this loss must have, where they have another; else empty."""
    inner = crash.facts.inner
    tensors = crash.facts.operands
    if inner is None or len(tensors) < 2 or not in_torch_loss(inner):
        return ""
    output, target = tensors[:2]
    if inner.function.startswith("binary_cross_entropy"):
        return "" if target.kind.startswith(FLOATS) else "float"
    shares = len(output.shape) == len(target.shape) and target.kind.startswith(FLOATS)
    if inner.function in ("cross_entropy", "nll_loss") and not shares:
        if target.kind in ("int64", "uint8"):
            return ""
        return "int64"
    return ""


def in_torch_loss(frame: CrashFrame | None) -> bool:
    """Whether a loss of `torch.nn.functional` raised."""
    return frame is not None and frame.module == FUNCTIONS and frame.function in TORCH_LOSSES


def _rows_differ(output: Operand, target: Operand) -> bool:
    if output.shape[:1] != target.shape[:1]:
        return True
    return len(output.shape) == len(target.shape) and output.shape != target.shape


def shapes_clash(call: str, tensors: tuple[Operand, ...]) -> bool:
    """Whether this call cannot take tensors of these shapes."""
    if len(tensors) < 2:
        return False
    if call == "stack":
        return len({tensor.shape for tensor in tensors}) > 1
    if not tensors[0].shape or not tensors[1].shape:
        return False
    first = tensors[0].shape
    second = tensors[1].shape
    if call == "linear":
        return first[-1] != second[-1]
    if call in ("batch_norm", "group_norm"):
        return len(first) > 1 and first[1] != second[0]
    if call == "layer_norm":
        return first[-len(second) :] != second
    if call in MATRIX:
        return first[-1] != (second[-2] if len(second) > 1 else second[0])
    if CONVOLUTION.fullmatch(call):
        ranks = (len(second), len(second) - 1)
        return len(first) not in ranks or first[-len(second) + 1] != second[1]
    if call in ELEMENTWISE:
        pairs = zip(reversed(first), reversed(second), strict=False)
        return any(one != other and 1 not in (one, other) for one, other in pairs)
    return False


def wrong_type(crash: Crash) -> bool:
    """Whether the type of a tensor is one that this call does not take."""
    facts = crash.facts
    tensors = crash.facts.operands
    if label_type(crash) or any(tensor.kind.startswith(NO_NUMBERS) for tensor in tensors):
        return True
    if facts.call == "embedding":
        return len(tensors) > 1 and tensors[1].kind.startswith(FLOATS)
    if facts.call not in MATRIX and not CONVOLUTION.search(facts.call):
        return False
    floats = {tensor.kind for tensor in tensors if tensor.kind.startswith(FLOATS)}
    whole = [tensor for tensor in tensors if tensor.kind.startswith(WHOLE)]
    return len(floats) > 1 or bool(floats and whole)


def labels_of_other_shape(crash: Crash) -> bool:
    """Whether a loss of torch was given labels of a shape that does not go with the output."""
    tensors = crash.facts.operands
    if shapes_of_pair(crash):
        return True
    classes = in_torch_loss(crash.facts.inner) and len(tensors) > 1
    return classes and _rows_differ(tensors[0], tensors[1])
