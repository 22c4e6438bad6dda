"""`python -m benchmarks.papers.reading DIR`: the same papers read from LaTeX and from a converter's
Markdown.

DIR has a folder for each paper with its LaTeX in `source/` and its Markdown in a file `*.md`. LaTeX
is what the Markdown is compared with: title, sections under the same number, equations, tables,
algorithms. Titles of references are compared with the bibliography that BibTeX wrote (`*.bbl`),
where they stand apart.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from reenact.errors import ReenactError
from reenact.intake.papers.paper import Algorithm, Equation, Paper, Table, plain
from reenact.intake.papers.read import read_paper
from reenact.sandbox.choose import choose

COLUMNS = (
    "paper",
    "title",
    "sections",
    "equations",
    "tables",
    "algorithms",
    "lost",
    "reference titles",
)


@dataclass(frozen=True)
class Reading:
    """One paper in both forms."""

    name: str
    latex: Paper | None
    """None where the LaTeX is not there or cannot be read."""
    markdown: Paper
    titles: tuple[str, ...]
    """Of the references, as BibTeX wrote them, plain."""

    @property
    def titles_right(self) -> int:
        read = {plain(one.title) for one in self.markdown.references}
        return sum(title in read for title in self.titles)

    def row(self) -> tuple[str, ...]:
        right = f"{self.titles_right} of {len(self.titles)}" if self.titles else "-"
        lost = Counter(
            one.kind for one in self.markdown.lost if one.kind not in ("figure", "citation")
        )
        missing = ", ".join(f"{count} {kind}" for kind, count in sorted(lost.items())) or "-"
        if self.latex is None:
            counts = (
                str(len(self.markdown.sections)),
                *(str(_count(self.markdown, kind)) for kind in KINDS),
            )
            return (self.name, self.markdown.title[:40], *counts, missing, right)
        same = plain(self.latex.title) == plain(self.markdown.title)
        both = [f"{_count(self.markdown, kind)} of {_count(self.latex, kind)}" for kind in KINDS]
        return (
            self.name,
            "same" if same else "other",
            self._sections(),
            *both,
            missing,
            right,
        )

    def _sections(self) -> str:
        assert self.latex is not None
        read = {(one.id, plain(one.title)) for one in self.markdown.sections}
        wanted = [(one.id, plain(one.title)) for one in self.latex.sections]
        return f"{sum(one in read for one in wanted)} of {len(wanted)}"


KINDS = (Equation, Table, Algorithm)


def _count(paper: Paper, kind: type) -> int:
    return sum(isinstance(block, kind) for block in paper.blocks())


def readings(folder: Path) -> Iterator[Reading]:
    """Every paper of the folder."""
    box = choose(trust_code=False)
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        texts = sorted(place.glob("*.md"))
        if not texts:
            continue
        source = place / "source"
        try:
            latex = read_paper(str(source), box=box) if source.is_dir() else None
        except ReenactError:
            latex = None
        yield Reading(
            place.name,
            latex,
            read_paper(str(texts[0]), box=box),
            tuple(printed_titles(source)),
        )


_ENTRY = re.compile(r"\\bibitem\b(.*?)(?=\\bibitem\b|\\end\{thebibliography\})", re.S)


def printed_titles(source: Path) -> Iterator[str]:
    """Titles in the bibliography that BibTeX wrote: what stands after the first `\\newblock`."""
    for file in sorted(source.glob("*.bbl")):
        for entry in _ENTRY.findall(file.read_text(encoding="utf-8", errors="replace")):
            blocks = entry.split("\\newblock")
            if len(blocks) > 2 and (title := _words(blocks[1])):
                yield title


def _words(latex: str) -> str:
    """The words of a title, plain."""
    text = re.sub(
        r"\\(?:emph|textit|textbf|url|href|em|it)\b|\\[`'^\"~=.cHuv](?![a-z])|\\c\b",
        "",
        latex,
    )
    return plain(re.sub(r", volume.*$", "", re.sub(r"[{}~]", " ", text).strip(), flags=re.S))


def main(folder: Path) -> None:
    found = list(readings(folder))
    rows = [COLUMNS, *(one.row() for one in found)]
    for row in rows:
        click.echo("| " + " | ".join(row) + " |")
    right, all_titles = (
        sum(one.titles_right for one in found),
        sum(len(one.titles) for one in found),
    )
    click.echo(f"\nreference titles: {right} of {all_titles} ({right / max(all_titles, 1):.1%})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
