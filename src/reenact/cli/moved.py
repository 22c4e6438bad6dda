"""Commands that moved: each answers with where it went."""

from __future__ import annotations

import click

from reenact.errors import InputError

ANY_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def _moved(words: str) -> None:
    raise InputError(
        f"The benchmarks are no longer part of the installed package: `reenact {words}` moved.",
        next_step=f"In a checkout of reenact: {_new(words)}",
    )


def _new(words: str) -> str:
    return f"python -m benchmarks {words.removeprefix('bench').strip() or 'NAME'}"


@click.command(context_settings=ANY_WORDS)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def bench(words: tuple[str, ...]) -> None:
    """Say where the benchmarks went."""
    _moved(" ".join(("bench", *words[:1])))


@click.command(name="train-detector", context_settings=ANY_WORDS)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def train_detector(words: tuple[str, ...]) -> None:  # noqa: ARG001
    """Say where the training of the learned detector went."""
    _moved("train-detector")
