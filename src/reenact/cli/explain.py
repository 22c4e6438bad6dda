"""`reenact explain WORD`: what an ending, an exit code, a setting or a fault type means."""

from __future__ import annotations

import difflib
from enum import Enum

import click

from reenact.errors import InputError
from reenact.settings import Settings, field_texts
from reenact.types import ExitCode


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: an ending, an exit code, a setting, a fault type."""
    words = known_words()
    found = words.get(word) or words.get(word.lower()) or words.get(word.upper())
    if found is None:
        close = difflib.get_close_matches(word, words, n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Known words: {', '.join(sorted(words))}."
        raise InputError(f"Nothing is known about {word!r}.", next_step=hint)
    click.echo(f"{word}: {found}")


def known_words() -> dict[str, str]:
    """Every word with its explanation, gathered from where it is defined."""
    from reenact.program.fault import Fault
    from reenact.sandbox.box import Ending

    codes = {code: f"exit code. {text}" for code, text in _members(ExitCode).items()}
    return {**codes, **_members(Ending), **_members(Fault), **field_texts(Settings)}


def _members(owner: type[Enum]) -> dict[str, str]:
    return {str(owner[name].value): text for name, text in field_texts(owner).items()}
