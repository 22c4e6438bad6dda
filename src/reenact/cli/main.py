"""The list of commands; a command is imported when it is called, so that `--help` stays fast."""

import difflib
import importlib
from collections.abc import Mapping

import click

from reenact.cli.help import HELP_ALL, WHOLE, command
from reenact.errors import InputError
from reenact.version import __version__

DAILY = {
    "diagnose": ("training", "Say what is wrong with a training, where, and what would fix it."),
    "repair": ("training", "Find the smallest change that makes a training significantly better."),
    "test-hypothesis": ("hypotheses", "Test by execution what you believe is wrong."),
    "keep": ("hypotheses", "Write the check of a tested claim as a test of your project."),
    "lint": ("static", "Find faults in the text of many files; nothing is run."),
    "watch": ("watch", "Run a training unmodified and record what happens inside."),
    "view": ("serving", "Show runs in the browser; start, stop and resume them."),
    "runs": ("runs", "List, show, resume, apply, export and clean recorded runs."),
    "diff": ("runs", "Compare two runs: command, verdict, findings, metrics."),
    "explain": ("static", "Explain a code or a word that reenact prints."),
}
PAPERS = {
    "bug": ("reproducing", "Write a script that shows a reported bug, and prove it by running it."),
    "judge": ("judging", "Say whether a bug shows in this checkout; for `git bisect run`."),
    "paper": ("reproducing", "Write a paper's code, run it and compare it with its numbers."),
    "read": ("read", "Read a paper: its outline, and what was lost in reading."),
    "fingerprint": ("reproducing", "List what code must show to be a reproduction of a paper."),
    "evaluate": ("reproducing", "Score generated code: against its paper, a reference, a rubric."),
}
SETUP = {
    "init": ("init", "Set up a project: reenact.toml, pre-commit, CI."),
    "doctor": ("doctor", "Check this machine, or whether a program will run here."),
    "config": ("doctor", "Print every setting, its value and where it comes from."),
    "completion": ("main", "Print the script for completion in a shell."),
    "demo": ("demo", "Show the main jobs end to end on embedded examples."),
    "mcp": ("serving", "Serve coding agents over the Model Context Protocol, on stdio."),
}
DETAILS = {
    "params": ("static", "List the hyperparameters of a program: value, place, alternatives."),
    "graph": ("watch", "Show the layers of a model, each with the line that made it."),
    "rules": ("static", "List the faults that a training may have, and their detectors."),
    "report": ("runs", "Write runs as one html file that can be mailed."),
    "cache": ("doctor", "List prepared environments and their size; remove old ones."),
}
RESEARCH = {
    "alternatives": ("training", "Find other repairs than the known one, as a graph."),
    "mutate": ("training", "Put faults into a training on purpose; see which are noticed."),
    "relay": ("serving", "Answer a model's requests by hand: list them, file an answer."),
}
GROUPS = {
    "Trainings": DAILY,
    "Bug reports and papers": PAPERS,
    "Set up": SETUP,
    "Details": DETAILS,
    "Research": RESEARCH,
}
"""Each command with its file, in which it has the same name, and its line of help; daily ones first."""
SHORT = ("Trainings", "Bug reports and papers", "Set up")
"""What `reenact --help` lists."""
VERBS = {
    name: (
        f"reenact.cli.{file}:{name.replace('-', '_')}",
        text,
    )
    for group in GROUPS.values()
    for name, (file, text) in group.items()
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

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), HELP_ALL]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = GROUPS if ctx.meta.get(WHOLE) else SHORT
        for title in shown:
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in GROUPS[title].items()])
        left = sum(len(group) for title, group in GROUPS.items() if title not in shown)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{left} more commands: reenact --help-all")


@click.group(
    cls=Reenact,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 good, 1 findings or not good, 2 error, 3 nothing could be judged, 130 "
        "stopped."
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="reenact")
def reenact() -> None:
    """Find and repair faults of PyTorch and Keras trainings, reproduce bugs and papers."""


@command(epilog="\b\n" + "\n".join(SHELLS.values()))
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes reenact in SHELL."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    complete = made(reenact, {}, "reenact", "_REENACT_COMPLETE")
    # Not `source()`: for bash it starts the bash of the machine to read its version.
    click.echo(complete.source_template % complete.source_vars())
