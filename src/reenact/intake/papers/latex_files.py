r"""The files of a LaTeX paper as one text: the main file found, `\input` and `\include` put in
their places.

Covered: names that lead outside the folder (absolute, `..`, links), files that include one another,
so many files, so deep, so many bytes. Nothing is executed: TeX never runs.
"""

import os
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import InputError, UnreadablePaper
from reenact.intake.papers.latex_macros import Made, rewritten
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.source import MOST_TEXT, text_of
from reenact.sandbox.files.collect import collect, inner_name

DEEPEST = 12
"""Levels of files that include files."""
MOST_INCLUDED = 400
MOST_FILES = 20_000
"""Files of the folder that are looked at by name."""
USUAL = (
    "main.tex",
    "paper.tex",
    "ms.tex",
    "article.tex",
    "manuscript.tex",
    "root.tex",
    "arxiv.tex",
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*?(?:(?=\n[ \t]*\n)|\n[ \t]*|\Z)")
"""An empty line after a comment ends the paragraph, as it does for TeX."""
_LISTING = re.compile(r"^[^%\n]{0,200}\\begin\{(verbatim\*?|Verbatim|lstlisting|minted)\}", re.M)
_OPENED = re.compile(r"\\begin\s*\{comment\}|\\iffalse\b")
_CLOSED = re.compile(r"\\end\s*\{comment\}|\\fi\b")
DOCUMENT = re.compile(r"\\begin\s*\{document\}")
_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[[^\]]{0,300}\])?\s*\{\s*([^{}]*?)\s*\}")
_INPUT = re.compile(
    r"\\(?P<how>input|include|subfile|InputIfFileExists)(?![A-Za-z])\s*(?:\{\s*(?P<name>[^{}]*?)\s*\}|(?P<bare>[^\s{}\\%]+))"
    r"|\\(?:sub)?import\*?\s*\{(?P<folder>[^{}]*)\}\s*\{(?P<file>[^{}]*)\}"
)
DOCUMENT_END = re.compile(r"\\end\s*\{document\}")


def without_comments(text: str) -> str:
    """The text that TeX would read; listings keep their percent signs."""
    parts: list[str] = []
    at = 0
    while begin := _LISTING.search(text, at):
        end = text.find(
            f"\\end{{{begin[1]}}}",
            begin.end(),
        )
        if end < 0:
            break
        parts += [
            _COMMENT.sub(r"\1", text[at : begin.start()]),
            text[begin.start() : end],
        ]
        at = end
    shown = "".join(
        (
            *parts,
            _COMMENT.sub(r"\1", text[at:]),
        )
    )

    def made(opened: re.Match[str]) -> Made:
        closed = _CLOSED.search(shown, opened.end())
        return (" ", closed.end()) if closed else None

    return rewritten(shown, _OPENED, made)


@dataclass
class Files:
    """The files of one paper, read within bounds, each once."""

    folder: Path
    lost: list[Lost] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """What was read, by name."""
    _left: int = MOST_TEXT

    def text(self, name: str) -> str | None:
        """The text of a file inside the folder; none when it is not there or may not be read."""
        if name in self.texts:
            return self.texts[name]
        why = ""
        try:
            inner_name(name)
            found = collect(self.folder, [name], self._left)
            why = found.refused.get(name, "")
            if name in found.results:
                self.texts[name] = text_of(found.results[name], name)
                self._left -= len(found.results[name])
        except InputError as error:
            outside = not isinstance(error, UnreadablePaper)
            why = "its name leads outside the paper's folder" if outside else "it is not text"
        if why:
            self.lost.append(
                Lost(
                    "file",
                    f"The file {name[:200]} was not read: {why}.",
                    name[:200],
                )
            )
        return self.texts.get(name)

    def first(self, names: Iterable[str]) -> tuple[str, str] | None:
        """The first of these that can be read, with its name."""
        for name in names:
            if (text := self.text(name)) is not None:
                return (name, text)
        return None

    def names(self, *endings: str) -> list[str]:
        """Files of the folder with such an ending, in a steady order; links are not followed."""
        found: list[str] = []
        seen = 0
        for inner, folders, files in os.walk(self.folder):
            folders.sort()
            place = Path(inner).relative_to(self.folder).as_posix()
            wanted = (file for file in sorted(files) if file.endswith(endings))
            for file in wanted:
                found.append(posixpath.normpath(f"{place}/{file}"))
            seen += len(files)
            if seen > MOST_FILES:
                why = f"The folder has more than {MOST_FILES} files. Received: {self.folder}"
                raise UnreadablePaper(why, next_step="Name the folder of the paper alone.")
        return found


