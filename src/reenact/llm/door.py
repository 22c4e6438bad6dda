"""The door: a string becomes a model. See names.FORMS for what the string may say."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeAlias

from reenact.errors import MissingPart
from reenact.llm.ask import Model
from reenact.llm.budget import Budget
from reenact.llm.clock import Clock, RealClock
from reenact.llm.live import LiveModel
from reenact.llm.names import OTHERS, PROVIDERS, ModelName, parse_name
from reenact.llm.network import forbid_network
from reenact.llm.patience import Patience
from reenact.llm.record import Recorder
from reenact.llm.replay import Replay
from reenact.llm.wire import Wire
from reenact.types import Stop, Tell, tell_nobody

__all__ = ["forbid_network", "open_model"]

PLUGINS = "reenact.models"
"""Entry points of other packages: the name is a prefix of model strings, the object an Opener."""
Opener: TypeAlias = Callable[[str, Patience, Clock], Wire]


def open_model(
    text: str,
    *,
    budget: Budget | None = None,
    record_to: Path | None = None,
    record_prompts: bool = True,
    strict: bool = False,
    patience: Patience | None = None,
    clock: Clock | None = None,
    stop: Stop | None = None,
    tell: Tell = tell_nobody,
) -> Model:
    """Open the model that the string names. Nothing is sent yet.

    `record_to` writes every answer to a file that `replay:` reads. `strict` makes a replay refuse answers
    recorded for an earlier wording. `tell` hears of waits and of such answers.
    """
    known = text.strip().partition(":")[0] in (*PROVIDERS, *OTHERS)
    name = parse_name(text, () if known else tuple(_plugins()))
    stop = stop or Stop()
    model: Model
    if name.kind == "replay":
        model = Replay(Path(name.rest).expanduser(), strict=strict, tell=tell)
    else:
        patience, clock = patience or Patience(), clock or RealClock(stop)
        wire = _wire(name, patience, clock, stop, tell, budget)
        model = LiveModel(wire, budget=budget, patience=patience, clock=clock, tell=tell)
    return model if record_to is None else Recorder(model, record_to, with_prompts=record_prompts)


def _wire(
    name: ModelName, patience: Patience, clock: Clock, stop: Stop, tell: Tell, budget: Budget | None
) -> Wire:
    if name.kind == "command":
        from reenact.llm.command import CommandWire

        return CommandWire(name.rest, patience, clock)
    if name.kind == "relay":
        from reenact.llm.relay import RelayWire

        return RelayWire(Path(name.rest).expanduser(), patience, clock, tell)
    if name.kind not in PROVIDERS:
        return _plugged_in(name, patience, clock)
    from reenact.llm.provider import ProviderWire

    wire = ProviderWire(name, patience, clock, stop)
    if budget is not None and wire.billed and not wire.priced:
        budget.require_price(wire.name)
    return wire


def _plugged_in(name: ModelName, patience: Patience, clock: Clock) -> Wire:
    try:
        opener: Opener = _plugins()[name.kind].load()
    except (ImportError, AttributeError) as error:
        raise MissingPart(f"The plug-in for {name.kind}: models is broken: {error}.") from None
    return opener(name.rest, patience, clock)


def _plugins() -> dict[str, EntryPoint]:
    """Prefixes that other packages add. REENACT_PLUGINS="" switches them off."""
    if os.environ.get("REENACT_PLUGINS") == "":
        return {}
    return {entry.name: entry for entry in entry_points(group=PLUGINS)}
