"""Whether the relation of a check holds between what a script left behind, and what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from reenact.claims.inside import relations
    from reenact.claims.inside.genuine import lying_class
else:
    import relations
    from genuine import lying_class


def checked(check: dict[str, Any], namespace: dict[str, Any]) -> dict[str, Any]:
    """Whether the relation holds, and what was seen; `problem` when that cannot be computed."""
    relation = check["relation"]
    if "observed" not in namespace:
        return {
            "problem": "the script ended without a top-level value named `observed`",
            "holds": False,
        }
    try:
        observed, reference = (
            relations.held(namespace["observed"]),
            relations.held(namespace.get("reference")),
        )
        for name, value in (("observed", observed), ("reference", reference)):
            lying = lying_class(value)
            if lying:
                return {
                    "problem": f"`{name}` holds {lying}, a class that the script defines",
                    "holds": False,
                }
        holds = getattr(relations, "holds_" + relation.replace("-", "_"))(
            check,
            observed,
            reference,
        )
        saw = relations.saw(check, observed, reference, holds)
        single = float(observed) if _is_single(observed) else None
        kinds = {"observed": _kind(observed), "reference": _kind(reference)}
        return {
            "kinds": kinds,
            "holds": holds,
            "saw": _sendable(saw[:600]),
            "number": single if single == single else None,
        }
    except Exception as error:  # noqa: BLE001 - a stranger's object may raise anything
        problem = f"the check could not be computed: {type(error).__name__}: {error}"
        return {"problem": problem, "holds": False}


def _kind(value: Any) -> str:
    """The class of a value with its module; of a list or tuple also that of what it holds, where
    that is one class.
    """
    kind = type(value)
    name = _sendable(f"{kind.__module__}.{kind.__qualname__}"[:200])
    if kind in (list, tuple) and value and len({type(one) for one in value}) == 1:
        return f"{name} of {_kind(value[0])}"[:400]
    return name


def _is_single(value: Any) -> bool:
    try:
        return abs(float(value)) < float("inf")
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return False


def _sendable(text: str) -> str:
    """Without half characters, which no reader of JSON takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
