"""What every reader has at hand, and what it hands back: drafts of hyperparameters."""

import ast
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from reenact.program.flow.ends import End, spot_of
from reenact.program.flow.follow import Follower
from reenact.program.flow.sources import Sources
from reenact.program.flow.values import Callee, Callees, Found, Values, chosen_name
from reenact.program.hyperparameter import (
    Hyperparameter,
    HyperparameterId,
    Kind,
    Written,
)
from reenact.program.program import Program
from reenact.program.syntax.calls import argument, has_unpacking, method_name, receiver
from reenact.program.syntax.scope import Scope, scope_of
from reenact.program.syntax.source import LineTable, Span
from reenact.program.training.layers import ActivationSite, LayerSite
from reenact.program.training.vocabulary import Slot
from reenact.types import JsonValue, Place


class Style(StrEnum):
    """How a hyperparameter is turned: which editor can do it."""

    VALUE = "value"
    """A literal is at a spot."""
    NAME = "name"
    """The dotted name of a library class or function is there."""
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
    """Reported, not changed."""


UNKNOWN_OUTPUT = "?"
"""One of several outputs, and no one can tell which."""


@dataclass(frozen=True, slots=True, eq=False)
class EditSite:
    """Everything an editor needs to know about one hyperparameter."""

    style: Style
    library: str
    """`torch`, `keras`, `lightning` or `transformers`."""
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

    @property
    def anchor(self) -> ast.expr | ast.stmt:
        found = self.call or self.node
        assert isinstance(found, ast.expr | ast.stmt)
        return found

    @property
    def scope(self) -> Scope:
        return scope_of(self.anchor)


@dataclass(slots=True, eq=False)
class Draft:
    """A hyperparameter as a reader found it: not numbered, without alternatives, alone at its
    place.
    """

    param: Hyperparameter
    site: EditSite
    spot: Span
    """Where the value is, or the call that would take it."""

    @property
    def kind(self) -> Kind:
        return self.param.kind

    def change(self, **fields: Any) -> None:
        self.param = replace(self.param, **fields)


def of_layer(layer: LayerSite) -> dict[str, str]:
    """What a hyperparameter keeps of the layer that it belongs to."""
    return {
        "model": layer.model,
        "layer": layer.path,
        "layer_type": layer.name,
        "role": layer.role,
    }


