"""One argument of a call as a hyperparameter: written, unpacked from a dictionary, or absent."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.calls import argument, has_unpacking
from reenact.program.read.scope import Scope
from reenact.types import JsonValue


def argument_drafts(
    analysis: ProgramAnalysis,
    kind: Kind,
    call: ast.Call,
    scope: Scope,
    library: str,
    names: tuple[str, ...],
    position: int | None = None,
    default: JsonValue = None,
    *,
    reported: bool = True,
    owner: str = "",
) -> Iterator[Draft]:
    """Drafts of one argument; when it is absent, one that says so, unless unpacking may hide it.

    `owner` is the class that is called, kept with the hyperparameter because usual values depend on it.
    """
    site = Site(Style.ARGUMENT, library, scope, call, names[0])
    value = argument(call, position, *names)
    if value is not None:
        yield from analysis.value_drafts(kind, value, site, layer_type=owner)
        return
    found = list(unpacked_drafts(analysis, kind, call, scope, names[0], site, owner))
    yield from found
    if not found and reported and not has_unpacking(call):
        yield analysis.absent(kind, site, call, default=default, layer_type=owner)


def unpacked_drafts(
    analysis: ProgramAnalysis,
    kind: Kind,
    call: ast.Call,
    scope: Scope,
    name: str,
    site: Site,
    owner: str = "",
) -> Iterator[Draft]:
    """`**settings` in a call: the entry of that name."""
    for extra in call.keywords:
        if extra.arg is not None:
            continue
        for end in analysis.follower.follow(extra.value, scope):
            for inner in analysis.follower.members.member(end, name, 0):
                found = analysis.values.found(inner, extra.value, scope)
                yield analysis.found_draft(kind, found, site, layer_type=owner)
