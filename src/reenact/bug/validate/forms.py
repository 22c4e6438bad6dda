"""Which second forms of a call may be used: keywords that the fix adds, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from reenact.bug.call_form import CallForm
from reenact.bug.project.codebase import Codebase
from reenact.bug.validate.bindings import bindings_of
from reenact.bug.validate.stages import parameters_of


def refused_form(script: str, forms: Sequence[CallForm], project: Codebase) -> str:
    """Why a second form may not be used, in words for the model; empty when all may."""
    bindings = bindings_of(ast.parse(script), project)
    for form in forms:
        old, new = _call(form.call), _call(form.fixed)
        if old is None or new is None or script.count(form.call) != 1:
            return f"`{form.call}` must be one call that stands in the script just once."
        kept = [ast.dump(one) for one in (old.func, *old.args, *old.keywords)]
        there = [ast.dump(one) for one in (new.func, *new.args, *new.keywords)]
        added = [one for one in new.keywords if ast.dump(one) not in kept]
        if [one for one in there if one in kept] != kept or not added or len(there) != len(kept) + len(added):
            return f"`{form.fixed}` may add keywords to `{form.call}` and change nothing else."
        taken = parameters_of(old.func, bindings)
        names = {one.arg for one in (*taken.args, *taken.kwonlyargs)} if taken is not None else set()
        if taken is None or taken.kwarg is not None or any(one.arg in names for one in added):
            return (
                f"`{form.fixed}`: a keyword that the buggy revision takes too belongs into the script itself."
            )
        if not all(isinstance(one.value, ast.Constant) for one in added):
            return f"`{form.fixed}`: the values of added keywords are plain constants."
    return ""


def _call(text: str) -> ast.Call | None:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return node if isinstance(node, ast.Call) else None
