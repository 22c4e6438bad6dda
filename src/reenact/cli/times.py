"""Options for how long a command, and one training of it, may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from reenact.cli.options import SECONDS

Verb = TypeVar("Verb", bound=Callable[..., Any])


def max_time_option(verb: Verb) -> Verb:
    """`--max-time`: of the whole command, the same everywhere."""
    return click.option(
        "--max-time",
        type=SECONDS,
        help="Seconds that the whole command may take; what was seen until then is judged.",
    )(verb)


def training_time_option(verb: Verb) -> Verb:
    """`--training-time`: of one training."""
    return click.option(
        "--training-time",
        type=SECONDS,
        help="Seconds that one training may take; it is then stopped, and what was seen of it is judged.",
    )(verb)
