"""Edits what decides verdicts, one small edit at a time, and looks whether the nearest tests notice.

    .venv/bin/python scripts/mutants.py --seed 0 [--file FILE ...] [--per-file 20] [--jobs 2]

Edits (scripts/mutant_edits.py) are drawn by the seed, without replacement. Each is made in a copy of the
tree, where the nearest tests run until the first fails: then the edit is killed. Tests that do not end kill
it too, and are listed apart. The working tree is not touched.

Results go to build/mutants-SEED.jsonl, a line an edit. Started again, the script continues: an edit of an
unchanged file is not tried twice, but one that survived is when the tests have changed since.
Exit code 0: at least 90 % killed, 1: fewer, 3: the tests fail without any edit.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from mutant_edits import Edit, edits_of
from mutant_runs import (
    Ending,
    Limits,
    Workplace,
    copies_of,
    import_heavy,
    in_turn,
    nearest_tests,
)

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "src/reenact/trials/verify.py",
    "src/reenact/trials/statistics.py",
    "src/reenact/repairs/verdict.py",
    "src/reenact/repairs/minimise.py",
    "src/reenact/faults/confidence.py",
    "src/reenact/diagnosis/grouping.py",
    "src/reenact/diagnosis/intervene.py",
    "src/reenact/bug/verdict.py",
)
MEASURES = "src/reenact/paper/measure/*.py"
NO_VERDICT = ("__init__.py", "courses.py", "curves.py", "gap_repair.py", "runs.py")
"""Files of that folder that draw, change or run a program: none of them says whether a claim
holds.
"""
NEAREST: Mapping[str, Sequence[str]] = {
    "src/reenact/trials/verify.py": (
        "tests/repairs/test_judging.py",
        "tests/repairs/test_pipeline.py",
    ),
    "src/reenact/repairs/verdict.py": (
        "tests/repairs/test_judging.py",
        "tests/repairs/test_pipeline.py",
    ),
    "src/reenact/bug/verdict.py": (
        "tests/bug/test_evidence.py",
        "tests/bug/test_pipeline.py",
    ),
    "src/reenact/paper/measure/verdict.py": (
        "tests/paper/measure/test_orderings.py",
        "tests/paper/measure/test_gap.py",
        "tests/paper/measure/test_measure.py",
    ),
}
"""Tests that reach a file by others, after its mirror and before those that import it."""
GOAL = 0.9
PER_FILE = 20
ENOUGH, TOO_FEW, NOT_POSSIBLE = 0, 1, 3


@dataclass(frozen=True)
class Mutant:
    """An edit of a file, and what became of it."""

    file: str
    text: str
    edit: Edit

    @property
    def key(self) -> str:
        what = f"{self.file}\0{self.text}\0{self.edit}"
        return hashlib.sha256(what.encode()).hexdigest()[:16]

    @property
    def edited(self) -> str:
        return self.edit.applied(self.text)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.edit.line(self.text)}"

    @property
    def difference(self) -> str:
        lines = difflib.unified_diff(
            self.text.splitlines(), self.edited.splitlines(), n=0, lineterm=""
        )
        return "\n".join(
            line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")
        )


@dataclass(frozen=True)
class Row:
    """A line of the results file."""

    key: str
    tests: str
    ending: str
    place: str
    kind: str
    difference: str
    seconds: float


class Results:
    """What earlier starts have tried; the last line of a key counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            try:
                row = Row(**json.loads(line))
            except ValueError:
                # Cut short when the script was killed.
                continue
            self.rows[row.key] = row

    def add(self, row: Row) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        self.rows[row.key] = row

    def is_settled(self, mutant: Mutant, tests: str) -> bool:
        row = self.rows.get(mutant.key)
        return row is not None and (row.ending != Ending.PASSED or row.tests == tests)


def drawn(root: Path, file: str, seed: int, count: int) -> list[Mutant]:
    text = (root / file).read_text(encoding="utf-8")
    edits = edits_of(text)
    chance = random.Random(f"{seed} {file}")  # noqa: S311 - a draw that can be repeated
    return [Mutant(file, text, edit) for edit in chance.sample(edits, min(count, len(edits)))]


def files_of(root: Path) -> list[str]:
    measures = [path for path in sorted(root.glob(MEASURES)) if path.name not in NO_VERDICT]
    return [*FILES, *(str(path.relative_to(root)) for path in measures)]


def hash_of(root: Path, tests: Sequence[str]) -> str:
    texts = b"\0".join((root / test).read_bytes() for test in tests)
    return hashlib.sha256(texts).hexdigest()[:16]


