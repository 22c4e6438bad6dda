"""Looks at values: whether a relation holds between what was observed and its reference. Needs
nothing but Python: it goes into the box, and into those scripts that are handed over whose assert
no one would write by hand.
"""

from __future__ import annotations

import math
from typing import Any

FIVE_PERCENT = 0.05
"""How near to a reported number the observed one must come (RepGen, section 4)."""
SMALLEST = 1e-7
"""A difference that is not one, whatever the values."""


# One function a relation of the closing check: `holds_` and its name.


def holds_not_finite(
    check: dict[str, Any],  # noqa: ARG001
    observed: Any,
    reference: Any,  # noqa: ARG001
) -> bool:
    """NaN or infinity in what was observed."""
    return any(isinstance(one, float) and not math.isfinite(one) for one in flat(observed))


def holds_same(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> bool:
    """The reference, or the expected number, in shape and within the tolerance in every value."""
    wanted = reference if check["number"] is None else check["number"]
    left, right = flat(observed), flat(wanted)
    if len(left) != len(right) or (len(left) > 1 and shape(observed) != shape(wanted)):
        return False
    return all(close(a, b, check["tolerance"]) for a, b in zip(left, right))  # noqa: B905 - of the same length


def holds_differs(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> bool:
    """Not the reference, or not the expected number."""
    return not holds_same(check, observed, reference)


def holds_near(
    check: dict[str, Any],
    observed: Any,
    reference: Any,  # noqa: ARG001
) -> bool:
    """Within five per cent of the reported number."""
    seen = numbers(observed)
    return bool(abs(sum(seen) / len(seen) - check["number"]) <= FIVE_PERCENT * abs(check["number"]))


def holds_above(
    check: dict[str, Any],
    observed: Any,
    reference: Any,  # noqa: ARG001
) -> bool:
    """Larger than the number."""
    return bool(max(numbers(observed)) > check["number"])


def holds_below(
    check: dict[str, Any],
    observed: Any,
    reference: Any,  # noqa: ARG001
) -> bool:
    """Smaller than the number."""
    return bool(min(numbers(observed)) < check["number"])


def holds_shape(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> bool:
    """Another shape than expected, written `2,3`, or than the reference has."""
    sizes = ["".join(filter(str.isdigit, part)) for part in check["text"].split(",")]
    return shape(observed) != (",".join(filter(None, sizes)) if check["text"] else shape(reference))


def holds_dtype(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> bool:
    """Another type of elements."""
    return dtype(observed) != (last_word(check["text"]) if check["text"] else dtype(reference))


def holds_device(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> bool:
    """On another device."""
    return device(observed) != (last_word(check["text"]) if check["text"] else device(reference))


def holds_no_gradient(
    check: dict[str, Any],  # noqa: ARG001
    observed: Any,
    reference: Any,  # noqa: ARG001
) -> bool:
    """A parameter without a gradient; what is not a parameter is taken for a gradient itself."""
    return bool(without_gradient(observed))


def without_gradient(observed: Any) -> list[str]:
    """Which parameters have no gradient, or only zeros."""
    found = []
    for name, one in named_items(observed, ""):
        is_parameter = getattr(one, "requires_grad", False) or type(one).__name__ == "Parameter"
        gradient = getattr(one, "grad", None) if is_parameter else one
        if gradient is None or not any(flat(gradient)):
            found.append(name)
    return found


def saw(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
    holds: bool,
) -> str:
    """The values in a few words; while the bug shows, those that show it first."""
    compared = f", reference {short(reference)}" if reference is not None else ""
    values = f"observed {short(observed)}{compared}"
    offence = offending(check, observed, reference) if holds else ""
    return f"{offence}; {values}" if offence else values


def offending(
    check: dict[str, Any],
    observed: Any,
    reference: Any,
) -> str:
    """Which element, parameter or property shows the bug."""
    relation = check["relation"]
    if relation in ("shape", "dtype", "device"):
        look = {"shape": shape, "dtype": dtype, "device": device}[relation]
        return (
            f"the {relation} is ({look(observed)}), expected ({check['text'] or look(reference)})"
        )
    if relation == "no-gradient":
        names = without_gradient(observed)
        return (
            f"without gradient: {', '.join(names[:6])} ({len(names)} of "
            f"{len(named_items(observed, ''))})"
        )
    if relation not in ("not-finite", "differs", "above", "below"):
        return ""
    left = flat(observed)
    right = flat(reference if check["number"] is None else check["number"])
    if relation == "not-finite":
        bad = [n for n, one in enumerate(left) if isinstance(one, float) and not math.isfinite(one)]
    elif relation == "differs":
        if len(left) != len(right):
            return f"{len(left)} values against {len(right)}"
        bad = [
            n
            for n, one in enumerate(left)
            if not close(
                one,
                right[n],
                check["tolerance"],
            )
        ]
    else:
        bad = [n for n, one in enumerate(left) if isinstance(one, (int, float))]
        bad = [
            n for n in bad if (left[n] > right[0] if relation == "above" else left[n] < right[0])
        ]
    if not bad or len(left) == 1:
        return ""
    worst = bad[0]
    against = f", not {right[worst]!r:.40}" if relation == "differs" else ""
    place = f"observed{path_of(observed, worst)} = {left[worst]!r:.40}"
    return f"{len(bad)} of {len(left)} values, first {place}{against}"


def held(value: Any) -> Any:
    """An iterator as a list, so that it can be looked at more than once."""
    return list(value) if hasattr(value, "__next__") else value


def path_of(value: Any, number: int) -> str:
    """Where the value lies that `flat` counts as this one, as one would write it in Python."""
    value = plain(value)
    if isinstance(value, dict):
        for key in value:
            size = len(flat(value[key])) + 1
            if number < size:
                return f"[{key!r}]" + (path_of(value[key], number - 1) if number else "")
            number -= size
    if isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            size = len(flat(item))
            if number < size:
                return f"[{place}]" + path_of(item, number)
            number -= size
    return ""


def flat(value: Any) -> list[Any]:
    """The numbers and words in a value, in order, whatever they are packed in."""
    value = plain(value)
    if isinstance(value, dict):
        return [leaf for key in value for leaf in (key, *flat(value[key]))]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, complex):
        return [value.real, value.imag]
    return [
        value
        if isinstance(
            value,
            (
                bool,
                int,
                float,
                str,
                bytes,
                type(None),
            ),
        )
        else repr(type(value))
    ]


def short(value: Any) -> str:
    """A value in a few words."""
    leaves = flat(value)
    shown = ", ".join(
        f"{one:.6g}" if isinstance(one, float) else repr(one)[:60] for one in leaves[:6]
    )
    more = f", ... ({len(leaves)} values, shape {shape(value)})" if len(leaves) > 6 else ""
    return f"[{shown}{more}]" if len(leaves) != 1 else shown


def plain(value: Any) -> Any:
    """A tensor or array as lists, anything else as it is."""
    for step in ("detach", "cpu"):
        if hasattr(value, step):
            value = getattr(value, step)()
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


def close(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        both_nan = one != one and other != other
        return both_nan or math.isclose(
            one,
            other,
            rel_tol=tolerance,
            abs_tol=SMALLEST,
        )
    return bool(one == other)


def shape(value: Any) -> str:
    """The sizes of a value, written `2,3`; empty for a single one."""
    if hasattr(value, "shape"):
        return ",".join(str(int(size)) for size in value.shape)
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(str(len(value)))
        value = value[0] if value else None
    return ",".join(sizes)


def dtype(value: Any) -> str:
    """The type of the elements, without its module."""
    return last_word(str(getattr(value, "dtype", type(value).__name__)))


def device(value: Any) -> str:
    """Where a tensor lies."""
    return last_word(str(getattr(value, "device", "none")))


def last_word(text: str) -> str:
    """`torch.float32` and `<dtype: 'float32'>` are both float32."""
    return text.strip().strip("'\"<>").split(".")[-1].split("'")[-1].lower()


def numbers(value: Any) -> list[float]:
    """The numbers in a value; ValueError when there is none."""
    found = [float(one) for one in flat(value) if isinstance(one, (int, float))]
    if not found:
        raise ValueError(f"`observed` holds no number: {short(value)}")
    return found


def named_items(value: Any, name: str) -> list[tuple[str, Any]]:
    """The tensors in lists, dictionaries and pairs of name and tensor, each with its name or
    place.
    """
    if isinstance(value, (list, tuple)) and len(value) == 2 and isinstance(value[0], str):
        return named_items(value[1], value[0])
    if isinstance(value, dict):
        return [leaf for key in value for leaf in named_items(value[key], str(key))]
    if isinstance(value, (list, tuple)):
        found = [
            leaf
            for n, item in enumerate(value)
            for leaf in named_items(
                item,
                f"{name}[{n}]",
            )
        ]
        return [leaf for leaf in found if not isinstance(leaf[1], str)]
    return [(name or "observed", value)]
