"""Twins of a paper: the same experiment with other numbers printed, most of them false.

A twin is one file, `twin.toml`, that names a case and what is printed in its place. The paper's
text is made from that of the case, and the answers from the recording of the case, by the same
substitution: a request about the twin is put back into the words of the case, must then be one that
was recorded, word by word, and its answer is given with the twin's numbers. The code that is
written is that of the case, and the verdict is reached by running it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from reenact.errors import ReplayMiss
from reenact.llm.ask import (
    Answer,
    Model,
    Request,
    T,
    Text,
    answer_from_json,
    answer_to_json,
)
from reenact.llm.prompts import quote
from reenact.paper.measure.verdict import Verdict

TWIN = "twin.toml"
STRICT = ConfigDict(extra="forbid")
_BETWEEN = r"(\}?\s*(?:\$\\pm\$|&|\|)\s*)"
"""What stands between a number and its deviation, in LaTeX and as it is read."""

_QUOTED = re.compile(r"<<<(\S+) ([0-9a-f]+)\n(.*?)\n\1 \2>>>", re.DOTALL)
"""Material from outside in a prompt, between marks that follow from its text."""

Printed = Annotated[str, Field(pattern=r"^\d+\.\d+$")]
Kind = Literal[
    "flipped ranking",
    "inflated number",
    "test data in training",
    "unstated trick",
    "true and hard",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One number of the paper and its standard deviation, as printed, and what the twin prints."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    method: str
    was: Printed
    now: Printed
    was_spread: Printed
    now_spread: Printed

    def __str__(self) -> str:
        return f"{self.method} {self.was} +- {self.was_spread} -> {self.now} +- {self.now_spread}"


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence of the paper that would not fit the other numbers."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    was: Annotated[str, Field(min_length=10)]
    now: Annotated[str, Field(min_length=10)]


@dataclass(frozen=True, slots=True)
class Twin:
    """What is printed in place of what, and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    of: str
    """The case."""
    kind: Kind
    expected: Verdict
    """The true verdict."""
    why: Annotated[str, Field(min_length=20)]
    """Where the numbers come from, and why the verdict is the true one."""
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    words: tuple[Words, ...] = ()
    seeds: Annotated[int, Field(ge=2, le=50)] | None = None
    """Full runs; none: as many as the case has."""

    @property
    def derived(self) -> str:
        """How it was made, for the results."""
        rows = "; ".join(map(str, self.rows))
        words = f"; and {len(self.words)} sentences that would not fit" if self.words else ""
        return f"derived from the recording of {self.of} by these substitutions: {rows}{words}"

    def printed(self, text: str) -> str:
        """The case's text as the twin has it."""
        return _Substitution(
            {(row.was, row.was_spread): (row.now, row.now_spread) for row in self.rows},
            {one.was: one.now for one in self.words},
        )(text)

    def original(self, text: str) -> str:
        """The twin's text as the case has it."""
        return _Substitution(
            {(row.now, row.now_spread): (row.was, row.was_spread) for row in self.rows},
            {one.now: one.was for one in self.words},
        )(text)

    def answer(self, value: Any) -> Any:
        """An answer about the case as one about the twin."""
        if isinstance(value, str):
            return self.printed(value)
        if isinstance(value, list):
            return [self.answer(one) for one in value]
        if not isinstance(value, dict):
            return value
        changed = {key: self.answer(one) for key, one in value.items()}
        for row in self.rows:
            if value.get("value") == float(row.was):
                changed["value"] = float(row.now)
                if value.get("spread") is not None:
                    changed["spread"] = float(row.now_spread)
            elif value.get("quote") == row.was_spread and value.get("method") == row.method:
                changed |= {"value": float(row.now_spread), "quote": row.now_spread}
        return changed

    def true_value(self, printed: float) -> float:
        """What the case has where the twin has this number."""
        return next((float(row.was) for row in self.rows if float(row.now) == printed), printed)

    def numbers(self, value: float, spread: float | None) -> tuple[float, float | None]:
        """A number of the case and its deviation as the twin has them."""
        row = next((one for one in self.rows if float(one.was) == value), None)
        return (value, spread) if row is None else (float(row.now), float(row.now_spread))


@dataclass(frozen=True)
class _Substitution:
    """Numbers with their deviations, numbers alone, sentences; all at once, so that two may
    swap places.
    """

    numbers: Mapping[tuple[str, str], tuple[str, str]]
    words: Mapping[str, str]
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        alone = {value: new for (value, _), (new, _) in self.numbers.items()}
        choices = [re.escape(one) for one in sorted(self.words, key=len, reverse=True)]
        choices += [
            rf"(?<![\d.:]){re.escape(value)}{_BETWEEN}{re.escape(spread)}(?!\d)"
            for value, spread in self.numbers
        ]
        choices += [rf"(?<![\d.:]){re.escape(value)}(?!\d)" for value in alone]
        object.__setattr__(self, "pattern", re.compile("|".join(choices)))

    def __call__(self, text: str) -> str:
        return self.pattern.sub(self._new, text)

    def _new(self, found: re.Match[str]) -> str:
        old = found.group()
        if old in self.words:
            return self.words[old]
        between = next((one for one in found.groups() if one is not None), None)
        if between is None:
            return next(new for (value, _), (new, _) in self.numbers.items() if value == old)
        value, _, spread = old.partition(between)
        return between.join(self.numbers[value, spread])


@contextmanager
def twin_paper(twin: Twin, paper: Path) -> Iterator[Path]:
    """A folder with the paper of the case as the twin prints it."""
    with TemporaryDirectory(prefix="reenact-twin-") as made:
        folder = Path(made) / paper.name
        shutil.copytree(paper, folder)
        for file in folder.rglob("*.tex"):
            file.write_text(twin.printed(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield folder


class TwinReplay:
    """Answers about a twin from the recording of its case, where the question is the recorded
    one.
    """

    def __init__(self, replay: Model, twin: Twin) -> None:
        self._replay = replay
        self._twin = twin

    @property
    def name(self) -> str:
        return self._replay.name

    def ask(self, request: Request[T]) -> Answer[T]:
        prompt = request.prompt
        parts = tuple(
            replace(part, text=self._recorded(part.text)) if isinstance(part, Text) else part
            for part in prompt.parts
        )
        answer = self._replay.ask(replace(request, prompt=replace(prompt, parts=parts), check=None))
        if answer.wording != "same":
            raise ReplayMiss(
                (
                    f"Step {request.step} about {self._twin.name} is not what was asked about "
                    f"{self._twin.of}."
                ),
                next_step=f"Choose substitutions in {TWIN} that change nothing else.",
            )
        plain = json.loads(json.dumps(answer_to_json(answer)))
        found = answer_from_json(
            request.answer, plain | {"value": self._twin.answer(plain["value"])}
        )
        if request.check is not None:
            request.check(found.value)
        return found

    def _recorded(self, text: str) -> str:
        return _QUOTED.sub(
            lambda found: quote(found[1], found[3], len(found[3])),
            self._twin.original(text),
        )
