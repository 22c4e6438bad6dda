"""`reenact demo`: what reenact does, in four acts that are executed in a terminal. No key, no
network.
"""

import importlib.util
import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TypeAlias

import click

from reenact.cli.help import command
from reenact.demo import CASES
from reenact.errors import Inconclusive
from reenact.host_program import run_own_command
from reenact.journal import JournalReader
from reenact.plain import plain
from reenact.settings import resolve
from reenact.types import ExitCode

TRAINING = "train.py"
"""The training that is diagnosed and repaired: its learning rate is far too large."""
BUG, PAPER = CASES / "bugs/abacusnet-five-classes", CASES / "papers/damped-octaves"
"""A report and a paper, with the recorded answers of a model to each."""
NO_TORCH = "-> left out: PyTorch is not installed here; pip install torch"
REPORT = "report.html"
RUNS = ".reenact"
DETAILS = "Decided where the paper is silent"
"""Heading of the report of a paper after which the terminal is spared the rest."""
Ended: TypeAlias = "subprocess.CompletedProcess[str]"


@dataclass(frozen=True, slots=True)
class Act:
    """A command as a user would type it, and what of its output is shown."""

    title: str
    words: Sequence[str]
    ending: ExitCode = ExitCode.OK
    after: str = ""
    typed: str = ""
    """The command as it is printed, where the real one is longer."""
    needs_torch: bool = True
    part: Callable[[list[str]], list[str]] = list
    """The lines of the output that are shown."""


@command()
def demo() -> ExitCode:
    """Show the main jobs end to end on embedded examples, in a few minutes."""
    folder = (resolve().settings.runs_dir / "demo").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(CASES / TRAINING, folder / TRAINING)
    acts = list(_acts())
    has_torch = importlib.util.find_spec("torch") is not None
    played = [act for act in acts if has_torch or not act.needs_torch]
    # The last act takes as long as all others and one core: it begins first.
    with ThreadPoolExecutor(1) as beside:
        last = None
        if acts[-1] in played:
            last = beside.submit(
                run,
                acts[-1].words,
                folder,
            )
        for number, act in enumerate(acts, start=1):
            click.secho(
                f"\n{number}. {act.title}",
                bold=True,
            )
            early = None
            if act is acts[-1]:
                early = last
            for line in _played(act, folder, early) if act in played else [NO_TORCH]:
                click.echo(f"   {plain(line)}")
    with JournalReader.open(folder / RUNS) as shelf:
        ids = [
            shelf.runs(
                pipeline=act.words[0],
                limit=1,
            )[0].id
            for act in played
        ]
    run(("report", *ids, "--html", REPORT), folder)
    click.secho("\nEverything above was executed just now.", bold=True)
    click.echo(f"One report of the whole:    {folder / REPORT}")
    click.echo(f"The same in your browser:   reenact view --open --runs {folder / RUNS}")
    click.echo("With a training of yours:   reenact diagnose train.py")
    return ExitCode.OK


def _acts() -> Iterator[Act]:
    yield Act(
        (
            "A training fails: it is run once, unmodified, and what is wrong is named with its "
            "line and its fix"
        ),
        ("diagnose", TRAINING),
        ExitCode.FOUND,
        part=_findings,
    )
    yield Act(
        "It is repaired: the smallest change that holds on fresh seeds, as a diff",
        ("repair", "--budget", "6t", "--seeds", "6", TRAINING),
        after="-> `reenact runs apply last` writes it into the file, --branch onto a git branch",
    )
    case = json.loads((BUG / "case.json").read_text(encoding="utf-8"))
    project = (
        "--repo",
        str(BUG / "project.bundle"),
        "--commit",
        case["buggy"],
        "--fixed",
        case["fixed"],
    )
    yield Act(
        "A bug is shown: from a report to a script that fails with the bug and passes without it",
        (
            "bug",
            str(BUG / "report.md"),
            *project,
            "--model",
            f"replay:{BUG / 'recording.jsonl'}",
        ),
        after="-> the model's answers were recorded; every script was run just now, in the sandbox",
        typed="bug report.md --repo project.bundle --commit BUGGY --fixed FIXED --model replay:...",
        needs_torch=False,
    )
    case = tomllib.loads((PAPER / "case.toml").read_text(encoding="utf-8"))
    goal = [word for name, value in case["goal"].items() for word in (f"--{name}", value)]
    goal += [
        "--library",
        str(PAPER / "library"),
        "--seeds",
        str(case["seeds"]),
        "--out",
        "paper",
    ]
    recording = PAPER / "recordings" / "whole.jsonl"
    yield Act(
        (
            "A paper is reproduced: read, written as code, run, verified by its own words, and "
            "measured"
        ),
        (
            "paper",
            str(PAPER / "paper"),
            *goal,
            "--model",
            f"replay:{recording}",
        ),
        typed="paper paper/ --library library/ --task ... --model replay:whole.jsonl --out paper",
        part=_claims,
    )


def _played(
    act: Act,
    folder: Path,
    early: Future[Ended] | None,
) -> Iterator[str]:
    """Type the command of an act, unless it was begun early, and show what it prints."""
    yield f"$ reenact {act.typed or ' '.join(act.words)}"
    ended = early.result() if early is not None else run(act.words, folder)
    if ended.returncode != act.ending:
        raise Inconclusive(
            f"reenact {act.words[0]} ended with {ended.returncode}: {ended.stderr[-500:]}"
        )
    yield from (f"| {line}" for line in act.part(ended.stdout.splitlines()))
    yield from filter(None, [act.after])


def _findings(lines: list[str]) -> list[str]:
    """The findings and the verdict; the facts of the run are in the report."""
    first = next(
        (at for at, line in enumerate(lines) if line.startswith(f"{TRAINING}:")),
        0,
    )
    return [
        *takewhile(bool, lines[first:]),
        "",
        lines[-1],
    ]


def _claims(lines: list[str]) -> list[str]:
    """The verdict and what was measured; decisions, criteria and lineage are in the report."""
    end = lines.index(DETAILS) if DETAILS in lines else len(lines)
    return [
        *lines[:end],
        "[decisions, criteria and lineage left out]",
        "",
        lines[-1],
    ]


def run(words: Sequence[str], folder: Path) -> Ended:
    """A command in the folder of the demo, with what it printed."""
    variables = {
        "COLUMNS": "100",
        "REENACT_RUNS_DIR": str(folder / RUNS),
    }
    return run_own_command(words, folder=folder, variables=variables)
