"""What a variety of model must be able to do: send one call and bring one reply.

Retrying, budgets, parsing and repair are not its business; live.py does them for all varieties alike.
A wire raises Transient when asking again may help, and a ModelError when it will not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Protocol

from reenact.llm.ask import Image, Part, Text, Usage

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
            blocks += ["Your earlier answer:"] if turn.role == "assistant" else []
            blocks += [part.text if isinstance(part, Text) else unseen(part) for part in turn.parts]
        return "\n\n".join([*blocks, self.schema_words]) + "\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, unparsed."""

    text: str
    model: str
    offers: tuple[str, ...] = ()
    """Arguments of calls to the answer tool, for models that answer by tool call."""
    strays: tuple[str, ...] = ()
    """Names of tools it called that nobody offered."""
    finish: Literal["stop", "length", "refused"] = "stop"
    usage: Usage | None = None
    """None when nobody counted."""
    cost: Decimal | None = None


class Transient(Exception):
    """A fault that may pass."""

    def __init__(self, sentence: str, *, retry_after_s: float | None = None, billed: bool = False) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.retry_after_s = retry_after_s
        """How long the other side asked to wait."""
        self.billed = billed
        """A reply came, so somebody may have to pay for it, although nobody can read it."""


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


def estimate(call: Call, reply: Reply) -> Usage:
    """Tokens of an exchange that nobody counted."""
    sent = len(call.as_text())
    received = len(reply.text) + sum(map(len, reply.offers))
    return Usage(sent // CHARACTERS_PER_TOKEN + 1, received // CHARACTERS_PER_TOKEN + 1, estimated=True)
