"""The sandbox that a verb uses, and what it does not stop, said once."""

from __future__ import annotations

import click

from reenact.sandbox.box import Sandbox
from reenact.sandbox.choose import choose, notice
from reenact.settings import Settings


def chosen_sandbox(settings: Settings) -> Sandbox:
    """The sandbox of the settings; what it does not stop is said."""
    name = None if settings.sandbox == "auto" else settings.sandbox
    chosen = choose(name, trust_code=settings.trust_code)
    if said := notice(chosen):
        click.echo(said, err=True)
    return chosen
