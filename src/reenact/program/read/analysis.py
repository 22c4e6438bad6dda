"""What every reader has at hand, and what it hands back: drafts of hyperparameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from reenact.program.hyperparameter import Kind, Written
from reenact.program.program import Program
from reenact.program.read.ends import Given, SourceSpan
from reenact.program.read.follow import Follower
from reenact.program.read.index import FileIndex
from reenact.program.read.layers import ActivationSite, LayerSite
from reenact.program.read.scope import Scope, argument, has_unpacking
from reenact.program.read.sources import Sources
from reenact.program.read.values import Callee, Callees, Found, Values
from reenact.types import JsonValue


class Style(StrEnum):
    """How a hyperparameter is turned: which editor can do it."""

    VALUE = "value"
    """A literal stands at a spot."""
    NAME = "name"
    """The dotted name of a library class or function stands there."""
    CHOICE = "choice"
    """A string chooses a library class: by getattr, or from a table."""
    ARGUMENT = "argument"
    """A call would take it as a keyword."""
    APPLY = "apply"
    """An activation that would have to be put between two torch layers."""
    INIT = "init"
    """A torch initialiser that would have to be called."""
    SHORT_NAME = "short-name"
    """A setting of a Keras optimiser that is written as a mere string."""
    LOOP = "loop"
    """A statement that would have to stand in the training loop."""
    LAYER = "layer"
    """The layer itself."""
    FIXED = "fixed"
    """Told, not turned."""


UNKNOWN_OUTPUT = "?"
"""One of several outputs, and nobody can tell which."""


@dataclass(frozen=True, slots=True, eq=False)
class EditSite:
    """Everything an editor needs to know about one hyperparameter."""

    style: Style
    library: str
    """`torch`, `keras`, `lightning` or `transformers`."""
    scope: Scope
    call: ast.Call | None = None
    """The call that takes it, or would."""
    argument: str = ""
    """The keyword it goes by in that call."""
    found: Found | None = None
    callee: Callee | None = None
    layer: LayerSite | None = None
    activation: ActivationSite | None = None
    node: ast.AST | None = None
    """Anchor of a statement: the backward call, the loop, the evaluation."""
    reason: str = ""
    """Why it cannot be changed alone."""
    output: str = ""
    """The output a loss is for, where a model has several."""


@dataclass(slots=True, eq=False)
class Draft:
    """A hyperparameter as a reader found it, before hyperparameters of one place become one."""

    kind: Kind
    site: EditSite
    value: JsonValue
    written: Written
    spot: SourceSpan
    """Where the value stands, or the call that would take it."""
    text: str
    model: str = ""
    layer: str = ""
    layer_type: str = ""
    role: str = ""
    computed: JsonValue = None
    default: JsonValue = None
    given: Given | None = None
    uses: list[SourceSpan] = field(default_factory=list)
    also: set[Kind] = field(default_factory=set)


class ProgramAnalysis:
    """The program under examination, with everything that looks things up in it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sources = Sources(program)
        self.follower = Follower(self.sources)
        self.values = Values(self.follower)
        self.callees = Callees(self.follower)

    def spot(self, node: ast.expr | ast.stmt, scope: Scope) -> SourceSpan:
        return SourceSpan(scope.file, self.sources.index(scope).span(node))

    def head(self, node: ast.expr | ast.stmt, scope: Scope) -> SourceSpan:
        """The first line of something long."""
        index = self.sources.index(scope)
        span = index.span(node)
        line = index.lines.line_column(span.start)[0]
        end = index.lines.starts[line] if line < len(index.lines.starts) else len(index.text)
        kept = len(index.text[span.start : min(span.end, end)].rstrip())
        return SourceSpan(scope.file, type(span)(span.start, span.start + kept))

    def text(self, spot: SourceSpan) -> str:
        index = self.sources.indexes.get(spot.file)
        if index is not None:
            return index.text[spot.span.start : spot.span.end]
        file = self.program.file(spot.file)
        return "" if file is None else file.text[spot.span.start : spot.span.end]

    def calls(self) -> list[tuple[ast.Call, Scope, FileIndex]]:
        return self._calls

    @cached_property
    def _calls(self) -> list[tuple[ast.Call, Scope, FileIndex]]:
        return list(self.sources.calls())

    def value_drafts(self, kind: Kind, use: ast.expr, site: EditSite, **extra: object) -> list[Draft]:
        """Drafts for an argument whose value is a literal somewhere."""
        drafts = []
        for found in self.values.find(use, site.scope):
            drafts.append(self.found_draft(kind, found, site, **extra))
        return drafts

    def found_draft(self, kind: Kind, found: Found, site: EditSite, **extra: object) -> Draft:
        style = Style.VALUE if site.style is Style.ARGUMENT else site.style
        own = replace(site, style=style, found=found)
        return Draft(
            kind,
            own,
            found.value,
            found.end.written,
            found.spot,
            found.text,
            computed=found.computed,
            default=found.default if found.end.given is not None else None,
            given=found.end.given,
            uses=[self.spot(found.use, found.use_scope)],
            **extra,  # type: ignore[arg-type]
        )

    def absent(self, kind: Kind, site: EditSite, node: ast.expr | ast.stmt, **extra: object) -> Draft:
        """A hyperparameter that nobody wrote: it would go into this call or beside this statement."""
        spot = self.head(node, site.scope)
        return Draft(kind, site, None, Written.ABSENT, spot, self.text(spot), **extra)  # type: ignore[arg-type]

    def spot_draft(
        self, kind: Kind, site: EditSite, value: JsonValue, spot: SourceSpan, **extra: object
    ) -> Draft:
        """A hyperparameter whose value is what stands at a spot."""
        return Draft(
            kind,
            site,
            value,
            Written.LITERAL,
            spot,
            self.text(spot),
            uses=[spot],
            **extra,  # type: ignore[arg-type]
        )

    def name_draft(self, kind: Kind, callee: Callee, site: EditSite, value: str, **extra: object) -> Draft:
        """A hyperparameter whose value is the name of a library class or function."""
        end = callee.end
        spot = self.values.spot(end)
        return Draft(
            kind,
            site,
            value,
            end.written,
            spot,
            self.values.text(end, spot),
            given=end.given,
            default=end.literal() if end.given is not None else None,  # type: ignore[arg-type]
            uses=[self.spot(site.call, site.scope)] if site.call is not None else [],
            **extra,  # type: ignore[arg-type]
        )


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
    site = EditSite(Style.ARGUMENT, library, scope, call, names[0])
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
    site: EditSite,
    owner: str = "",
) -> Iterator[Draft]:
    """`**settings` in a call: the entry of that name."""
    for extra in call.keywords:
        if extra.arg is not None:
            continue
        for inner in analysis.follower.members(extra.value, name, scope):
            found = analysis.values.found(inner, extra.value, scope)
            yield analysis.found_draft(kind, found, site, layer_type=owner)