class ProgramAnalysis:
    """The program under examination, with everything that looks things up in it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sources = Sources(program)
        self.follower = Follower(self.sources)
        self.values = Values(self.follower)
        self.callees = Callees(self.follower)
        self._tables: dict[str, LineTable] = {}
        self._paths: dict[str, PurePosixPath] = {}

    def head(self, node: ast.expr | ast.stmt) -> Span:
        """The first line of something long."""
        index = scope_of(node).index
        span = index.span(node)
        line = index.text[span.start : min(span.end, index.lines.line_end(span.start))]
        return replace(
            span,
            end=span.start + len(line.rstrip()),
        )

    def text(self, spot: Span) -> str:
        return spot.cut(self._lines(spot.file).text)

    def place(self, spot: Span) -> Place:
        return self._lines(spot.file).place(
            self._paths[spot.file],
            spot,
        )

    def _lines(self, name: str) -> LineTable:
        """Line table of a file of the program, a data file's too."""
        if name not in self._tables:
            index = self.sources.indexes.get(name)
            file = self.program.file(name)
            text = file.text if file is not None else ""
            self._tables[name] = index.lines if index is not None else LineTable(text)
            self._paths[name] = PurePosixPath(name)
        return self._tables[name]

    def calls(self, *methods: str) -> list[ast.Call]:
        """All calls of the program, or those of methods of these names."""
        return [call for name, call in self._named_calls if not methods or name in methods]

    @cached_property
    def _named_calls(self) -> list[tuple[str, ast.Call]]:
        """All calls, each with the method that it calls."""
        return [(method_name(call), call) for call in self.sources.calls()]

    @cached_property
    def uses(self) -> dict[ast.Call, list[ast.Call]]:
        """By the library call that makes an object: calls of that object with two arguments or
        more.
        """
        found: dict[ast.Call, list[ast.Call]] = {}
        for call in self.sources.calls():
            if isinstance(call.func, ast.Name | ast.Attribute) and len(call.args) > 1:
                for made in dict.fromkeys(item.call for item in self.callees.made(call.func)):
                    found.setdefault(made, []).append(call)
        return found

    def value_drafts(
        self,
        kind: Kind,
        use: ast.expr | None,
        site: EditSite,
        **extra: Any,
    ) -> list[Draft]:
        """Drafts for an argument whose value is a literal somewhere."""
        return [self.found_draft(kind, found, site, **extra) for found in self.values.find(use)]

    def found_draft(
        self,
        kind: Kind,
        found: Found,
        site: EditSite,
        **extra: Any,
    ) -> Draft:
        style = Style.VALUE if site.style is Style.ARGUMENT else site.style
        own = replace(site, style=style, found=found)
        uses = (spot_of(found.use),)
        extra |= {
            "computed": found.computed,
            "uses": uses,
            "end": found.end,
        }
        return self._draft(
            kind,
            own,
            found.value,
            found.end.written,
            found.spot,
            **extra,
        )

    def absent(
        self,
        kind: Kind,
        site: EditSite,
        node: ast.expr | ast.stmt,
        **extra: Any,
    ) -> Draft:
        """A hyperparameter that no one wrote: it would go into this call or next to this
        statement.
        """
        return self._draft(
            kind,
            site,
            None,
            Written.ABSENT,
            self.head(node),
            **extra,
        )

    def spot_draft(
        self,
        kind: Kind,
        site: EditSite,
        value: JsonValue,
        spot: Span,
        **extra: Any,
    ) -> Draft:
        """A hyperparameter whose value is what is at a spot."""
        return self._draft(
            kind,
            site,
            value,
            Written.LITERAL,
            spot,
            uses=(spot,),
            **extra,
        )

    def name_draft(
        self,
        kind: Kind,
        callee: Callee,
        site: EditSite,
        value: str,
        **extra: Any,
    ) -> Draft:
        """A hyperparameter whose value is the name of a library class or function."""
        end = callee.end
        spot = self.values.spot(callee.end)
        uses = (spot_of(site.call),) if site.call is not None else ()
        return self._draft(
            kind,
            site,
            value,
            end.written,
            spot,
            uses=uses,
            end=end,
            **extra,
        )

    def _draft(
        self,
        kind: Kind,
        site: EditSite,
        value: JsonValue,
        written: Written,
        spot: Span,
        **extra: Any,
    ) -> Draft:
        """`end`: where the value is; the command line may say otherwise."""
        end: End | None = extra.pop("end", None)
        if end is not None and end.given is not None:
            extra |= {
                "default": end.default,
                "overridden": end.given.flag or "the command line",
            }
        extra = (of_layer(site.layer) if site.layer is not None else {}) | extra
        own = HyperparameterId(
            site.scope.file, extra.pop("model", ""), extra.pop("layer", ""), kind
        )
        extra["uses"] = tuple(
            map(
                self.place,
                extra.get("uses", ()),
            )
        )
        extra |= {"text": self.text(spot), "library": site.library}
        return Draft(
            Hyperparameter(own, value, written, self.place(spot), **extra),
            site,
            spot,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """One call of the program, read in the words of a library."""

    analysis: ProgramAnalysis
    call: ast.Call
    library: str
    owner: str = ""
    """The class that is called, kept with the hyperparameter because usual values depend on it."""

    def site(
        self,
        name: str = "",
        style: Style = Style.ARGUMENT,
        **more: Any,
    ) -> EditSite:
        return EditSite(style, self.library, self.call, name, **more)

    def argument(
        self,
        position: int | None,
        *names: str,
    ) -> ast.expr | None:
        return argument(self.call, position, *names)

    def given(
        self,
        kind: Kind,
        position: int | None,
        *names: str,
    ) -> list[Draft]:
        """Drafts of an argument, where it is written."""
        return self.value(
            kind,
            self.argument(position, *names),
            names[0],
        )

    def value(
        self,
        kind: Kind,
        value: ast.expr | None,
        name: str = "",
    ) -> list[Draft]:
        """Drafts of what an argument is given."""
        return self.analysis.value_drafts(
            kind,
            value,
            self.site(name),
            layer_type=self.owner,
        )

    def absent(
        self,
        kind: Kind,
        site: EditSite,
        default: JsonValue = None,
    ) -> Draft:
        return self.analysis.absent(
            kind,
            site,
            self.call,
            default=default,
            layer_type=self.owner,
        )

    def either(self, slot: Slot) -> list[Draft]:
        """Drafts of an argument; when it is absent, one that says so, unless unpacking may hide
        it.
        """
        name = slot.names[0]
        found = self.given(
            slot.kind,
            slot.position,
            *slot.names,
        ) or self._unpacked(slot.kind, name)
        hidden = found or not slot.reported or has_unpacking(self.call)
        if hidden:
            return found
        return [
            self.absent(
                slot.kind,
                self.site(name),
                slot.default,
            )
        ]

    def _unpacked(self, kind: Kind, name: str) -> list[Draft]:
        """`**settings` in a call: the entry of that name."""
        analysis = self.analysis
        site = self.site(name)
        given = [part.value for part in self.call.keywords if part.arg is None]
        ends = [(end, value) for value in given for end in analysis.follower.members(value, name)]
        found = [analysis.values.found(end, value) for end, value in ends]
        return [
            analysis.found_draft(
                kind,
                one,
                site,
                layer_type=self.owner,
            )
            for one in found
        ]

    def named(
        self,
        kind: Kind,
        callee: Callee,
        value: str = "",
        **more: Any,
    ) -> Draft:
        """A draft of what is called: its name, or the word that chooses it."""
        style = Style.CHOICE if callee.chosen and not value else Style.NAME
        site = self.site(style=style, callee=callee, **more)
        return self.analysis.name_draft(
            kind,
            callee,
            site,
            value or chosen_name(callee),
        )

    def made(self, *prefixes: str) -> bool:
        """Whether the object whose method is called comes from one of these libraries or
        classes.
        """
        made = self.analysis.callees.made(receiver(self.call))
        return any(item.callee.dotted.startswith(prefixes) for item in made)
