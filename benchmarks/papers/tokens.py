"""`python -m benchmarks.papers.tokens [FILE...]`: what the questions of a recorded reproduction
consist of.

For each step, and summed: the text of the paper, cited work, code, criteria, what the roles know,
our own words, and the answers. In tokens, at four characters each; without FILE the shipped
recordings.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks.papers.cases import RECORDINGS, load_cases
from reenact.llm.ask import CHARACTERS_PER_TOKEN
from reenact.llm.recording import read_recording

KINDS = {
    "paper": ("paper", "portion"),
    "cited": ("exemplars", "cited", "text", "files", "candidates"),
    "code": ("project", "code"),
    "criteria": ("criteria", "judged", "facts", "known"),
    "state": ("state", "review", "summary", "plan", "earlier", "analysis"),
}
"""Parts of a question, by the names of the variables that they come from."""
COLUMNS = ("questions", *KINDS, "ours", "answers", "all")
_QUOTED = re.compile(r"<<<(\S+) ([0-9a-f]+)\n(.*?)\n\1 \2>>>", re.DOTALL)
_NUMBER = re.compile(r"\[\d+\]")


def by_step(records: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Characters of each kind for each step, the numbers of attempts left out; under `""` all
    together.
    """
    found: dict[str, Counter[str]] = {}
    for record in records:
        step = _NUMBER.sub("", record["step"]).removeprefix("paper/").partition("~")[0]
        counted = _counted(record)
        for name in (step, ""):
            found.setdefault(name, Counter()).update(counted)
    return found


def _counted(record: Mapping[str, Any]) -> Counter[str]:
    named = {name: kind for kind, names in KINDS.items() for name in names}
    counted = Counter(
        questions=1, answers=len(json.dumps(record.get("answer", {}).get("value", "")))
    )
    asked = 0
    for part in (record["system"], *record["parts"]):
        asked += len(part)
        for quoted in _QUOTED.finditer(part):
            if kind := named.get(quoted[1]):
                counted[kind] += len(quoted[3])
    counted["ours"] = asked - sum(counted[kind] for kind in KINDS)
    counted["all"] = asked + counted["answers"]
    return counted


def table(found: Mapping[str, Counter[str]]) -> list[str]:
    """The lines of a Markdown table, the sum last."""
    lines = [f"| step | {' | '.join(COLUMNS)} |", "|" + " --- |" * (len(COLUMNS) + 1)]
    for step in (*(name for name in found if name), ""):
        counts = [found[step][name] for name in COLUMNS]
        tokens = [
            str(counts[0]),
            *(f"{round(one / CHARACTERS_PER_TOKEN):,}" for one in counts[1:]),
        ]
        lines.append(f"| {step or 'sum'} | {' | '.join(tokens)} |")
    return lines


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(files: tuple[Path, ...]) -> None:
    """Print a table for each recording."""
    shipped = [one.folder / RECORDINGS / "whole.jsonl" for one in load_cases() if one.twin is None]
    for file in files or tuple(one for one in shipped if one.is_file()):
        click.echo(f"{file.parents[1].name}, {file.stem}\n")
        click.echo("\n".join(table(by_step(read_recording(file)))) + "\n")


if __name__ == "__main__":
    main()
