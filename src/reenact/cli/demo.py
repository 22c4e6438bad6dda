"""`reenact demo`: what the house can do today, told as a short story in a terminal. No key, no network."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel

from reenact.cli.demo_stories import diagnosed, repaired, reproduced, run, shown, watched
from reenact.demo import CASES
from reenact.errors import Inconclusive
from reenact.own_process import own_module
from reenact.plain import plain
from reenact.settings import resolve
from reenact.types import ExitCode

KILLED_AT = "C9:3"
"""Where the story of act three dies: the first trial is training in its box (two boxes were before it)."""
REHEARSAL = own_module("reenact.demo.crash.run")


@click.command()
def demo() -> ExitCode:
    """Show the main job end to end on an embedded example."""
    settings = resolve().settings
    folder = (settings.runs_dir / "demo").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    acts = (
        _stranger(settings.sandbox),
        _conversation(),
        _killed_and_continued(folder),
        watched(folder),
        diagnosed(folder),
        repaired(folder),
        shown(folder),
        reproduced(folder),
    )
    for number, act in enumerate(acts, start=1):
        for line_number, line in enumerate(act):
            click.secho(f"\n{number}. {line}", bold=True) if line_number == 0 else click.echo(
                f"   {plain(line)}"
            )
    click.secho(f"\nEverything above was executed just now. The report: {folder / 'report.md'}", bold=True)
    return ExitCode.OK


def _stranger(wanted: str) -> Iterator[str]:
    from reenact.sandbox.box import Command, Limits
    from reenact.sandbox.choose import choose, notice

    yield "A program from elsewhere runs in the sandbox"
    sandbox = choose(None if wanted == "auto" else wanted)
    program = (CASES / "stranger.py").read_bytes()
    result = sandbox.run(
        Command(("python3", "stranger.py"), files={"stranger.py": program}), Limits(wall_s=20)
    )
    yield from filter(None, [notice(sandbox)])
    yield from (f"| {line}" for line in result.output.splitlines())
    yield (
        f"-> ending {result.ending}, tier {result.tier}, {result.wall_s:.2f} s,"
        f" {result.peak_memory_bytes / 1024**2:.0f} MiB at most"
    )
    yield from (f"-> noticed {event.kind}: {event.detail}" for event in result.events)


class Opinion(BaseModel):
    """What the model of act two is asked for."""

    learning_rate: float
    why: str


def _conversation() -> Iterator[str]:
    from reenact.llm.ask import Prompt, Request, Text
    from reenact.llm.scripted import Scripted

    yield "A model is asked a typed question; its first answer is of no use"
    question = "The loss went 2.31, 2.30, 2.30, 2.30 with SGD at learning rate 1e-6. Which rate next?"
    bad = "Sure! I would try something bigger :)"
    good = Opinion(learning_rate=0.01, why="Four steps without a change: the rate is far too small.")
    model = Scripted([bad, good])
    request = Request(
        "demo/opinion", Prompt("demo/opinion", 1, "You tune trainings.", (Text(question),)), Opinion
    )
    answer = model.ask(request)
    yield f"asked    {question}"
    yield f"said     {bad}"
    yield "back     it was told what does not fit the asked-for type, and asked again"
    yield f"said     {answer.value!r}"
    yield f"-> typed after {answer.attempts} attempts, {answer.usage.tokens} tokens, by a scripted model"


def _killed_and_continued(folder: Path) -> Iterator[str]:
    yield "A training is repaired; the process is killed in the middle, and the same command continues"
    killed = _rehearse(folder, REENACT_CRASH_AT=KILLED_AT)
    if killed.returncode != -signal.SIGKILL:
        raise Inconclusive(f"The rehearsal was not killed at {KILLED_AT}: {killed.stderr[-500:]}")
    yield f"first    killed by signal {-killed.returncode} while a trial trained in its box"
    yield from _steps(folder)
    ended = _rehearse(folder)
    if ended.returncode != 0:
        raise Inconclusive(f"The rehearsal did not continue: {ended.stderr[-500:]}")
    yield f"again    {ended.stdout.strip()}"
    yield from _steps(folder)
    paid = (folder / "ledger").read_text(encoding="utf-8").splitlines()
    repeated = len(paid) - len(set(paid))
    yield f"-> {len(paid)} effects paid for, {repeated} of them twice: the one that was in flight"
    yield from (
        f"| {line}" for line in (folder / "report.md").read_text(encoding="utf-8").splitlines() if line
    )


def _rehearse(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return run([*REHEARSAL, str(folder)], folder, **environ)


def _steps(folder: Path) -> Iterator[str]:
    from reenact.journal import JournalReader

    with JournalReader.open(folder / ".reenact") as shelf:
        run = shelf.find("last")
        for step in shelf.steps(run):
            yield f"| {step.path:30} {step.kind.value:6} {step.state.value:8} {step.duration_s:6.2f} s"
        yield f"| run {run.id}: {shelf.status_of(run)}"
