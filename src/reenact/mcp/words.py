"""The words of a long verb. Every value is checked or glued to its option, so that no text becomes a flag."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError

OWN_MODEL = "mcp"
"""The model that is whoever talks to this server: by sampling, or by the tools `request` and `answer`."""


@dataclass(frozen=True, slots=True)
class Model:
    """Which model a run may ask, and what for."""

    name: str = ""
    max_cost: float | None = None
    max_tokens: int | None = None
    max_calls: int | None = None

    def check(self) -> None:
        """Raise InputError for a model that is a program: naming one is the user's right alone."""
        if self.name.strip().startswith("command:"):
            raise InputError(
                "A model that is a program is named by the user, not by a tool. Received: model=command:...",
                next_step="Leave `model` empty; the user may set REENACT_MODEL for this server.",
            )


def program_words(program: str, arguments: Sequence[str]) -> list[str]:
    """A program of the user with its arguments; what begins with a dash is no program."""
    return [checked_file(program), *arguments]


def checked_file(path: str) -> str:
    """A path that is there and cannot be taken for an option."""
    if not Path(path).exists():
        raise InputError(f"There is no such file. Received: {path!r}. Paths count from {Path.cwd()}.")
    return f"./{path}" if path.startswith("-") else path


def options(given: Mapping[str, object]) -> list[str]:
    """`--name=value` for every value that was given; a list gives one option an item."""
    words: list[str] = []
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif isinstance(value, list | tuple):
            words += [f"{flag}={item}" for item in value]
        elif value not in (None, False, ""):
            words.append(f"{flag}={value}")
    return words


def model_words(model: Model, others: Sequence[str], folder: Path) -> list[str]:
    """`--model` and its limits; the model `mcp` is a relay folder that depends on the command alone."""
    model.check()
    name = f"relay:{relay_folder(others, folder)}" if model.name == OWN_MODEL else model.name
    limits = {"max_cost": model.max_cost, "max_tokens": model.max_tokens, "max_calls": model.max_calls}
    return options({"model": name, **limits})


def relay_folder(words: Sequence[str], folder: Path) -> Path:
    """The same command finds the answers that it was given before."""
    text = json.dumps([str(Path.cwd()), *words])
    return folder / f"asked-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def relay_of(command: Sequence[str], folder: Path) -> Path | None:
    """The relay folder that a command of ours names; none when it asks another model."""
    for word in command:
        path = Path(word.removeprefix("--model=relay:"))
        if word.startswith("--model=relay:") and path.parent == folder:
            return path
    return None
