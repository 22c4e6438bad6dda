"""`reenact demo`: what reenact does, in seven acts that are executed in a terminal. No key, no network."""

from __future__ import annotations

import importlib.util
import json
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from reenact.demo import CASES
from reenact.errors import Inconclusive
from reenact.own_process import own_command, own_environment, own_module
from reenact.plain import plain
from reenact.settings import resolve
from reenact.types import ExitCode

KILLED_AT = "C9:3"
"""Where the run of act two dies: the first trial is training in its box (two boxes were before it)."""
REHEARSAL = own_module("reenact.demo.crash.run")
TRAINING = "train.py"
"""The training that is watched, diagnosed and repaired: its learning rate is far too large."""
BUG, PAPER = CASES / "bugs/abacusnet-five-classes", CASES / "papers/damped-octaves"
"""A report and a paper, with the recorded answers of a model to each."""
NO_TORCH = "-> left out: PyTorch is not installed here; pip install 'reenact[torch]'"


@click.command()
def demo() -> ExitCode:
    """Show the main job end to end on an embedded example."""
    settings = resolve().settings
    folder = (settings.runs_dir / "demo").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(CASES / TRAINING, folder / TRAINING)
    acts = (
        _sandboxed(settings.sandbox),
        _killed_and_continued(folder),
        *(_typed(act, folder) for act in _commands(folder)),
    )
    for number, act in enumerate(acts, start=1):
        click.secho(f"\n{number}. {next(act)}", bold=True)
        for line in act:
            click.echo(f"   {plain(line)}")
    click.secho(f"\nEverything above was executed just now. The report: {folder / 'report.md'}", bold=True)
    return ExitCode.OK


def _sandboxed(wanted: str) -> Iterator[str]:
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


def _killed_and_continued(folder: Path) -> Iterator[str]:
    yield "A training is repaired; the process is killed in the middle, and the same command continues"
    killed = run([*REHEARSAL, str(folder)], folder, REENACT_CRASH_AT=KILLED_AT)
    if killed.returncode != -signal.SIGKILL:
        raise Inconclusive(f"The rehearsal was not killed at {KILLED_AT}: {killed.stderr[-500:]}")
    yield f"first    killed by signal {-killed.returncode} while a trial trained in its box"
    yield from _steps(folder)
    ended = run([*REHEARSAL, str(folder)], folder)
    if ended.returncode != 0:
        raise Inconclusive(f"The rehearsal did not continue: {ended.stderr[-500:]}")
    yield f"again    {ended.stdout.strip()}"
    yield from _steps(folder)
    paid = (folder / "ledger").read_text(encoding="utf-8").splitlines()
    repeated = len(paid) - len(set(paid))
    yield f"-> {len(paid)} effects paid for, {repeated} of them twice: the one that was in flight"
    report = (folder / "report.md").read_text(encoding="utf-8")
    yield from (f"| {line}" for line in report.splitlines() if line)


def _steps(folder: Path) -> Iterator[str]:
    from reenact.journal import JournalReader

    with JournalReader.open(folder / ".reenact") as shelf:
        run = shelf.find("last")
        for step in shelf.steps(run):
            yield f"| {step.path:30} {step.kind.value:6} {step.state.value:8} {step.duration_s:6.2f} s"
        yield f"| run {run.id}: {shelf.status_of(run)}"


@dataclass(frozen=True, slots=True)
class Act:
    """Commands as a user would type them, and what of their output is shown."""

    title: str
    commands: Sequence[Sequence[str]]
    ending: ExitCode = ExitCode.OK
    after: str = ""
    typed: str = ""
    """The command as it is printed, where the real one is longer."""
    needs_torch: bool = True
    part: Callable[[list[str]], list[str]] = list
    """The lines of the output that are shown."""


def _commands(folder: Path) -> Iterator[Act]:
    yield Act(
        "A training that fails is run unmodified, and what happens inside is seen",
        (["watch", "--out", "trace", TRAINING], ["params", TRAINING]),
    )
    yield Act(
        "What is wrong with it is found, changed, and trained again over seeds",
        (["diagnose", "--depth", "normal", TRAINING],),
        ExitCode.FOUND,
        "-> the same with --output-format html is a page with curves and pictures that can be mailed",
        part=_findings,
    )
    yield Act(
        "It is repaired: the smallest change that holds on fresh seeds, as a diff",
        (["repair", "--budget", "10", TRAINING],),
        after="-> --apply writes it into the file, --branch onto a git branch",
    )
    case = json.loads((BUG / "case.json").read_text(encoding="utf-8"))
    project = ["--repo", str(BUG / "project.bundle"), "--commit", case["buggy"], "--fixed", case["fixed"]]
    yield Act(
        "A bug is shown: from a report to a script that fails with the bug and passes without it",
        (["bug", str(BUG / "report.md"), *project, "--model", f"replay:{BUG / 'recording.jsonl'}"],),
        after="-> the model's answers were recorded; every script was run just now, in the sandbox",
        typed="bug report.md --repo project.bundle --commit BUGGY --fixed FIXED --model replay:...",
        needs_torch=False,
    )
    case = tomllib.loads((PAPER / "case.toml").read_text(encoding="utf-8"))
    goal = [word for name, value in case["goal"].items() for word in (f"--{name}", value)]
    goal += ["--library", str(PAPER / "library"), "--seeds", str(case["seeds"]), "--out", "paper"]
    recording = PAPER / "recordings" / "whole.jsonl"
    yield Act(
        "A paper is reproduced: read, written as code, run, verified by its own words, and measured",
        (["paper", str(PAPER / "paper"), *goal, "--model", f"replay:{recording}"],),
        after=f"-> sentence by sentence, line by line: {folder / 'paper' / 'report.html'}",
        typed="paper paper/ --library library/ --task ... --model replay:whole.jsonl --out paper",
        part=_without_criteria,
    )


def _typed(act: Act, folder: Path) -> Iterator[str]:
    """Type the commands of an act and show what they print."""
    yield act.title
    if act.needs_torch and importlib.util.find_spec("torch") is None:
        yield NO_TORCH
        return
    for words in act.commands:
        yield f"$ reenact {act.typed or ' '.join(words)}"
        ended = run(own_command(*words), folder)
        if ended.returncode != act.ending:
            raise Inconclusive(f"reenact {words[0]} ended with {ended.returncode}: {ended.stderr[-500:]}")
        yield from (f"| {line}" for line in act.part(ended.stdout.splitlines()))
    yield from filter(None, [act.after])


def _findings(lines: list[str]) -> list[str]:
    facts = lines[: lines.index("", 2)]
    findings = next((at for at, line in enumerate(lines) if line.startswith(f"{TRAINING}:")), len(facts))
    return [*facts, "", "[curves, layers and symptoms left out]", "", *lines[findings:]]


def _without_criteria(lines: list[str]) -> list[str]:
    most = next((at for at, line in enumerate(lines) if line.startswith("Criteria")), len(lines))
    return [*lines[:most], "[criteria left out]", "", lines[-1]]


def run(argv: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command in the folder of the demo, with what it printed."""
    return subprocess.run(  # noqa: S603
        argv,
        cwd=folder,
        env=own_environment() | {"COLUMNS": "100"} | environ,
        capture_output=True,
        text=True,
        check=False,
    )
