"""Keeps secrets out of the files of a trace, by the rules that the launcher hands over (reenact/redact.py).

The launcher names variables, never their values: those are read here, where the program runs. Variables that
the program itself sets later (from a file of settings, for example) count when their names say so.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from reenact_probe.types import Facts


class Hiding:
    """Replaces secrets in what goes into a JSON file."""

    def __init__(self, rules: Facts | None) -> None:
        rules = rules or {}
        self._name = rules.get("name", "")
        self._shortest = rules.get("shortest", 12)
        self._shapes = rules.get("shapes", ())
        self._hidden = rules.get("hidden", "[redacted]")
        self._at_start = frozenset(os.environ)
        given = (os.environ.get(name, "").strip() for name in rules.get("variables", ()))
        self._given = [value for value in given if value]

    def dumped(self, content: Any) -> str:
        """The content as JSON text without secrets. Most has none, and is searched only as a whole."""
        text = _text(content)
        values = self._values()
        lowered = text.lower()
        suspect = any(needle in lowered for needles, _, _ in self._shapes for needle in needles)
        if suspect or any(_text(value)[1:-1] in text for value in values):
            return _text(self._cleaned(content, values))
        return text

    def _values(self) -> list[str]:
        late = [name for name in os.environ if name not in self._at_start] if self._name else []
        values = {
            os.environ[name].strip()
            for name in late
            if re.search(self._name, name, re.IGNORECASE) and len(os.environ[name].strip()) >= self._shortest
        }
        return sorted(values.union(self._given), key=len, reverse=True)

    def _cleaned(self, value: Any, values: list[str]) -> Any:
        if isinstance(value, dict):
            return {self._word(str(key), values): self._cleaned(item, values) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._cleaned(item, values) for item in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return self._word(str(value), values)

    def _word(self, text: str, values: list[str]) -> str:
        for value in values:
            text = text.replace(value, self._hidden)
        lowered = text.lower()
        for needles, pattern, instead in self._shapes:
            if any(needle in lowered for needle in needles):
                text = re.sub(pattern, instead, text)
        return text


def _text(content: Any) -> str:
    return json.dumps(content, default=str, allow_nan=False)