def find_main(files: Files, source: str) -> str:
    """The file that is the paper. UnreadablePaper when there is none."""
    found: dict[str, str] = {}
    for name in files.names(".tex", ".ltx"):
        text = without_comments(files.text(name) or "")
        document = _CLASS.search(text)
        if document and DOCUMENT.search(text) and document[1] not in ("standalone", "subfiles"):
            found[name] = text
    if not found:
        why = (
            "There is no LaTeX document here: no .tex file has both \\documentclass and "
            "\\begin{document}."
        )
        instead = "Name the folder that holds the main file, or the file itself."
        raise UnreadablePaper(f"{why} Received: {source}", next_step=instead)

    def rank(name: str) -> tuple[bool, bool, int, int]:
        abstract = re.search(r"\\begin\{abstract\}|\\abstract", found[name]) is not None
        return abstract, name.lower() in USUAL, -name.count("/"), len(found[name])

    best = max(found, key=rank)
    if len(found) > 1:
        others = ", ".join(name for name in found if name != best)
        files.lost.append(
            Lost(
                "file",
                f"{best} was taken for the paper; {others} could be one too.",
                best,
            )
        )
    return best


def flatten(files: Files, main: str) -> str:
    """The main file with every file that it includes in its place, comments taken out."""
    sizes: list[int] = []

    def text_of_file(name: str, above: tuple[str, ...]) -> str:
        text = without_comments(files.text(name) or "")
        sizes.append(len(text))
        if sum(sizes) > MOST_TEXT:
            why = f"The paper with all files that it includes has more than {MOST_TEXT} bytes."
            raise UnreadablePaper(why)
        ended = DOCUMENT_END.search(text)
        if ended and not above:
            text = text[: ended.end()]
        return _INPUT.sub(
            lambda found: included(found, (*above, name)),
            text,
        )

    def included(
        found: re.Match[str],
        above: tuple[str, ...],
    ) -> str:
        inner = (
            found["name"]
            or found["bare"]
            or posixpath.join(
                found["folder"] or "",
                found["file"] or "",
            )
        )
        inner = inner.strip().strip('"')
        if not inner or "#" in inner:
            return found[0]
        if len(above) > DEEPEST or len(sizes) > MOST_INCLUDED:
            raise UnreadablePaper(
                f"Files include one another without end: {' -> '.join(above[-4:])}."
            )
        folders = dict.fromkeys(
            map(
                posixpath.dirname,
                (main, above[-1]),
            )
        )
        paths = [posixpath.normpath(posixpath.join(folder, inner)) for folder in folders]
        endings = (
            ("", ".tex") if inner.endswith((".tex", ".ltx", ".tikz", ".bbl")) else (".tex", "")
        )
        candidates = [f"{path}{ending}" for path in paths for ending in endings]
        got = files.first([inner] if posixpath.isabs(inner) else candidates)
        if got is None:
            sizes.append(0)
            files.lost.append(
                Lost(
                    "file",
                    f"{inner[:200]} is included, and it is not there.",
                    above[-1],
                )
            )
            return " "
        if got[0] in above:
            why = f"Files include one another in a circle: {' -> '.join((*above[-3:], got[0]))}."
            raise UnreadablePaper(why)
        joined = "\n\n" if found["how"] == "include" else "\n"
        return f"{joined}{text_of_file(got[0], above)}{joined}"

    return text_of_file(main, ())
