"""`python -m benchmarks pages`: what stands between markers in docs/benchmarks and README, from
results.

A block begins with `<!-- results: NAME -->` and ends with `<!-- end -->`. NAME is a results file,
`evidence` (the table of README), `index` (the table of docs/benchmarks/README.md) or `pooled`
(figures over several results files, by benchmarks/pooled.py). A results file that no page shows
gets a page of its own. What others published is `published.json`, with its sources.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from benchmarks.children import ROOT
from benchmarks.command import BENCHES, document_of
from benchmarks.identity import code_identity
from benchmarks.pooled import Pooled, pooled, table_rows
from benchmarks.results import (
    FOLDER,
    UNKNOWN,
    Result,
    commit,
    read_result,
    write_result,
)
from reenact.errors import InputError
from reenact.report.render import render
from reenact.types import ExitCode

BLOCK = re.compile(r"<!-- results: (?P<name>[\w.-]+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
EVIDENCE, INDEX, POOLED, PUBLISHED = "evidence", "index", "pooled", "published"
SENTENCES = Path(__file__).with_name("evidence.toml")
NUMBER = re.compile(r"\d\.\d|\d\s*%")
"""What README's section on evidence holds between markers only."""


@dataclass(frozen=True)
class Site:
    """README and the pages of the benchmarks, in a folder like this checkout."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "docs" / "benchmarks"

    @cached_property
    def results(self) -> dict[str, Result]:
        """By name; what others published is none of them."""
        files = sorted((self.folder / FOLDER).glob("*.json"))
        return {file.stem: read_result(file) for file in files if file.stem != PUBLISHED}

    @cached_property
    def pools(self) -> dict[str, Pooled]:
        """Figures over several results, by name."""
        return pooled(self.results, _sentences())

    @cached_property
    def published(self) -> dict[str, Any]:
        """By topic: a source and tools with their figures."""
        found: dict[str, Any] = json.loads(
            (self.folder / FOLDER / f"{PUBLISHED}.json").read_bytes()
        )
        return found

    @cached_property
    def texts(self) -> dict[Path, str]:
        """Every page that may hold blocks, as it stands."""
        files = [self.root / "README.md", *sorted(self.folder.glob("*.md"))]
        return {file: file.read_text(encoding="utf-8") for file in files}

    @cached_property
    def shown_on(self) -> dict[str, str]:
        """Results to the page of docs/benchmarks that shows them: their own where none does."""
        shown = {
            block["name"]: file.name
            for file, text in self.texts.items()
            if file.parent == self.folder
            for block in BLOCK.finditer(text)
        }
        own = {name: shown.get(name, f"{name}.md") for name in self.results}
        return own | dict.fromkeys(self.pools, f"{POOLED}.md")

    def wanted(self) -> dict[Path, str]:
        """Every page as the results files have it, those that do not exist yet included."""
        pages = {file: BLOCK.sub(self._block, text) for file, text in self.texts.items()}
        for name, result in self.results.items():
            file = self.folder / self.shown_on[name]
            if file not in pages:
                pages[file] = BLOCK.sub(self._block, _begun(result))
        return pages

    def differing(self) -> list[str]:
        """Sentences about what is not as the results files have it."""
        wrong = [
            f"{file.relative_to(self.root)} differs from the results files."
            for file, text in self.wanted().items()
            if self.texts.get(file) != text
        ]
        evidence = (
            self.texts[self.root / "README.md"]
            .partition("\n## Evidence\n")[2]
            .partition("\n## ")[0]
        )
        loose = NUMBER.findall(BLOCK.sub("", evidence))
        if loose:
            wrong.append(
                f"README.md has figures outside markers in its evidence: {', '.join(loose)}."
            )
        for file, text in self.texts.items():
            if file.parent == self.folder and "\n|" in BLOCK.sub("", text):
                wrong.append(f"{file.name} has a table outside markers.")
        return wrong

    def _block(self, found: re.Match[str]) -> str:
        name = found["name"]
        special: dict[str, Callable[[], str]] = {
            EVIDENCE: self._evidence,
            INDEX: self._index,
            POOLED: self._pooled,
        }
        if name not in special and name not in self.results:
            raise InputError(
                f"A page asks for results that are not there. Received: {name}.",
                next_step=(
                    f"Measure it, and give its file to `python -m benchmarks "
                    f"{Path(__file__).stem}`."
                ),
            )
        text = special[name]() if name in special else block_of(self.results[name])
        return f"<!-- results: {name} -->\n{text.strip()}\n<!-- end -->"

    def _evidence(self) -> str:
        rows = [_evidence_row(row, self) for row in _sentences()["row"]]
        return _table(("measured", "theirs, as published", "ours [95 % interval]"), rows)

    def _pooled(self) -> str:
        columns = ("what", "figure", "count", "value", "95 % interval (Wilson)", "from")
        return _table(columns, table_rows(self.pools.values(), lambda name: self.shown_on[name]))

    def _index(self) -> str:
        about = _sentences()["about"]
        order = [*(name for name in about if name in self.results), *self.results]
        rows = [
            (
                about.get(name) or BENCHES[result.command.split()[3]][1],
                f"[{name}]({self.shown_on[name]})",
                f"`{result.command}`",
                result.met,
            )
            for name, result in ((name, self.results[name]) for name in dict.fromkeys(order))
        ]
        return _table(("what", "page", "command", "goals met"), rows)


def block_of(result: Result) -> str:
    """The closing line, where it is from, figures, tables, goals and drawings."""
    _, verdict, rest = render(document_of(result), "markdown").split("\n\n", 2)
    drawings = [f"![{title}]({file})\n\n{title}" for file, title in result.drawings.items()]
    return "\n\n".join([verdict, _origin(result), rest.strip(), *drawings])


def _origin(result: Result) -> str:
    known = [
        f"`{result.command}`",
        f"depth {result.depth}" if result.depth else "",
        f"on {result.day}" if result.day != UNKNOWN else "",
        f"commit {result.commit}",
        f"cases {result.cases[:12]}",
        f"machine: {result.machine}",
    ]
    taken = f" Taken from {result.taken_from}." if result.taken_from else ""
    return f"Measured by {'; '.join(filter(None, known))}.{taken}"


def _begun(result: Result) -> str:
    return f"# Benchmark {result.name}\n\n<!-- results: {result.name} -->\n<!-- end -->\n"


def _evidence_row(row: Mapping[str, Any], site: Site) -> tuple[str, str, str]:
    """The first results that exist of those the row names, in its sentences."""
    measured = site.results.keys() | site.pools.keys()
    name = next((name for name in row["results"] if name in measured), None)
    if name is None:
        return (
            str(row["measured"]).format(page="docs/benchmarks/README.md"),
            "",
            "not measured yet",
        )
    theirs = site.published[row["published"]]["tools"] if "published" in row else {}
    more = [one for one in row.get("more", ()) if one["results"] in measured]
    return (
        _filled(row["measured"], name, site),
        "; ".join(
            str(row["theirs"]).format(tool=tool, **figures) for tool, figures in theirs.items()
        ),
        _filled(row["ours"], name, site)
        + "".join(_filled(one["ours"], one["results"], site) for one in more),
    )


def _filled(sentence: str, name: str, site: Site) -> str:
    """With the figures of these results."""
    page = f"docs/benchmarks/{site.shown_on[name]}"
    if name in site.pools:
        known: dict[str, object] = dict(site.pools[name].figures)
    else:
        result = site.results[name]
        known = {**result.figures, "goals": result.met}
    try:
        return sentence.format_map({**known, "page": page})
    except KeyError as error:
        raise InputError(
            f"A sentence of {SENTENCES.name} asks {name} for {error}, which it lacks."
        ) from error


def _sentences() -> dict[str, Any]:
    return tomllib.loads(SENTENCES.read_text(encoding="utf-8"))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def take_in(files: Sequence[Path], folder: Path) -> Iterator[str]:
    """Copy results files from elsewhere, with their drawings; the commit where the source is
    the same.
    """
    for file in files:
        result = read_result(file)
        if result.commit == UNKNOWN and result.code == code_identity():
            result = replace(result, commit=commit())
        write_result(result, folder / FOLDER)
        for drawing in result.drawings:
            source = file.parents[1] / drawing
            if source.is_file():
                shutil.copyfile(source, folder / drawing)
        yield result.name


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit 1 when a page differs from its results.",
)
def pages(files: tuple[Path, ...], check: bool) -> ExitCode:
    """Write the tables of docs/benchmarks and README from docs/benchmarks/results.

    FILES are results of a benchmark, OUT/results/NAME.json: they are taken in first.
    """
    if files and check:
        raise InputError("--check writes nothing, so it takes in no files.")
    folder = Site(ROOT).folder
    taken = list(take_in(files, folder))
    site = Site(ROOT)
    if check:
        wrong = site.differing()
        for sentence in wrong:
            click.echo(sentence)
        click.echo(
            f"pages: {len(wrong)} of {len(site.texts)} wrong; write them: python -m benchmarks "
            f"pages"
        )
        return ExitCode.FOUND if wrong else ExitCode.OK
    changed = [(file, text) for file, text in site.wanted().items() if site.texts.get(file) != text]
    for file, text in changed:
        file.write_text(text, encoding="utf-8")
        click.echo(f"wrote {file.relative_to(ROOT)}")
    click.echo(
        f"pages: {len(taken)} results taken in, {len(changed)} of {len(site.texts)} pages written"
    )
    return ExitCode.OK
