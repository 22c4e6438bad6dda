"""What every strategy does, and which there are."""

import importlib
from importlib.metadata import entry_points
from typing import Protocol

from reenact.errors import InputError
from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext

BUILT_IN = {
    "guided": "reenact.repairs.strategies.guided.search:Guided",
    "random": "reenact.repairs.strategies.random:Random",
    "bohb": "reenact.repairs.strategies.bohb:Bohb",
    "hebo": "reenact.repairs.strategies.hebo:Hebo",
    "autotrainer": "reenact.repairs.strategies.autotrainer:AutoTrainer",
    "autotrainer-scratch": "reenact.repairs.strategies.autotrainer:FromScratch",
    "llm": "reenact.repairs.strategies.llm:Llm",
}
GROUP = "reenact.strategies"


class Strategy(Protocol):
    """Looks for changes that help."""

    name: str

    def search(self, context: SearchContext) -> list[Patch]:
        """Changes worth verifying, the best first; empty when nothing helped.

        Stays within `context.within_budget`; leaves `context.reserve` untouched.
        """


def strategy(name: str) -> Strategy:
    """The strategy of this name, ours or one that an installed package brings."""
    plugins = {found.name: found for found in entry_points(group=GROUP)}
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        made: Strategy = getattr(importlib.import_module(module), attribute)()
        return made
    if name in plugins:
        other: Strategy = plugins[name].load()()
        return other
    known = ", ".join(sorted({*BUILT_IN, *plugins}))
    raise InputError(f"There is no strategy of this name; there are {known}. Received: {name}.")
