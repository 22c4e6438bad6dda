"""Options of verbs that ask a model, and the model that they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from reenact.cli.options import CALLS, MONEY, TOKENS

Verb = TypeVar("Verb", bound=Callable[..., Any])


def model_options(verb: Verb) -> Verb:
    """`--model`, what it may cost, and `--record`."""
    options = (
        click.option("--model", help="Ask this model: anthropic:NAME, ollama:NAME, relay:FOLDER, ..."),
        click.option("--max-cost", type=MONEY, help="Money the run may spend on models, in US dollars."),
        click.option("--max-tokens", type=TOKENS, help="Tokens the run may use."),
        click.option("--max-calls", type=CALLS, help="Model calls the run may make."),
        click.option(
            "--record", type=click.Path(dir_okay=False, path_type=Path), help="Keep the answers for replay:."
        ),
    )
    for option in reversed(options):
        verb = option(verb)
    return verb
