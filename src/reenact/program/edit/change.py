"""One change of a program: a hyperparameter set, a layer put in, something taken out, a part
exchanged with all it demands, or other text in place of a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeAlias

from reenact.program.hyperparameter import HyperparameterId
from reenact.types import JsonValue


class _Plain:
    """A change whose values are as JSON would give them back."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in ("value", "settings"):
            if hasattr(self, name):
                object.__setattr__(
                    self,
                    name,
                    _plain(getattr(self, name)),
                )


@dataclass(frozen=True, slots=True)
class Set(_Plain):
    """Give a hyperparameter a value and change nothing else; null takes a written one back."""

    hyperparameter: HyperparameterId
    value: JsonValue

    def __str__(self) -> str:
        return f"{self.hyperparameter} = {self.value!r}"


@dataclass(frozen=True, slots=True)
class Insert(_Plain):
    """Put a new layer next to an existing one."""

    anchor: HyperparameterId
    """The layer hyperparameter of the neighbour."""
    layer: str
    """Class name in the library of the neighbour: `Dropout`, `BatchNorm1d`."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    before: bool = False

    def __str__(self) -> str:
        side = "before" if self.before else "after"
        return f"{self.layer}({_keywords(self.settings)}) {side} {self.anchor}"


@dataclass(frozen=True, slots=True)
class Remove:
    """Take out a layer, an activation, an argument or a schedule."""

    hyperparameter: HyperparameterId

    def __str__(self) -> str:
        return f"without {self.hyperparameter}"


@dataclass(frozen=True, slots=True)
class Replace(_Plain):
    """Exchange a loss, an optimiser or a layer, together with everything the change demands.

    For a loss: the last activation and the form of the labels. For an optimiser: arguments the new one lacks.
    """

    hyperparameter: HyperparameterId
    by: str
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings of the new part: `{"lr": 0.01}`."""

    def __str__(self) -> str:
        given = f"({_keywords(self.settings)})" if self.settings else ""
        return f"{self.hyperparameter} -> {self.by}{given}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Put other text in the place of a text that is exactly once in a file: an edit of code."""

    file: str
    """Relative to the program's folder; of a notebook, the text of its cells."""
    old: str
    new: str
    by_template: bool = False
    """Made by a template of reenact out of the program's own text: it runs where the program runs.
    What a model or a person wrote runs in the sandbox only.
    """

    def __str__(self) -> str:
        lines = ({*self.old.splitlines()}, {*self.new.splitlines()})
        gone = [line for line in self.old.splitlines() if line not in lines[1]]
        come = [line for line in self.new.splitlines() if line not in lines[0]]
        return f"{self.file}: {_first(gone) or 'nothing'} -> {_first(come) or 'nothing'}"


def _first(lines: list[str]) -> str:
    """The first line in short, and that there are more."""
    written = [line.strip() for line in lines if line.strip()]
    more = " ..." if len(written) > 1 else ""
    return f"{written[0][:60]}{more}" if written else ""


def _keywords(settings: Mapping[str, JsonValue]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


Turned: TypeAlias = Set | Insert | Remove | Replace
"""A change of a hyperparameter."""
Change: TypeAlias = Turned | Rewrite


def _plain(value: object) -> object:
    """The value as JSON would give it back: a number of NumPy is a number, a tuple a list."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


KEYS = {"hyperparameter": "knob"}
"""Fields whose key in JSON is another word."""


def change_to_json(change: Change) -> dict[str, JsonValue]:
    """A change as JSON; `change_from_json` reads it back."""
    found: dict[str, JsonValue] = {"change": type(change).__name__.lower()}
    for one in fields(change):
        value = getattr(change, one.name)
        plain = value.to_json() if isinstance(value, HyperparameterId) else value
        found[KEYS.get(one.name, one.name)] = dict(plain) if isinstance(plain, Mapping) else plain
    return found


def change_from_json(data: object) -> Change:
    """The change that `change_to_json` wrote; raises ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError(f"A change is an object. Received: {data!r}")  # noqa: TRY004
    kind = data.get("change")
    if kind == "rewrite":
        texts = [data.get(name) for name in ("file", "old", "new")]
        if not all(isinstance(one, str) for one in texts):
            raise ValueError(
                f"A rewrite names a file, its old and its new text. Received: {data!r}"
            )
        return Rewrite(
            file=str(data["file"]),
            old=str(data["old"]),
            new=str(data["new"]),
            by_template=data.get("by_template") is True,
        )
    settings = data.get("settings", {})
    if kind not in ("set", "insert", "remove", "replace"):
        raise ValueError(
            f"A change is set, insert, remove, replace or rewrite. Received: change={kind!r}"
        )
    if not isinstance(settings, dict):
        raise ValueError(f"The settings of a change are an object. Received: {settings!r}")  # noqa: TRY004
    param = HyperparameterId.from_json(data.get("anchor" if kind == "insert" else "knob"))
    if kind == "set":
        return Set(param, data.get("value"))
    if kind == "remove":
        return Remove(param)
    if kind == "replace":
        return Replace(param, str(data.get("by")), settings)
    return Insert(
        param,
        str(data.get("layer")),
        settings,
        bool(data.get("before", False)),
    )
