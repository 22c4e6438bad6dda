"""What to do about an exception, as its values say it: which size, which type, which device."""

from reenact.probe.crash import Crash, Operand
from reenact.probe.crash_values import (
    CONVOLUTION,
    FLOATS,
    NO_NUMBERS,
    label_type,
    other_floats,
    shapes_clash,
    shapes_of_pair,
)

_BATCHES = "torch.utils.data._utils.collate"
_LISTS = "keras.src.trainers.data_adapters"


def shape_advice(crash: Crash) -> str:
    """The sizes that do not fit and what to change; empty where more than the message is not
    known.
    """
    facts = crash.facts
    tensors = facts.operands
    if facts.inner is not None and facts.inner.function == "load_state_dict":
        return "The checkpoint belongs to another model: build the model that it was saved from."
    if facts.call == "stack":
        in_batch = facts.inner is not None and facts.inner.module == _BATCHES
        rows = "Rows of a batch" if in_batch else "Tensors that are stacked"
        return f"{rows} must all have the same shape: pad, crop or resize them first."
    if len(tensors) < 2 or not tensors[0].shape or not tensors[1].shape:
        return ""
    first = tensors[0].shape
    second = tensors[1].shape
    width = {
        "linear": -1,
        "batch_norm": 1,
        "layer_norm": -1,
        "group_norm": 1,
    }.get(facts.call)
    if width is not None and first[width:] and first[width] != second[-1]:
        layer = crash.layer or "The layer"
        fix = f"make it {first[width]} wide, or the layer before it {second[-1]}"
        return f"{layer} takes {second[-1]} features and is given {first[width]}: {fix}."
    if CONVOLUTION.fullmatch(facts.call) and len(first) == len(second) and first[1] != second[1]:
        fix = f"build it for {first[1]}, or give it {second[1]}"
        if first[-1] == second[1]:
            fix = "channels come last here, move them with movedim(-1, 1)"
        layer = crash.layer or "The convolution"
        return f"{layer} takes {second[1]} channels and is given {first[1]}: {fix}."
    if facts.call in ("@", "matmul", "mm", "bmm") and len(second) > 1 and first[-1] != second[-2]:
        return f"The inner sizes of a matrix product must agree, here {first[-1]} and {second[-2]}."
    if shapes_clash(facts.call, tensors):
        return f"Shapes {first} and {second} cannot be broadcast to one."
    return ""


def dtype_advice(crash: Crash) -> str:
    """Which type is wanted and how to get it; empty where more than the message is not known."""
    facts = crash.facts
    tensors = facts.operands
    wanted = label_type(crash)
    if wanted == "float":
        return "This loss takes labels as floats: convert them with .float()."
    if wanted:
        return "This loss takes class numbers of type int64: convert them with .long()."
    if facts.inner is not None and facts.inner.module == _LISTS:
        return "Keras takes arrays and tensors, not lists: convert them with numpy.array(...)."
    if any(tensor.kind.startswith(NO_NUMBERS) for tensor in tensors):
        return "The array holds text or objects, not numbers: convert it with .astype(float) first."
    if facts.call == "embedding" and len(tensors) > 1 and tensors[1].kind.startswith(FLOATS):
        return "Indices of an embedding are whole numbers: convert them with .long()."
    if other_floats(crash):
        given = crash.layer_inputs[0].dtype
        weights = crash.layer_dtype
        return f"The input is {given}, the weights are {weights}: convert it with .to({weights})."
    return _to_weights(tensors)


def _to_weights(tensors: tuple[Operand, ...]) -> str:
    if len(tensors) < 2 or tensors[0].kind == tensors[1].kind:
        return ""
    given, weights = tensors[:2]
    differ = f"{given.name} is {given.kind}, {weights.name} is {weights.kind}"
    torch = given.dtype.startswith("torch.") and weights.dtype.startswith("torch.")
    if torch:
        return f"{differ}: convert one with .to({weights.dtype})."
    return f"{differ}: convert one of them."


def label_advice(crash: Crash) -> str:
    """What labels or outputs a loss takes; empty where more than the message is not known."""
    facts = crash.facts
    counted = facts.inner is not None and facts.inner.function == "check_data_cardinality"
    if counted and len(facts.operands) > 1:
        rows = [str(tensor.shape[0]) for tensor in facts.operands if tensor.shape]
        return f"Inputs and labels must have the same number of rows, here {' and '.join(rows)}."
    if shapes_of_pair(crash):
        shapes = f"{facts.operands[0].shape} and {facts.operands[1].shape}"
        same = f"This loss takes an output and labels of the same shape, here {shapes}"
        column = facts.operands[0].shape == (*facts.operands[1].shape, 1)
        if column:
            return f"{same}: squeeze the output with .squeeze(-1)."
        return f"{same}."
    whole = all(tensor.kind.startswith(FLOATS) for tensor in facts.operands)
    if facts.call == "binary_cross_entropy" and whole and "of input" in crash.message:
        return (
            "BCELoss takes probabilities: use BCEWithLogitsLoss, or put a sigmoid in front of it."
        )
    return ""
