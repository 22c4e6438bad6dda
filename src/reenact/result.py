"""Results as JSON: one encoder for all of them.

A dataclass is an object of its fields. One that shows programs something else gives it in
`json_fields()`, whose return type is a `TypedDict` that the schema is read from.

What is infinite or not a number becomes null: strict readers refuse NaN.
"""

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any

from reenact.drawing import drawing
from reenact.errors import InputError
from reenact.types import JsonValue

FORMAT_OF = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".txt": "full",
}
"""Ending of a file, and the output format that `save` writes into it."""


class Result:
    """What a pipeline comes to: shown by the views of `report`, stored whole by the journal.

    `print(result)` gives what the command prints, `repr(result)` one line.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """Everything, for programs: the `data` of `--output-format json`."""
        return _fields(self)

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_html(self) -> str:
        """A page of its own: no script, nothing that is loaded from elsewhere."""
        return self._rendered("html")

    def save(self, path: str | Path) -> Path:
        """Write it to a file; the ending says how: .html, .json, .md, .sarif or .txt."""
        target = Path(path)
        form = FORMAT_OF.get(target.suffix.lower())
        if form is None:
            endings = ", ".join(FORMAT_OF)
            raise InputError(
                f"A result is saved as one of {endings}. Received: path={str(path)!r}."
            )
        target.write_text(self._rendered(form), encoding="utf-8")
        return target

    @property
    def plots(self) -> tuple[Any, ...]:
        """Its plots, each a `reenact.report.document.Picture`: a notebook draws one, `save`
        writes one.
        """
        return drawing().pictures_in(self.document())

    def document(self) -> Any:
        """What every output format renders."""
        return drawing().shown(self)

    def in_a_line(self) -> str:
        """What `repr` shows after the name of the class."""
        return str(getattr(self, "sentence", "") or getattr(self, "verdict", ""))

    def __str__(self) -> str:
        try:
            return self._rendered("full", details=False).rstrip("\n")
        except InputError:
            # No command prints it as text.
            return self.to_json()

    def __repr__(self) -> str:
        line = " ".join(self.in_a_line().split())
        return f"<{type(self).__name__} {line}>"

    def _rendered(self, form: str, *, details: bool = True) -> str:
        return drawing().render(self.document(), form, details=details)

    def _repr_mimebundle_(
        self,
        include: object = None,  # noqa: ARG002
        exclude: object = None,  # noqa: ARG002
    ) -> dict[str, str]:
        """How a notebook draws it."""
        return drawing().mimebundle(self)


def encoded(value: Any) -> JsonValue:
    """Any part of a result as JSON."""
    if value is None or (isinstance(value, bool | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return encoded(value.value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): encoded(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return encoded(value._asdict())
    if isinstance(value, list | tuple):
        return [encoded(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((encoded(item) for item in value), key=str)
    return _object(value)


def _object(value: Any) -> JsonValue:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, PurePath | Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if callable(to_json := getattr(value, "to_json", None)):
        return encoded(to_json())
    if callable(dump := getattr(value, "model_dump", None)):
        return encoded(dump(mode="json"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    raise TypeError(f"A {type(value).__name__} is not part of any result. Received: {value!r:.80}")


def rounded(value: float, digits: int) -> float:
    """To so many digits; what is infinite or not a number stays, and becomes null."""
    return round(value, digits) if math.isfinite(value) else value


def _fields(value: Any) -> dict[str, JsonValue]:
    if callable(json_fields := getattr(value, "json_fields", None)):
        return {name: encoded(part) for name, part in json_fields().items()}
    names = [one.name for one in dataclasses.fields(value)]
    return {name: encoded(getattr(value, name)) for name in names}
