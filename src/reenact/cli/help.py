"""Help pages in two lengths: `--help` for what is used every day, `--help-all` for everything."""

from collections.abc import Callable
from typing import Any

import click

WHOLE = "reenact.help-all"
RARE = frozenset(
    {
        "--addendum",
        "--allow-dirty",
        "--branch",
        "--data",
        "--executor",
        "--experiments",
        "--learned",
        "--max-calls",
        "--max-tokens",
        "--prune",
        "--record",
        "--samples",
        "--search-seed",
        "--space",
        "--stand-in-data",
        "--temperature",
        "--trust-code",
        "--trust-journal",
        "--without",
    }
)
"""Options that only `--help-all` lists, wherever they are."""


class Command(click.Command):
    """A command whose `--help` leaves out what is rarely used, where that is more than one option."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rare = () if ctx.meta.get(WHOLE) else rare_options(self)
        records = [
            record
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
            and param not in rare
            and (record := param.get_help_record(ctx)) is not None
        ]
        with formatter.section("Options"):
            formatter.write_dl(records)
        if rare:
            formatter.write_paragraph()
            formatter.write_text(f"{len(rare)} more options: {ctx.command_path} --help-all")


def rare_options(command: click.Command) -> tuple[click.Parameter, ...]:
    """Options of a command that its short help leaves out."""
    rare = tuple(
        param
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden and RARE.intersection(param.opts)
    )
    return rare if len(rare) > 1 else ()


def _print_whole(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    ctx.meta[WHOLE] = True
    click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_whole,
    help="Show all options and exit.",
)


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Makes a function a command with both pages of help."""
    return click.command(name, cls=Command, **attributes)
