"""What is asked of a model and what comes back: the types of every package that talks to a model.

`Request` and `Answer` are typed; `Call` and `Reply` are one exchange as it goes over the wire. A
`Wire` (one kind of model) sends one call and returns one reply, and raises Transient when asking
again may help, a ModelError when it will not. Retries, budgets, parsing and repair are in live.py,
the same for every wire.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from decimal import Decimal
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from reenact.types import JsonValue

T = TypeVar("T", bound=BaseModel)


def bounded(most: int, about: str, **more: Any) -> Any:
    """A field of an answer: at most so many letters or items, and what the model reads of it."""
    return Field(max_length=most, description=about, **more)


@dataclass(frozen=True, slots=True)
class Text:
    """Words in a prompt."""

    text: str
    shared: bool = False
    """Other requests start with the same parts up to here, so a provider may cache them."""
    local: bool = False
    """A fact of this machine (installed versions): elsewhere the same question has another one."""


@dataclass(frozen=True, slots=True)
class Image:
    """A figure in a prompt. A model that takes none gets its label instead."""

    data: bytes
    media_type: str = "image/png"
    label: str = ""


Part: TypeAlias = Text | Image


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model reads. Made from a prompt file, see prompts.py."""

    name: str
    version: int
    system: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """One typed question."""

    step: str
    """Path of the step that asks, for example `paper/method/debug[3]/analyse`."""
    prompt: Prompt
    answer: type[T]
    """The pydantic model that the answer must fit."""
    temperature: float | None = None
    max_tokens: int | None = None
    sample: int = 0
    """Which of several answers to the same question this is."""
    check: Callable[[T], object] | None = field(default=None, compare=False)
    """Looks at what a schema cannot know (is this file there?). Raises ValueError in words for
    the model.
    """

    @property
    def schema(self) -> dict[str, Any]:
        return schema_of(self.answer)

    @property
    def hash(self) -> str:
        """Fingerprint of the wording: prompt name, version, system, parts and answer schema; what
        is true of this machine alone does not count.
        """
        wording = {
            "name": self.prompt.name,
            "version": self.prompt.version,
            "system": self.prompt.system,
            "parts": [_mark(part) for part in self.prompt.parts],
            "schema": self.schema,
        }
        return hashlib.sha256(json.dumps(wording, sort_keys=True).encode()).hexdigest()[:32]


def _mark(part: Part) -> str:
    """What a part of a prompt adds to its fingerprint."""
    if isinstance(part, Text):
        return "" if part.local else part.text
    return f"{part.media_type} {part.label} {hashlib.sha256(part.data).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one or more calls used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of the input that the provider had cached."""
    estimated: bool = False
    """No one counted: four characters are taken for one token."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        total = Usage(
            *map(
                operator.add,
                astuple(self),
                astuple(other),
            )
        )
        return replace(total, estimated=bool(total.estimated))


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A typed answer and what it took."""

    value: T
    usage: Usage
    cost: Decimal | None
    """US dollars over all attempts; none when a price is unknown."""
    model: str
    """Who answered, for example `openai:gpt-5` or `relay`."""
    source: Literal["model", "recording"] = "model"
    attempts: int = 1
    """Replies it took until one fitted the asked-for type."""
    wording: Literal["same", "earlier"] = "same"
    """`earlier` when a recording answers a prompt that has been reworded since."""


class Model(Protocol):
    """Anything that answers typed questions. `ask` may be called from several threads at once."""

    @property
    def name(self) -> str: ...

    def ask(self, request: Request[T]) -> Answer[T]: ...


def answer_to_json(answer: Answer[Any]) -> dict[str, JsonValue]:
    """The answer as JSON, for a journal or a recording."""
    written: dict[str, JsonValue] = _adapter(type(answer.value)).dump_python(
        answer,
        mode="json",
    )
    return written


def answer_from_json(
    kind: type[T],
    data: Mapping[str, Any],
) -> Answer[T]:
    """The answer that `answer_to_json` wrote. Raises pydantic.ValidationError when the value
    does not fit.
    """
    answer: Answer[T] = _adapter(kind).validate_python(data)
    return answer


def _adapter(kind: Any) -> TypeAdapter[Any]:
    generic: Any = Answer
    return TypeAdapter(generic[kind])


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer type, without the titles that pydantic derives from the
    names.
    """
    schema: dict[str, Any] = untitled(kind.model_json_schema())
    return schema


def untitled(node: Any, *, names: bool = False) -> Any:
    """A JSON schema without the titles that pydantic makes of names. `names` is true where the keys
    are names of properties, one of which may be called `title`.
    """
    if isinstance(node, list):
        return [untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: untitled(
            value,
            names=not names and key in ("properties", "$defs"),
        )
        for key, value in node.items()
        if names or key != "title" or not isinstance(value, str)
    }


CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """One side speaking."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One exchange, as it goes over the wire."""

    step: str
    sample: int
    prompt: str
    """Name and version of the prompt, for example `bug/plan v3`."""
    system: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any]
    schema_name: str
    schema_words: str
    """The same schema as an instruction in words, for models that have no other way to learn it."""
    temperature: float | None = None
    max_tokens: int | None = None

    def as_text(self) -> str:
        """The whole call as one text, for models that read nothing else."""
        blocks = [self.system]
        for turn in self.turns:
            if turn.role == "assistant":
                blocks.append("Your earlier answer:")
            for part in turn.parts:
                blocks.append(part.text if isinstance(part, Text) else unseen(part))
        return "\n\n".join([*blocks, self.schema_words]) + "\n"

    def estimate(self, reply: Reply) -> Usage:
        """Tokens of an exchange that no one counted."""
        sent = len(self.as_text())
        received = len(reply.text) + sum(map(len, reply.offers))
        return Usage(
            sent // CHARACTERS_PER_TOKEN + 1,
            received // CHARACTERS_PER_TOKEN + 1,
            estimated=True,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, unparsed."""

    text: str
    model: str
    offers: tuple[str, ...] = ()
    """Arguments of calls to the answer tool, for models that answer by tool call."""
    strays: tuple[str, ...] = ()
    """Names of tools it called that no one offered."""
    finish: Literal["stop", "length", "refused"] = "stop"
    usage: Usage | None = None
    """None when no one counted."""
    cost: Decimal | None = None


class Transient(Exception):
    """A fault that may pass."""

    def __init__(
        self,
        sentence: str,
        *,
        retry_after_s: float | None = None,
        billed: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.retry_after_s = retry_after_s
        """How long the other side asked to wait."""
        self.billed = billed
        """A reply came, so somebody may have to pay for it, although no one can read it."""


class Wire(Protocol):
    """One variety of model."""

    @property
    def name(self) -> str:
        """Who answers, without addresses, folders or keys."""

    @property
    def billed(self) -> bool:
        """Whether every call costs money that somebody must be able to count."""

    def send(self, call: Call, within_s: float) -> Reply:
        """Send one call and wait for its reply, at most `within_s` seconds."""


def unseen(image: Image) -> str:
    """What stands in a text for a figure that cannot be shown."""
    return f"[figure not shown: {image.label or 'without a label'}]"
