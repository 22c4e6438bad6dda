"""`reenact completion SHELL`: the script that lets a shell complete verbs and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = {
    "bash": 'eval "$(reenact completion bash)"      # into ~/.bashrc',
    "zsh": 'eval "$(reenact completion zsh)"       # into ~/.zshrc',
    "fish": "reenact completion fish | source        # into ~/.config/fish/completions/reenact.fish",
}
VARIABLE = "_REENACT_COMPLETE"


@click.command(epilog="\b\n" + "\n".join(SHELLS.values()))
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes reenact in SHELL."""
    from reenact.cli.main import reenact

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(reenact, {}, "reenact", VARIABLE).source())
