"""A click group that imports a verb only when it is called, so that `--help` stays fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click


class LazyGroup(click.Group):
    """Verbs by name: `(module:attribute, one-line help)`. The help page needs no import at all.

    `moved` are commands that are still answered and no longer listed, `renamed` old names of listed ones.
    """

    def __init__(
        self,
        *args: object,
        verbs: Mapping[str, tuple[str, str]],
        moved: Mapping[str, tuple[str, str]] | None = None,
        renamed: Mapping[str, str] | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._verbs = verbs
        self._all = {**verbs, **(moved or {})}
        self._renamed = renamed or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if new := self._renamed.get(cmd_name):
            from reenact.cli.options import echo

            echo(f"reenact: `reenact {cmd_name}` is now `reenact {new}`; the old name goes soon.", err=True)
            cmd_name = new
        if cmd_name not in self._all:
            return None
        module, _, attribute = self._all[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._verbs.items()])
