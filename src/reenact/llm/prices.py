"""What a call costs, from the price list that comes with genai-prices. No network, no guessing.

A price is looked up for a provider that is named or reached at its own address; a model of the same name
at another address (a gateway, a local server) has no known price.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from reenact.llm.ask import Usage

PRICED = {
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "deepseek": "deepseek",
    "openrouter": "openrouter",
    "together": "together",
    "fireworks": "fireworks",
    "azure": "azure",
}
"""Our prefix of a model string: its provider in the price list."""


def price(usage: Usage, model: str) -> Decimal | None:
    """US dollars for that usage of `PROVIDER:NAME`, whoever really answered; none when unknown."""
    from genai_prices import calc_price

    prefix, _, name = model.partition(":")
    if prefix not in PRICED:
        return None
    try:
        return calc_price(_counted(usage), name, provider_id=PRICED[prefix]).total_price
    except (LookupError, ValueError):
        return None


def price_at(counted: Any, name: str, url: str) -> Decimal | None:
    """US dollars for a usage as a provider counted it, by the address of that provider; none when unknown."""
    from genai_prices import calc_price

    try:
        return calc_price(counted, name, provider_api_url=url).total_price
    except (LookupError, ValueError):
        return None


def has_price(name: str, url: str) -> bool:
    """Whether calls to that model at that address can be priced."""
    return price_at(_counted(Usage(1000, 1000)), name, url) is not None


def _counted(usage: Usage) -> Any:
    from genai_prices import Usage as Counted

    return Counted(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens or None,
    )