class Campaign:
    """All edits of some files, their tests, and the copies where they are tried."""

    def __init__(
        self, root: Path, mutants: Mapping[str, Sequence[Mutant]], results: Results
    ) -> None:
        self.root = root
        self.mutants = mutants
        self.results = results
        self.tests = {file: nearest_tests(root, file, NEAREST) for file in mutants}
        self.hashes = {file: hash_of(root, tests) for file, tests in self.tests.items()}
        self.seconds: dict[str, float] = {}

    def open_mutants(self, file: str) -> list[Mutant]:
        return [
            one for one in self.mutants[file] if not self.results.is_settled(one, self.hashes[file])
        ]

    def run(self, jobs: int) -> bool:
        """Try what is open; False when tests of some file fail without any edit: its edits are
        not tried.
        """
        waiting = {file: mutants for file in self.mutants if (mutants := self.open_mutants(file))}
        if not waiting:
            return True
        import_heavy()
        with copies_of(self.root, jobs) as copies:
            workplaces = [Workplace(copy, self.root) for copy in copies]
            try:
                failing = self._time(list(waiting), workplaces)
                ready = {file: waiting[file] for file in waiting if file not in failing}
                self._say_minutes(ready, jobs)
                self._try([mutant for mutants in ready.values() for mutant in mutants], workplaces)
            finally:
                for workplace in workplaces:
                    workplace.end()
        return not failing

    def _time(self, files: Sequence[str], workplaces: Sequence[Workplace]) -> set[str]:
        """The tests of each file without an edit: they have to pass, and their time is the
        measure. Returned are the files whose tests do not.
        """
        failing = {file for file in files if not self.tests[file]}
        for file in sorted(failing):
            click.echo(f"No test imports {file}; name some in NEAREST of {Path(__file__).name}.")
        limits = Limits.after(1200)
        places: dict[str, Workplace] = {}

        def note(file: str, ending: Ending, seconds: float) -> None:
            self.seconds[file] = seconds
            click.echo(f"{seconds:6.1f} s unedited  {file}: {' '.join(self.tests[file])}")
            if ending is not Ending.PASSED:
                failing.add(file)
                click.echo(places[file].output)
                click.echo(
                    f"The tests of {file} fail without any edit: {' '.join(self.tests[file])}"
                )

        def start(file: str, workplace: Workplace) -> None:
            places[file] = workplace
            workplace.start(self.tests[file], limits)

        in_turn([file for file in files if file not in failing], workplaces, start, note)
        return failing

    def _say_minutes(self, waiting: Mapping[str, Sequence[Mutant]], jobs: int) -> None:
        seconds = sum(self.seconds[file] * len(mutants) for file, mutants in waiting.items()) / jobs
        count = sum(map(len, waiting.values()))
        click.echo(
            f"{count} edits to try: at most about {seconds / 60:.1f} minutes with {jobs} jobs"
        )

    def _try(self, queue: Sequence[Mutant], workplaces: Sequence[Workplace]) -> None:
        def start(mutant: Mutant, workplace: Workplace) -> None:
            limits = Limits.after(self.seconds[mutant.file])
            workplace.start(self.tests[mutant.file], limits, (mutant.file, mutant.edited))

        in_turn(queue, workplaces, start, self._note)

    def _note(self, mutant: Mutant, ending: Ending, seconds: float) -> None:
        row = Row(
            key=mutant.key,
            tests=self.hashes[mutant.file],
            ending=ending,
            place=mutant.place,
            kind=mutant.edit.kind,
            difference=mutant.difference,
            seconds=round(seconds, 2),
        )
        self.results.add(row)
        click.echo(f"{ending:8} {seconds:6.1f} s  {mutant.place} {mutant.edit.kind}")


def table_of(campaign: Campaign) -> tuple[list[str], float]:
    """A line a file, all survivors and time-outs; and the share that was killed."""
    lines = [f"{'made':>5} {'killed':>7} {'survived':>9}  file"]
    details: list[str] = []
    total = killed = 0
    for file, mutants in campaign.mutants.items():
        rows = [campaign.results.rows[mutant.key] for mutant in mutants]
        survivors = [row for row in rows if row.ending == Ending.PASSED]
        lines.append(f"{len(rows):5} {len(rows) - len(survivors):7} {len(survivors):9}  {file}")
        total += len(rows)
        killed += len(rows) - len(survivors)
        for row in survivors:
            details.append(f"\nsurvived {row.place} ({row.kind})\n{row.difference}")
        for row in rows:
            if row.ending == Ending.TIMEOUT:
                details.append(
                    f"\nkilled by its time limit {row.place} ({row.kind})\n{row.difference}"
                )
    share = killed / total if total else 0.0
    lines.append(
        f"{total:5} {killed:7} {total - killed:9}  all: {share:.0%} killed, goal {GOAL:.0%}"
    )
    return [*details, "", *lines], share


@click.command(help=__doc__.partition("\n")[0] if __doc__ else None)
@click.option("--seed", type=int, required=True, help="Draws the edits.")
@click.option(
    "--file",
    "files",
    multiple=True,
    help="Only this file, as src/reenact/...; may be repeated.",
)
@click.option(
    "--per-file",
    type=click.IntRange(min=1),
    default=PER_FILE,
    show_default=True,
    help="Edits a file.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Copies at work at once.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT,
    hidden=True,
)
def main(seed: int, files: tuple[str, ...], per_file: int, jobs: int, root: Path) -> None:
    root = root.resolve()
    for file in files:
        if not (root / file).is_file():
            raise click.UsageError(
                f"No such file: {file}. Give its path from the root, such as {FILES[0]}."
            )
    mutants = {file: drawn(root, file, seed, per_file) for file in files or files_of(root)}
    campaign = Campaign(root, mutants, Results(root / "build" / f"mutants-{seed}.jsonl"))
    if not campaign.run(jobs):
        click.echo("Not all could be tried; the same command tries the others again.")
        sys.exit(NOT_POSSIBLE)
    lines, share = table_of(campaign)
    click.echo("\n".join(lines))
    sys.exit(ENOUGH if share >= GOAL else TOO_FEW)


if __name__ == "__main__":
    main()
