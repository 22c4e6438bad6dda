"""A command line that is understood and not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import click
import pytest

from benchmarks.command import bench
from reenact.cli.main import reenact

PLACEHOLDER = re.compile(r"[A-Z]+|.*\.\.\..*|.*NAME")
BENCHMARKS = ["python", "-m", "benchmarks"]
Parse = Callable[..., click.Command]


@pytest.fixture(scope="session")
def parse() -> Parse:
    """`parse(words)`: the command that would run. UsageError for a verb, option or value that there
    is not.

    Words in capitals and `...` stand for any value; files need not be there. `whole=False` also
    takes a command that is only named, without what it needs.
    """
    return understood


def understood(words: Sequence[str], *, whole: bool = True) -> click.Command:
    head = 3 if list(words[:3]) == BENCHMARKS else 1
    assert head == 3 or words[0] == "reenact"
    command: click.Command = bench if head == 3 else reenact
    context = click.Context(command, info_name=" ".join(words[:head]))
    rest = list(words[head:])
    while isinstance(command, click.Group) and rest and rest[0] not in ("-h", "--help"):
        name, inner, rest = command.resolve_command(context, rest)
        assert name is not None
        assert inner is not None
        command = inner
        context = command.context_class(
            command, context, info_name=name, **command.context_settings
        )
    if isinstance(command, click.Group) or {"-h", "--help"} & set(rest):
        if whole and not rest:
            raise click.UsageError(f"{' '.join(words)} names no command.")
        return command
    values, left, _ = command.make_parser(context).parse_args(rest)
    if left and whole and not context.allow_extra_args:
        raise click.UsageError(f"Too many words: {left}.")
    options = {
        name for parameter in command.params for name in parameter.opts if name.startswith("--")
    }
    for parameter in command.params:
        behind = values.get(parameter.name)
        if (
            isinstance(parameter, click.Argument)
            and isinstance(behind, list | tuple)
            and options & {*behind}
        ):
            raise click.UsageError(f"Options stand before the program: {' '.join(words)}.")
        check_value(parameter, values.get(parameter.name), context, whole)
    return command


def check_value(
    parameter: click.Parameter, value: object, context: click.Context, whole: bool
) -> None:
    given = [
        one
        for one in (value if isinstance(value, list | tuple) else [value])
        if isinstance(one, str)
    ]
    if not given:
        if whole and parameter.required:
            raise click.MissingParameter(ctx=context, param=parameter)
        return
    if isinstance(parameter.type, click.Path):
        return
    for one in given:
        if not PLACEHOLDER.fullmatch(one):
            parameter.type.convert(one, parameter, context)
