"""Options of verbs that ask a model, and the model that they open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from reenact.cli.options import CALLS, MONEY, TOKENS
from reenact.errors import InputError
from reenact.settings import Settings, resolve
from reenact.types import Stop, Tell, tell_nobody

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


def settings_with_model(flags: Mapping[str, Any], why: str) -> Settings:
    """The settings for a verb that cannot do without a model; `why` says what it is needed for."""
    settings = resolve(flags).settings
    if not settings.model:
        raise InputError(
            f"{why}, and none is named.",
            next_step="--model anthropic:NAME, openai:NAME, ollama:NAME, command:PROGRAM or relay:FOLDER.",
        )
    return settings


def open_asked(
    settings: Settings, *, record: Path | None = None, stop: Stop | None = None, tell: Tell = tell_nobody
) -> Any:
    """The model of the settings within their limits; raises ReenactError when it cannot be opened."""
    from reenact.llm.budget import Budget
    from reenact.llm.door import open_model

    budget = Budget(
        calls=settings.max_calls,
        tokens=settings.max_tokens,
        money=settings.max_cost,
        seconds=settings.max_time,
    )
    return open_model(settings.model, budget=budget, record_to=record, stop=stop, tell=tell)
