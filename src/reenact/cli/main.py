"""The list of commands; a command is imported when it is called, so that `--help` stays fast."""

import difflib
import importlib
from collections.abc import Mapping

import click

from reenact.errors import InputError
from reenact.version import __version__

COMMANDS = {
    "doctor": ("doctor", "Tell what works on this machine and what to fix."),
    "config": ("doctor", "Print every setting, its value and where it comes from."),
    "cache": ("doctor", "List prepared environments and their size; remove old ones."),
    "runs": ("runs", "List, show, resume, export and query recorded runs."),
    "view": (
        "serving",
        "Show runs in a browser of this machine; start, stop, resume them.",
    ),
    "report": ("runs", "Write a run as one html file that can be mailed."),
    "explain": ("static", "Explain a code, an ending or a word that reenact prints."),
    "read": (
        "read",
        "Read a paper: its outline, what it holds, what was lost in reading.",
    ),
    "watch": (
        "watch",
        "Run a training unmodified, see what happens inside, keep the trace.",
    ),
    "graph": ("watch", "Show the layers of a model, each with the line that made it."),
    "params": (
        "static",
        "List the hyperparameters of a training program: value, place, alternatives.",
    ),
    "diagnose": (
        "training",
        "Say what is wrong with a training, where, and what happens if it is changed.",
    ),
    "lint": (
        "static",
        "Read many files for faults that their text shows; nothing is run.",
    ),
    "repair": (
        "training",
        "Find the smallest change that makes a training significantly better.",
    ),
    "bug": (
        "reproducing",
        "Write a script that shows a reported bug, and prove it by running it.",
    ),
    "judge": (
        "judging",
        "Say whether a bug shows in this checkout; for `git bisect run`.",
    ),
    "fingerprint": (
        "reproducing",
        "List what code must show to be a reproduction of a paper, in its words.",
    ),
    "evaluate": (
        "reproducing",
        "Score generated code: against its paper, a reference, a rubric, people.",
    ),
    "paper": (
        "reproducing",
        "Write a paper's code, run it, verify it, and state the gap to its numbers.",
    ),
    "alternatives": ("training", "Find other repairs than the known one, as a graph."),
    "mutate": (
        "training",
        "Put faults into a training on purpose; see which are noticed.",
    ),
    "rules": (
        "static",
        "List the faults that a training may have, and their detectors.",
    ),
    "relay": (
        "serving",
        "Serve a relay folder: list waiting requests, file an answer.",
    ),
    "mcp": (
        "serving",
        "Serve coding agents over the Model Context Protocol, on stdio.",
    ),
    "completion": ("main", "Print the script for completion in a shell."),
    "demo": ("demo", "Show the main job end to end on an embedded example."),
}
"""Each command with its file, in which it has the same name, and its line of help."""
VERBS = {
    name: (
        f"reenact.cli.{file}:{name}",
        text,
    )
    for name, (file, text) in COMMANDS.items()
}
MOVED = {"bench": "NAME", "train-detector": "train-detector"}
"""Commands that only say where they went."""
RENAMED = {"knobs": "params", "neutral": "alternatives"}
"""Old names that still work, with a note."""
SHELLS = {
    "bash": 'eval "$(reenact completion bash)"      # into ~/.bashrc',
    "zsh": 'eval "$(reenact completion zsh)"       # into ~/.zshrc',
    "fish": (
        "reenact completion fish | source        # into ~/.config/fish/completions/reenact.fish"
    ),
}


class LazyGroup(click.Group):
    """Verbs by name: `(module:attribute, one-line help)`. The help page needs no import at all."""

    def __init__(
        self, *args: object, verbs: Mapping[str, tuple[str, str]], **kwargs: object
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._verbs:
            return None
        module, _, attribute = self._verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if not (
                close := difflib.get_close_matches(
                    args[0],
                    self.list_commands(ctx),
                    n=2,
                )
            ):
                raise
            raise click.UsageError(
                f"{error.message} Did you mean {' or '.join(close)}?", ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._verbs.items()])


class Reenact(LazyGroup):
    """Also answers to the old names of verbs, with a note."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in MOVED:
            says = (
                f"The benchmarks are no longer part of the installed package: `reenact {cmd_name}` "
                f"moved."
            )
            after = f"In a checkout of reenact: python -m benchmarks {MOVED[cmd_name]}"
            raise InputError(says, next_step=after)
        if new := RENAMED.get(cmd_name):
            note = f"reenact: `reenact {cmd_name}` is now `reenact {new}`; the old name goes soon."
            click.echo(note, err=True)
        return super().get_command(ctx, new or cmd_name)


@click.group(
    cls=Reenact,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 good, 1 findings or not good, 2 error, 3 nothing could be judged, 130 "
        "stopped."
    ),
)
@click.version_option(__version__, "--version", prog_name="reenact")
def reenact() -> None:
    """Find and repair faults of PyTorch and Keras trainings, reproduce bugs and papers."""


@click.command(epilog="\b\n" + "\n".join(SHELLS.values()))
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes reenact in SHELL."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    complete = made(reenact, {}, "reenact", "_REENACT_COMPLETE")
    # Not `source()`: for bash it starts the bash of the machine to read its version.
    click.echo(complete.source_template % complete.source_vars())
